"""UciProcess: one running UCI engine. It answers, or it is killed; nobody waits for it in vain.

Everything is driven by three kinds of events: lines from the engine, the end of its process, and
one timer. So a search that nobody awaits any more still ends: it was told to stop, and the timer
kills what does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import cached_property
from typing import cast

from agents.errors import CannotPlayVariant
from agents.player import Turn
from agents.uci.child import Child
from agents.uci.errors import (
    UciDied,
    UciFault,
    UciGarbled,
    UciIllegalAnswer,
    UciTimedOut,
)
from agents.uci.info import Info
from agents.uci.limits import Limit
from agents.uci.options import Options, Value
from agents.uci.program import UciProgram
from agents.uci.protocol import (
    BestMove,
    Declaration,
    Identity,
    InfoLine,
    LineSplitter,
    LineTooLong,
    Message,
    Noise,
    ReadyOk,
    UciOk,
    option_command,
    position_command,
    read,
)
from engine import Move, MoveError
from engine.variants import CHESS960, STANDARD

#: Set where an engine takes them and nobody says otherwise: its own play, on one core.
_DEFAULTS: Mapping[str, Value] = {
    "Threads": 1,
    "Hash": 16,
    "OwnBook": False,
    "Ponder": False,
    "UCI_ShowWDL": True,
}
_CHESS960_OPTION = "UCI_Chess960"
#: How many lines without meaning are put up with for one command, and how many ranks are kept.
_MAX_NOISE = 1000
_MAX_RANKS = 500
_MAX_NAME = 100
#: The rank of the best line, as engines write it.
_FIRST = "1"
#: How long a dead process's last output, or the exit code of one that fell silent, is waited for.
_LINGER = 0.25
#: How long a killed process may take to disappear.
_REAPING = 10.0


class _Awaited(Enum):
    """The message that a command ends with, and what one is doing meanwhile."""

    UCI_OK = "starting"
    READY_OK = "getting ready"
    BEST_MOVE = "thinking"


@dataclass(frozen=True)
class SearchResult:
    """What a search came to: a legal move, and what was said on the way."""

    turn: Turn
    move: Move
    #: The answer that the engine expects, in UCI notation.
    ponder: str | None
    #: Whether the engine had to be told to stop, since it went over its limit.
    overran: bool
    #: The last line of information for each rank.
    lines: tuple[str, ...] = ()

    @cached_property
    def infos(self) -> tuple[Info, ...]:
        """The lines, read: best first."""
        return tuple(sorted(map(Info.parse, self.lines), key=lambda info: info.rank))


class UciProcess:
    """One running UCI engine, for one task at a time. Made by `start`."""

    def __init__(self, program: UciProgram) -> None:
        self.program = program
        self.title = program.title
        #: As the engine introduces itself: `Stockfish 15.1`.
        self.name = program.title
        self.author = ""
        #: What can be set, and what has been.
        self.options = Options(program.title)
        # Whatever the last search was for; the next one for something else is a new game.
        self._game: Callable[[], object] = _no_game
        # The options that were set last, and whether for Chess960.
        self._prepared: tuple[Mapping[str, Value] | None, bool] = (None, False)
        self._child = Child(self)
        self._splitter = LineSplitter()
        self._awaited: _Awaited | None = None
        self._answer: asyncio.Future[Message] | None = None
        self._asked_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._fault: UciFault | None = None
        self._closing = False
        self._noise = 0
        # Of the search under way:
        self._lines: dict[str, str] = {}  # the last exact one for each rank
        self._bounds: dict[str, str] = {}  # and the last one whose score is a bound
        self._listener: Callable[[Info], None] | None = None
        self._most_nodes: int | None = None
        self._most_depth: int | None = None
        self._stopped = False

    # --- life ---

    @classmethod
    async def start(cls, program: UciProgram) -> UciProcess:
        """Start a program and wait until it has introduced itself.

        Raises `UciNotFound`, `UciWontStart` or a `UciFault`.
        """
        process = cls(program)
        await process.begin()
        return process

    async def begin(self) -> None:
        """Do what `start` does. It can be closed meanwhile, which is a fault like any other."""
        try:
            program = self.program
            await self._child.launch(self.title, program.command, program.environment)
            if self._closing:
                self.kill()  # nobody has been able to tell it to quit
            await self._ask("uci", _Awaited.UCI_OK, self.program.patience.start)
        except BaseException:
            self.kill()
            await self.aclose()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked something."""
        ended = self._child.has_exited or self._child.has_fallen_silent
        return self._fault is None and not self._closing and not ended

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it."""
        return self._child.gone.is_set()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._child.pid

    @property
    def game(self) -> object:
        """The game that the engine remembers; None if nobody plays one any more."""
        return self._game()

    def kill(self) -> None:
        """End the process and whatever it started, now. What waits for an answer gets an error."""
        self._closing = True
        self._fail(UciDied(self.title, self._doing, -signal.SIGKILL))

    async def aclose(self) -> None:
        """End the process: politely, then not. Safe to call twice, and after a fault."""
        if self._awaited is not None and self._answer is not None and not self._answer.done():
            self.kill()  # told to quit, it might answer what it has, as if it had thought enough
        if self.is_alive:
            self._closing = True
            self._child.tell("quit\n")
            try:
                async with asyncio.timeout(self.program.patience.stop.total_seconds()):
                    await self._child.gone.wait()
            except TimeoutError:
                pass  # it ignores `quit`, so it is killed like any other
            finally:
                self.kill()
        is_being_closed = self._fault is None  # by somebody else, politely
        patience = self.program.patience.stop.total_seconds() if is_being_closed else 0
        # If the system cannot get rid of a process, then neither can we.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience + _REAPING):
                await self._child.gone.wait()

    def suits(self, options: Mapping[str, Value], game: object) -> tuple[bool, bool, bool]:
        """Return how well it fits, to be compared: nothing is lost, and little to prepare."""
        ours = self.game
        return ours is not None and ours is game, ours is None, options == self._prepared[0]

    # --- asking ---

    async def prepare(
        self, options: Mapping[str, Value], variant: str, game: object = None
    ) -> None:
        """Get ready for searches in a game: set options, and begin it if it is another one.

        Options that were set for somebody else go back to what they were. Without a game, whatever
        the engine remembers stays: a search can forget it. Raises `InvalidOption`,
        `CannotPlayVariant` or a `UciFault`.
        """
        if self._fault is not None:
            raise self._fault
        await self._finish_last()
        commands = self._option_commands(options, variant)
        if game is not None and game is not self.game:
            commands.append("ucinewgame")
            self._game = _reference(game)
        if commands:
            commands.append("isready")
            await self._ask("\n".join(commands), _Awaited.READY_OK, self.program.patience.ready)

    async def search(
        self,
        turn: Turn,
        limit: Limit,
        *,
        forget: bool = False,
        listener: Callable[[Info], None] | None = None,
    ) -> SearchResult:
        """Search a turn of chess in which there is a legal move.

        With `forget` the engine starts with an empty memory, so that the result depends on nothing
        that it searched before. Cancelling stops the search. Raises `InvalidLimit` or a `UciFault`.
        """
        await self._finish_last()
        color = turn.position.turn
        commands = [position_command(turn), limit.command(color, turn.among)]
        if forget:
            commands.insert(0, "ucinewgame")
            self._game = _no_game
        self._lines = {}
        self._bounds = {}
        self._listener = listener
        # Some engines ignore `go nodes`. Others count them coarsely, and may go over a little.
        self._most_nodes = None if limit.nodes is None else 2 * limit.nodes + 10_000
        # Glaurung begins with depth 2, and stopped there may have looked at nothing.
        self._most_depth = None if limit.depth is None else limit.depth + 1
        self._stopped = False
        patience = limit.deadline(color) or self.program.patience.search
        answer = await self._ask("\n".join(commands), _Awaited.BEST_MOVE, patience)
        best = cast(BestMove, answer)
        move = self._legal_move(turn, best)
        return SearchResult(turn, move, best.ponder, self._stopped, self._best_lines(move))

    def _best_lines(self, move: Move) -> tuple[str, ...]:
        """Return the last line for each rank: an exact one, unless only a bound is of the move.

        A search that is cut off often ends on a bound, far from what the position is worth.
        """
        lines = self._bounds | self._lines
        bound = self._bounds.get(_FIRST)
        if bound is not None and not _is_of(lines[_FIRST], move) and _is_of(bound, move):
            lines[_FIRST] = bound
        return tuple(lines.values())

    async def _ask(self, command: str, awaited: _Awaited, patience: timedelta) -> Message:
        """Send a command and return the message that ends it."""
        if self._fault is not None:
            raise self._fault
        loop = asyncio.get_running_loop()
        self._awaited = awaited
        self._answer = loop.create_future()
        self._noise = 0
        self._asked_at = loop.time()
        self._timer = loop.call_later(patience.total_seconds(), self._overdue)
        self._child.tell(f"{command}\n")
        try:
            return await self._answer
        except asyncio.CancelledError:
            self._abandon()
            raise

    async def _finish_last(self) -> None:
        """Wait for the end of what was abandoned: its best move is not that of the next search."""
        was_searching = self._awaited is _Awaited.BEST_MOVE
        if self._awaited is not None:
            self._answer = asyncio.get_running_loop().create_future()
            await self._answer
        if was_searching:
            await self._ask("isready", _Awaited.READY_OK, self.program.patience.ready)

    def _legal_move(self, turn: Turn, best: BestMove) -> Move:
        position = turn.position
        try:
            move = Move.from_uci(best.move.lower())
            if position.is_legal(move):
                return move
        except MoveError:
            pass  # no move at all; as wrong as an illegal one
        self._fail(UciIllegalAnswer(self.title, best.move, position.fen()))
        raise cast(UciFault, self._fault)

    def _option_commands(self, options: Mapping[str, Value], variant: str) -> list[str]:
        is_chess960 = variant == CHESS960.name
        plays = [STANDARD.name, *([CHESS960.name] if _CHESS960_OPTION in self.options else [])]
        if variant not in plays:
            raise CannotPlayVariant(self.title, variant, tuple(plays))
        prepared, was_chess960 = self._prepared
        is_same = options is prepared or options == prepared  # two players may want the same
        if is_same and is_chess960 == was_chess960:
            return []
        defaults = {name: value for name, value in _DEFAULTS.items()
                    if self.options.accepts(name, value)}  # fmt: skip
        wanted: dict[str, Value] = {}
        for some in (defaults, self.program.options, options):
            wanted |= {name.strip().lower(): value for name, value in some.items()}
        if _CHESS960_OPTION in self.options:
            wanted[_CHESS960_OPTION.lower()] = is_chess960
        changes = self.options.change(wanted)
        self._prepared = (options, is_chess960)
        return [option_command(option, text) for option, text in changes]

    # --- what happens to it ---

    def heard(self, data: bytes) -> None:
        """Take in what the engine printed."""
        if self._fault is not None:
            return  # what a process says that is being killed
        # An engine prints a dozen lines for a short search. Without a listener they need not be
        # looked at one by one.
        is_patient = self._awaited is _Awaited.BEST_MOVE and self._listener is None
        try:
            lines = self._splitter.feed(data, is_patient and not self._may_exceed_limit(data))
        except LineTooLong:
            self._fail(UciGarbled(self.title, "it prints a line without end", _sample(data)))
            return
        for line in lines:
            if line and self._fault is None:
                self._receive(read(line))

    def lost(self) -> None:
        """Take the process for dead once its end and its last words are known, or soon."""
        child = self._child
        if self._fault is not None or (child.has_exited and child.has_fallen_silent):
            self._die()
        else:
            asyncio.get_running_loop().call_later(_LINGER, self._die)

    def _receive(self, message: Message) -> None:
        if isinstance(message, InfoLine):
            if self._awaited is _Awaited.BEST_MOVE:
                self._note(message.text)
        elif isinstance(message, BestMove):
            # One that nobody waits for is an answer to a search that is long over.
            if self._awaited is _Awaited.BEST_MOVE:
                self._settle(message)
        elif isinstance(message, ReadyOk):
            if self._awaited is _Awaited.READY_OK:
                self._settle(message)
        elif isinstance(message, UciOk):
            if self._awaited is _Awaited.UCI_OK:
                self._settle(message)
        elif isinstance(message, Declaration):
            self.options.declare(message.option)
        elif isinstance(message, Identity):
            self._introduce(message)
        else:
            self._put_up_with(message)

    def _introduce(self, identity: Identity) -> None:
        text = identity.value[:_MAX_NAME]
        if text.isprintable():
            self.name = text if identity.field == "name" and text else self.name
            self.author = text if identity.field == "author" else self.author

    def _may_exceed_limit(self, data: bytes) -> bool:
        nodes, depth = self._most_nodes, self._most_depth
        return (nodes is not None and _last_number(data, b" nodes ") > nodes) or (
            depth is not None and _last_number(data, b" depth ") > depth
        )

    def _note(self, line: str) -> None:
        """Keep the last line for each rank, and notice when the engine goes over its limit."""
        if line.startswith("string "):
            return  # a remark, whatever it is about
        nodes, depth = self._most_nodes, self._most_depth
        if (nodes and _exceeds(line, "nodes", nodes)) or (depth and _exceeds(line, "depth", depth)):
            self._stop()
        if " pv " not in line and "score " not in line:
            return
        _, found, after = line.partition("multipv ")
        rank = after.partition(" ")[0] if found else _FIRST
        lines = self._bounds if "bound" in line else self._lines
        if rank in lines or len(lines) < _MAX_RANKS:
            lines[rank] = line
        if self._listener is not None:
            try:
                self._listener(Info.parse(line))
            except Exception as error:  # the listener's own: its search fails, the engine is well
                self._listener = None
                self._stop()
                if self._answer is not None and not self._answer.done():
                    self._answer.set_exception(error)

    def _put_up_with(self, noise: Noise) -> None:
        self._noise += 1
        if self._noise > _MAX_NOISE:
            self._fail(
                UciGarbled(self.title, "it prints line after line of no meaning", noise.text)
            )

    def _settle(self, message: Message) -> None:
        self._end_wait()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    def _end_wait(self) -> None:
        self._awaited = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _overdue(self) -> None:
        """Do what is to be done when an answer does not come."""
        if self._awaited is _Awaited.BEST_MOVE and not self._stopped:
            self._stop()
        else:
            waited = asyncio.get_running_loop().time() - self._asked_at
            self._fail(UciTimedOut(self.title, self._doing, timedelta(seconds=round(waited, 1))))

    def _abandon(self) -> None:
        """Let go of an answer that nobody wants any more.

        What gets ready may go on with it for a while, and is ready then for whoever comes next.
        """
        self._listener = None
        if self._awaited is _Awaited.BEST_MOVE:
            self._stop()
        elif self._awaited is not None:
            self._give_grace()

    def _stop(self) -> None:
        """Tell the engine to stop thinking, and kill it if it does not."""
        if self._stopped:
            return
        self._stopped = True
        self._child.tell("stop\n")
        self._give_grace()

    def _give_grace(self) -> None:
        """Have it killed, unless it answers soon."""
        if self._timer is not None:
            self._timer.cancel()
        grace = self.program.patience.stop.total_seconds()
        self._timer = asyncio.get_running_loop().call_later(grace, self._overdue)

    def _die(self) -> None:
        child = self._child
        self._fail(UciDied(self.title, self._doing, child.exit_code, child.last_words))
        child.let_go()

    def _fail(self, fault: UciFault) -> None:
        """Have done with the process. The first fault is the one that counts."""
        if self._fault is None:
            self._fault = fault
            self._child.kill()
        self._end_wait()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(self._fault)

    @property
    def _doing(self) -> str:
        return "idle" if self._awaited is None else self._awaited.value


def _no_game() -> None:
    return None


def _reference(game: object) -> Callable[[], object]:
    """Return what leads to a game as long as somebody else knows it."""
    try:
        return weakref.ref(game)
    except TypeError:
        return lambda: game


def _is_of(line: str, move: Move) -> bool:
    """Return whether a variation begins with a move."""
    return f" {line} ".partition(" pv ")[2].lower().startswith(f"{move.uci()} ")


def _last_number(data: bytes, key: bytes) -> int:
    """Return the number after the last occurrence of a key; 0 if there is none."""
    found = data.rfind(key)
    if found < 0:
        return 0
    digits = data[found + len(key) : found + len(key) + 20].partition(b" ")[0].strip()
    return int(digits) if digits.isdigit() else 0


def _exceeds(line: str, key: str, most: int) -> bool:
    digits = f" {line}".partition(f" {key} ")[2].partition(" ")[0]
    return digits.isdecimal() and len(digits) < 20 and int(digits) > most


def _sample(data: bytes) -> str:
    return data[:100].decode("utf-8", "replace")
