"""A UCI engine that misbehaves as it is told: a real program for tests of real processes.

    python -I -S uci_engine.py MODE [MOVES]

MODE is the name of a class below; `Engine` is the one that does everything right. The moves,
divided by commas, are its answers, the last of them for ever. From its environment it takes

    UCI_LOG     a file to which it appends its number and everything that it is told
    UCI_ONCE    a file: the process that creates it misbehaves, every later one is an `Engine`,
                and plays the last of the moves
"""

from __future__ import annotations

import os
import sys
import time

FOREVER = 3600
#: What `Moody` does when it is asked for a depth, and the move that it answers with if it does.
MOODS = {
    1: ("Engine", "e2e4"),
    2: ("UntilStop", "d2d4"),
    3: ("DiesThinking", ""),
    4: ("IgnoresStop", ""),
    5: ("DiesAfterAnswer", "c2c4"),
    6: ("KilledThinking", ""),
    7: ("Engine", "a1a1"),
}
OPTIONS = """\
option name Hash type spin default 16 min 1 max 1024
option name Threads type spin default 1 min 1 max 8
option name Skill Level type spin default 20 min 0 max 20
option name OwnBook type check default true
option name UCI_Chess960 type check default false
option name Style type combo default Normal var Solid var Normal var Risky
option name Clear Hash type button
option name Book File type string default <empty>
"""


def say(text: str) -> None:
    tell(1, f"{text}\n".encode())


def tell(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


class Engine:
    """Does what it is told, as the protocol has it."""

    def __init__(self, moves: list[str]) -> None:
        self.moves = moves
        self.unread = b""
        self.line = ""
        log = os.environ.get("UCI_LOG")
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if log else None

    def run(self) -> None:
        self.note("started")
        self.start()
        while (line := self.listen()) is not None:
            word = line.partition(" ")[0]
            if word in ("uci", "isready", "go", "quit"):
                getattr(self, word)()

    def listen(self) -> str | None:
        """Return the next line; None when there will be no more."""
        while b"\n" not in self.unread:
            data = os.read(0, 65536)
            if not data:
                return None
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        self.line = line.decode()
        self.note(self.line)
        return self.line

    def note(self, line: str) -> None:
        if self.log is not None:
            tell(self.log, f"{os.getpid()} {line}\n".encode())

    def is_stopped(self, wait: float | None = None) -> bool:
        """Whether the next line, if it comes in time, ends the search."""
        import select

        if b"\n" not in self.unread and not select.select([0], [], [], wait)[0]:
            return False
        line = self.listen()
        if line in ("quit", None):
            self.quit()
        return line == "stop"

    def await_stop(self) -> None:
        while not self.is_stopped():
            pass

    def start(self) -> None:
        pass

    def uci(self) -> None:
        say(f"id name Crash Test 1.0\nid author Nobody\n{OPTIONS}uciok")

    def isready(self) -> None:
        say("readyok")

    def go(self) -> None:
        self.think()
        self.answer()

    def think(self) -> None:
        say("info depth 1 score cp 13 nodes 20 pv e2e4")

    def answer(self) -> None:
        move = self.moves.pop(0) if len(self.moves) > 1 else self.moves[0]
        say(f"bestmove {move} ponder e7e5")

    def quit(self) -> None:
        sys.exit()


# --- at the start ---


class DiesAtStart(Engine):
    def start(self) -> None:
        tell(2, b"loading\ncannot find the network\n")
        os._exit(3)


class DiesWhenGreeted(Engine):
    def uci(self) -> None:
        say("id name Half")
        os._exit(4)


class Silent(Engine):
    """Reads everything, and says nothing."""

    def uci(self) -> None:
        pass


class Deaf(Engine):
    """Does not even read."""

    def start(self) -> None:
        time.sleep(FOREVER)


class Babbles(Engine):
    """Prints lines of no meaning, for ever."""

    def uci(self) -> None:
        while True:
            say("hello\n" * 100)


class LineWithoutEnd(Engine):
    def uci(self) -> None:
        while True:
            tell(1, b"x" * 65536)


class BlankLines(Engine):
    """Prints empty lines for ever, which is no crime, but no answer either."""

    def uci(self) -> None:
        while True:
            say("\n" * 100)


class TellsEnvironment(Engine):
    """Notes what it finds in its environment."""

    def start(self) -> None:
        for name, value in os.environ.items():
            self.note(f"{name}={value}")


class Bytes(Engine):
    """Greets in no encoding at all, and is a good engine otherwise."""

    def uci(self) -> None:
        tell(1, b"\xff\xfe\x00\x80 \xc3\x28\n\x00\x00\n\x1b[31mred\x1b[0m\r\n\n")
        tell(1, b"id name \xc9tienne\nid author \x00\xff\n")
        say("uciok")


class Trickles(Engine):
    """Prints one byte at a time."""

    def uci(self) -> None:
        for byte in b"id name Drop by drop\r\nuciok\r\n":
            tell(1, bytes([byte]))


class ManyOptions(Engine):
    """Declares thousands of options."""

    def uci(self) -> None:
        for number in range(5000):
            say(f"option name Option {number} type spin default 0 min 0 max {number}")
        super().uci()


class LoudErrors(Engine):
    """Writes megabytes to standard error."""

    def start(self) -> None:
        for _ in range(64):
            tell(2, b"warning: nothing is wrong\n" * 2000)


class LoudLineOfErrors(Engine):
    """Writes megabytes to standard error in one line, and dies of it."""

    def start(self) -> None:
        for _ in range(64):
            tell(2, b"e" * 65536)
        os._exit(5)


class ClosesOutput(Engine):
    """Has nothing more to say, but lives on."""

    def uci(self) -> None:
        os.close(1)
        time.sleep(FOREVER)


class ClosesInput(Engine):
    """Hears nothing more, but lives on."""

    def uci(self) -> None:
        super().uci()
        os.close(0)
        time.sleep(FOREVER)


class LateAtStart(Engine):
    """Takes a while to start, as with a large network."""

    def uci(self) -> None:
        time.sleep(0.5)
        super().uci()


# --- getting ready ---


class NeverReady(Engine):
    def isready(self) -> None:
        pass


class LateReady(Engine):
    """Takes a while to get ready, as for a new game with a large memory."""

    def isready(self) -> None:
        time.sleep(0.3)
        super().isready()


class DiesGettingReady(Engine):
    def isready(self) -> None:
        os._exit(6)


# --- thinking ---


class DiesThinking(Engine):
    def think(self) -> None:
        super().think()
        tell(2, b"assertion failed\n")
        os._exit(7)


class KilledThinking(Engine):
    def think(self) -> None:
        super().think()
        os.kill(os.getpid(), 9)


class BabblesThinking(Engine):
    def think(self) -> None:
        super().think()
        while True:
            say("thinking hard\n" * 100)


class ClosesOutputThinking(Engine):
    def think(self) -> None:
        super().think()
        os.close(1)
        time.sleep(FOREVER)


class IgnoresStop(Engine):
    """Thinks for ever, and hears nothing meanwhile."""

    def think(self) -> None:
        super().think()
        time.sleep(FOREVER)


class FloodsIgnoringStop(Engine):
    """Thinks for ever, and prints what it thinks as fast as it can."""

    def think(self) -> None:
        nodes = 0
        while True:
            nodes += 1
            say(f"info depth 1 score cp 5 nodes {nodes} pv e2e4\n" * 100)


class UntilStop(Engine):
    """Knows no limit, and thinks silently until it is stopped."""

    def think(self) -> None:
        super().think()
        self.await_stop()


class LateAfterStop(Engine):
    """Takes a while to stop, and goes on saying what it thinks."""

    def think(self) -> None:
        super().think()
        self.await_stop()
        super().think()
        time.sleep(0.3)


class TooLateAfterStop(Engine):
    """Would stop at last, if it were given that long."""

    def think(self) -> None:
        super().think()
        self.await_stop()
        time.sleep(20)


class CountsNodes(Engine):
    """Ignores `go nodes`, and says how many there are until it is stopped."""

    info = "depth 3 score cp 5 nodes {} pv e2e4"

    def think(self) -> None:
        nodes = 0
        while not self.is_stopped(0.002):
            nodes += 5_000
            say("info " + self.info.format(nodes))


class CountsNodesOnly(CountsNodes):
    """The same, with nothing else in the line."""

    info = "nodes {} nps 1000000"


class Chatters(Engine):
    """Has a lot to say on every move, none of it in the protocol."""

    def think(self) -> None:
        say("what a fine move\n" * 400)


class Says(Engine):
    """Says what it is given after its move, lines divided by bars."""

    def think(self) -> None:
        say(self.moves.pop().replace("|", "\n"))


class Remarks(Engine):
    """Says numbers that mean nothing."""

    def think(self) -> None:
        say("info string score of the last game: depth 99 nodes 99999999 pv none")


class CountsDepth(Engine):
    """Ignores `go depth`."""

    def think(self) -> None:
        depth = 0
        while not self.is_stopped(0.002):
            depth += 1
            say(f"info depth {depth} seldepth 9 score cp 5 nodes 1 pv e2e4")


class DiesAfterAnswer(Engine):
    def answer(self) -> None:
        super().answer()
        os._exit(8)


class AnswersAtOnce(Engine):
    """Says what it thinks and what it plays in one breath."""

    def think(self) -> None:
        pass

    def answer(self) -> None:
        say(f"info depth 1 score cp 1 pv e2e4\nbestmove {self.moves.pop(0)}")


class AnswersTwice(Engine):
    def answer(self) -> None:
        say(f"bestmove {self.moves[0]}\nbestmove {self.moves[0]}")


class NoMove(Engine):
    """Says `bestmove`, and nothing after it."""

    def answer(self) -> None:
        say("bestmove")


class HalfAnAnswer(Engine):
    """Dies in the middle of the line."""

    def answer(self) -> None:
        tell(1, b"bestmove e2")
        os._exit(9)


class Moody(Engine):
    """Misbehaves by the depth that it is asked for. Each mood has a move of its own."""

    def go(self) -> None:
        mood = int(self.line.split()[2])
        self.moves = [MOODS[mood][1]]
        self.__class__ = MODES[MOODS[mood][0]]
        self.think()
        self.answer()
        self.__class__ = Moody


# --- at the end ---


class IgnoresQuit(Engine):
    """Goes on after `quit`, and after the end of its input."""

    def run(self) -> None:
        super().run()
        time.sleep(FOREVER)

    def quit(self) -> None:
        pass


class IgnoresSignals(IgnoresQuit):
    """Ignores `quit`, and every signal that can be ignored."""

    def start(self) -> None:
        import signal

        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(each, signal.SIG_IGN)


# --- with children ---


class Wrapper(Engine):
    """A shell script around the engine, as they are often installed, that thinks for ever."""

    def run(self) -> None:
        # What runs in the background has no input but what it is given.
        script = 'exec 3<&0; UCI_ONCE= "$0" -I -S "$1" IgnoresStop <&3 & wait'
        os.execv("/bin/sh", ["sh", "-c", script, sys.executable, __file__])


class LeavesChild(Engine):
    """Dies, and leaves a child behind that holds its output open."""

    def answer(self) -> None:
        if os.fork() == 0:
            time.sleep(FOREVER)
        os._exit(10)


class LeavesOrphan(Engine):
    """Dies, and leaves a child behind that belongs to nobody, but holds its pipes open."""

    def answer(self) -> None:
        leave_orphan()
        os._exit(11)


class LeavesOrphanIdle(Engine):
    """The same, when it has answered."""

    def answer(self) -> None:
        super().answer()
        leave_orphan()
        os._exit(12)


class LeavesDeafOrphan(Engine):
    """Takes long options, but reads none of them, and neither does the child it leaves behind."""

    def uci(self) -> None:
        for number in range(40):
            say(f"option name Text {number} type string")
        leave_orphan()
        say("uciok")
        time.sleep(FOREVER)


def leave_orphan() -> None:
    """Start a child that is beyond the reach of whoever started us."""
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.write(done, b"!")
        time.sleep(FOREVER)
    os.read(ready, 1)


def subclasses(of: type[Engine]) -> list[type[Engine]]:
    return [each for sub in of.__subclasses__() for each in (sub, *subclasses(sub))]


MODES = {each.__name__: each for each in (Engine, *subclasses(Engine))}


def misbehaves() -> bool:
    once = os.environ.get("UCI_ONCE")
    if not once:
        return True
    try:
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def main() -> None:
    mode, *rest = sys.argv[1:]
    moves = rest[0].split(",") if rest else ["e2e4"]
    if misbehaves():
        MODES[mode](moves).run()
    else:
        Engine(moves[-1:]).run()


if __name__ == "__main__":
    main()
