"""`kibitz play` as people use it: in a pipe, and at a terminal with keys, colours and clocks."""

import json
import os
import re
import select
import signal
import subprocess
import sys

import chess
import pytest

from app.cli.play import _seats
from app.matches.commands import Pause, PlayMove, Resume
from app.services import open_services
from app.settings import Settings
from engine import Color
from tests.support.command_line import KIBITZ, kibitz, process
from tests.support.model_server import Fails, Says, model_server_in_thread
from tests.support.playing import database_in
from tests.support.processes import HANGS_AFTER
from tests.support.processes import run as run_to_its_end
from tests.support.team_matches import GOOD, MODEL, PROVIDER, by_role, hurry
from tests.support.terminal import on_terminal

pytestmark = pytest.mark.usefixtures("measured_processes")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KIBITZ_DATA_FOLDER", str(tmp_path))
    monkeypatch.setenv("KIBITZ_CONFIG", "")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def piped(*arguments, lines=(), **environment):
    stdin = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    return kibitz("play", *arguments, stdin=stdin, **environment)


# --- in a pipe ---

PIPED = """\
You are White against random, without clocks.
8  r  n  b  q  k  b  n  r
7  p  p  p  p  p  p  p  p
6  .  .  .  .  .  .  .  .
5  .  .  .  .  .  .  .  .
4  .  .  .  .  .  .  .  .
3  .  .  .  .  .  .  .  .
2  P  P  P  P  P  P  P  P
1  R  N  B  Q  K  B  N  R
   a  b  c  d  e  f  g  h
white> e4
Black plays 1... h5
8  r  n  b  q  k  b  n  r
7  p  p  p  p  p  p  p (.)
6  .  .  .  .  .  .  .  .
5  .  .  .  .  .  .  . (p)
4  .  .  .  .  P  .  .  .
3  .  .  .  .  .  .  .  .
2  P  P  P  P  .  P  P  P
1  R  N  B  Q  K  B  N  R
   a  b  c  d  e  f  g  h
white> quit
"""


def test_a_script_plays_and_is_answered_in_plain_text():
    run = piped("--black", "random", "--seed", "1", "--ascii", lines=["e4", "quit"])
    assert (run.returncode, run.stderr) == (0, "")
    assert "".join(f"{line.rstrip()}\n" for line in run.stdout.splitlines()) == PIPED


def test_the_end_of_input_ends_it_and_nothing_is_asked():
    run = piped("--black", "random", lines=["e4", "xyzzy", "\ud800\x1b[2J\x00", "x" * 200_000])
    assert (run.returncode, run.stderr) == (0, "")
    assert "'xyzzy' is neither a command nor a move" in run.stdout
    assert "That line has 65536 letters" in run.stdout
    assert "\x1b" not in run.stdout
    assert "Save it" not in run.stdout


def test_a_mark_of_utf_8_at_the_beginning_is_no_part_of_the_first_line():
    run = piped("--black", "random", lines=["\ufeffe4", "\ufefffen"])
    assert "Black plays 1... " in run.stdout
    assert "is neither a command nor a move" in run.stdout  # it is none but at the beginning


def test_whole_lines_are_not_folded(folder):
    fen = "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P4/2PBPN2/PP1N1PPP/R1BQK2R w KQkq - 10 123"
    run = piped("--white", "human", "--black", "human", "--fen", fen, lines=["fen"])
    assert f"\n{fen}\n" in run.stdout
    run = piped("--fen", fen, "--white", "human", "--black", "human", lines=["save s" + "x" * 40])
    assert re.search(r"^or on its page: http://127\.0\.0\.1:8000/matches/\S+$", run.stdout, re.M)


def test_standard_input_may_be_closed(folder):
    command = ["/bin/sh", "-c", f"exec {KIBITZ} play --black random <&-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


MISTAKES = [
    (("--black", "nobody"), "'nobody' is not a player"),
    (("--black", "stockfish:99"), "level must be between 1 and 8, not '99'"),
    (("--tc", "x"), "'x' is not a time control"),
    (("--tc", "x"), "write minutes, and seconds a move: 10, 10+5"),
    (("--fen", "nonsense"), "kibitz: 'nonsense' is not a FEN"),
    (("--fen", "8/8/8/8/8/8/8/K1k5 w - - 0 1", "--opening", "C50"), "--fen and --opening both"),
    (("--white", ""), "'' is not a player"),
    (("--black", ""), "'' is not a player"),
    (("--load", ""), "nothing is saved as ''"),
    (("--load", "x", "--tc", "10"), "--load goes on with a game as it is; leave out --tc"),
    (("--load", "x", "--white", "human", "--usd", "1"), "leave out --white and --budget-usd"),
    (("--load", "x", "--black", "random"), "leave out --black"),
    (("--load", "x", "--variant", "standard"), "leave out --variant"),
    (("--load", "x", "--fen", "8/8/8/8/8/8/8/K1k5 w - -"), "leave out --fen"),
    (("--load", "x", "--opening", "C50"), "leave out --opening"),
    (("--fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "kibitz: --fen: the game is over there"),
    (("--opening", "e4 e4"), "kibitz: --opening: "),
    (("--variant", "xiangqi"), "'xiangqi' is not a variant"),
    (("--variant", "kings-cooking", "--black", "stockfish:1"), "cannot play kings-cooking"),
    (("--black", "solver"), "'solver' cannot play standard"),
    (("--load", "nothing"), "nothing is saved as 'nothing'"),
    (("--budget-usd", "nan"), "'nan' is no sum in dollars"),
    (("--seed", "-1"), "--seed"),
    (("--black", "team:default"), "OPENAI_API_KEY"),
    (("--load", "a\x1b[2Jb"), "nothing is saved as"),
    (("--database", "mysql://x"), "that is no URL of a database"),
    (("--white", "random", "--black", "nobody"), "'nobody' is not a player"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_gets_one_sentence(arguments, sentence, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = piped(*arguments, lines=["quit"])
    assert run.returncode == 2, run.stdout
    assert run.stderr.startswith("kibitz: ")
    assert sentence in run.stderr
    assert "\x1b" not in run.stderr
    assert "Traceback" not in run.stderr


SEATS = [
    ((None, None, "standard"), ("human", "stockfish:3")),
    ((None, "human", "standard"), ("stockfish:3", "human")),
    (("human", None, "standard"), ("human", "stockfish:3")),
    (("random", None, "standard"), ("random", "human")),
    ((None, "random", "standard"), ("human", "random")),
    (("human", "human", "standard"), ("human", "human")),
    (("random", "random", "standard"), ("random", "random")),
    ((None, None, "kings-cooking"), ("human", "classical")),
    ((None, "human", "kings-cooking"), ("classical", "human")),
]


@pytest.mark.parametrize(("named", "seats"), SEATS)
def test_who_is_not_named_is_whoever_is_missing(named, seats):
    assert _seats(*named) == seats


def test_kings_cooking_in_a_pipe():
    run = piped(
        "--variant", "kings-cooking", "--black", "solver", "--white", "human",
        lines=["moves", "Nxa3", "fen", "hint", "resign"],
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert "Perfect play is " in run.stdout
    assert "White's court: " in run.stdout
    assert "Black wins: White resigned (0-1)." in run.stdout


# --- two computers ---


def test_two_computers_are_told_in_lines(folder):
    run = piped("--white", "random", "--black", "random", "--seed", "5")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[0].startswith("  1.   ")
    assert re.search(r"\n(1-0|0-1|1/2-1/2): ", run.stdout)
    assert run.stdout == piped("--white", "random", "--black", "random", "--seed", "5").stdout


def test_two_computers_are_watched_until_ctrl_c(folder):
    command = ("play", "--white", "random", "--black", "random", "--flip")
    with on_terminal(*command, columns=60, rows=20) as terminal:
        terminal.see("random")
        terminal.see(lambda screen: "h  g  f  e" in screen.text)
        terminal.press("ctrl-c")
        assert terminal.see_end() == 130


def test_a_computer_that_cannot_decide_ends_it(models):
    models.behave(Fails(401))
    run = piped("--white", "team:default", "--black", "random")
    assert run.returncode == 1
    assert run.stderr.startswith("kibitz: team:default could not decide: ")
    assert "Traceback" not in run.stderr


# --- teams of models ---

SHOUTS = Says(
    json.dumps(
        {
            "reasoning": "\x1b[2JThe centre",
            "candidates": [
                {"reason": "\x1b[31mthe centre\x1b]0;pwned\x07 \u202ematters", "move": "d7d5"},
                {"reason": "as good", "move": "e7e5"},
            ],
        }
    )
)


@pytest.fixture
def models(monkeypatch):
    hurry(monkeypatch)
    with model_server_in_thread(by_role(GOOD, tactical=SHOUTS)) as server:
        monkeypatch.setenv(
            "KIBITZ_PROVIDERS", json.dumps({PROVIDER: {"base_url": server.base_url}})
        )
        monkeypatch.setenv("KIBITZ_MODEL", MODEL)
        monkeypatch.setenv("KIBITZ_PRICES", json.dumps({MODEL: {"input": 3, "output": 15}}))
        yield server


def test_a_team_says_what_it_thinks_and_costs(models):
    run = piped("--black", "team:default", "--budget-usd", "1", lines=["e4", "resign"])
    assert (run.returncode, run.stderr) == (0, "")
    assert "  tactical says d5: [31mthe centre]0;pwned matters\n" in run.stdout
    assert "  tactical or e5: as good\n" in run.stdout
    assert "  selector says " in run.stdout
    assert re.search(r"\nBlack's 3 model calls: \$0\.000\d\.\n", run.stdout)
    assert all(char.isprintable() or char == "\n" for char in run.stdout)


def test_a_budget_that_is_spent_pauses_the_game_until_there_is_more(models):
    run = piped(
        "--black", "team:default", "--budget-usd", "0.0001", lines=["e4", "resume", "resume 1"]
    )
    assert run.returncode == 0
    assert run.stdout.count("Write `resume USD` to allow so many dollars in all.") == 2
    assert "\nBlack plays 1... " in run.stdout
    assert run.stdout.rstrip().endswith(".")  # what it cost, though it is not over
    assert "model calls: $" in run.stdout.splitlines()[-1]


# --- saved games ---


def test_a_save_is_played_on_by_the_service_and_here_again(folder):
    run = piped("--white", "human", "--black", "human", lines=["e4", "e5", "save mine"])
    (match_id,) = set(re.findall(r"/matches/([0-9a-f-]+)#", run.stdout))
    token = re.search(r"#seat=white:(\S+)", run.stdout)[1]

    async def serve():
        async with open_services(Settings(database=database_in(folder))) as services:
            matches = services.matches
            assert await matches.color_of(match_id, token) is Color.WHITE
            await matches.command(match_id, Resume())
            await matches.command(match_id, PlayMove(Color.WHITE, "Nf3"))

    run_to_its_end(serve())
    run = piped("--load", "mine", lines=["history"])
    assert run.returncode == 2
    assert "the service is playing this game just now" in run.stderr

    async def pause():
        async with open_services(Settings(database=database_in(folder))) as services:
            await services.matches.command(match_id, Pause())

    run_to_its_end(pause())
    run = process("play", "--load", "mine")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Loaded 'mine'. White and Black are both played here.")
    run = piped("--load", "mine", lines=["history", "Nc6", "save", "pgn"])
    assert "   2. Nf3\n" in run.stdout
    assert "Saved as 'mine'." in run.stdout
    assert "2. Nf3 Nc6 *" in run.stdout


# --- at a terminal ---


def drawn(terminal):
    """Return the last board on the screen as python-chess has it."""
    rows = [line for line in terminal.lines if re.fullmatch(r"[1-8] [ (!.\w)]{24}", f"{line:26}")]
    rows = [re.sub(r"[^.\w]", "", row[1:]) for row in rows[-8:]]
    return "/".join(rows)


def of(board):
    return "/".join(re.sub(r"[^.\w]", "", row) for row in str(board).split("\n"))


def test_a_whole_game_by_hand_with_wrong_letters_and_all(folder):
    """Against dice; after every move the screen shows what python-chess has."""
    options = ("--black", "random", "--seed", "3", "--ascii", "--tc", "60+10")
    with on_terminal("play", *options, columns=60, rows=24) as terminal:
        board = chess.Board()
        terminal.see("white>")
        assert drawn(terminal) == of(board)
        terminal.see("Black random 1:00:00")
        terminal.see(lambda screen: re.search(r">White human 59:\d\d", screen.text))  # it runs
        number = 0
        while not board.is_game_over():
            number += 1
            moves = sorted(board.legal_moves, key=lambda m: (-value(board, m), m.uci()))
            san = board.san(moves[0])
            write_somehow(terminal, san, number)
            board.push(moves[0])
            if board.is_game_over():
                break
            terminal.see_written(f"Black plays {number}... ")
            answer = re.findall(rf"Black plays {number}\.\.\. (\S+)", "\n".join(terminal.scrolled))
            board.push_san(answer[-1])
            terminal.see(lambda screen: drawn(screen) == of(board))
        terminal.see("again>")
        assert f"({board.result()})." in terminal.text
        assert drawn(terminal) == of(board)
        terminal.enter("n")
        assert terminal.see_end() == 0


def value(board, move):
    """Prefer mates, then captures, so that it ends."""
    board.push(move)
    is_mate, is_draw = board.is_checkmate(), board.is_game_over() and not board.is_checkmate()
    board.pop()
    taken = board.piece_at(move.to_square)
    safe = not board.is_attacked_by(not board.turn, move.to_square)
    return (
        1000 * is_mate - 1000 * is_draw + 10 * (taken.piece_type if taken else 0)
        + 5 * safe + 20 * (move.promotion == chess.QUEEN)
        + (board.piece_type_at(move.from_square) == chess.PAWN)
    )  # fmt: skip


def write_somehow(terminal, san, number):
    """Write a move as people do: with slips of the finger, from the history, by Tab."""
    if number == 1:
        terminal.enter("Ke9")
        terminal.see("'Ke9' is neither a command nor a move")
        terminal.type("hitn")
        terminal.press(*["backspace"] * 4)
    elif number == 2:
        terminal.type("histo")
        terminal.press("tab")
        terminal.see("white> history")
        terminal.press("enter")
        terminal.see("   1. ")
        terminal.press("up", "up")
        terminal.press("ctrl-u")
    elif number == 3:
        terminal.type("nonsense")
        terminal.see("white> nonsense")
        terminal.press("ctrl-c")
    elif number == 4:
        terminal.type(san[1:])
        terminal.press("ctrl-a")
        terminal.enter(san[:1])
        return
    elif number == 5:
        terminal.resize(42, 24)
    terminal.enter(san)


HOT_SEAT = """\
black> Qh4
Black wins by checkmate (0-1).
8  ♜  ♞  ♝     ♚  ♝  ♞  ♜
7  ♟  ♟  ♟  ♟     ♟  ♟  ♟
6
5              ♟
4                    ♟  ♛
3                 ♟
2  ♟  ♟  ♟  ♟  ♟        ♟
1  ♜  ♞  ♝  ♛  ♚  ♝  ♞  ♜
   a  b  c  d  e  f  g  h
Another game, with colours swapped? (y
or n, or any command)
again>"""


def test_two_people_at_a_narrow_window_see_the_mate_in_colours(folder):
    players = ("--white", "human", "--black", "human")
    with on_terminal("play", *players, columns=40, rows=24) as terminal:
        for prompt, move in zip(["white>", "black>"] * 2, ["f3", "e5", "g4", "Qh4"], strict=True):
            terminal.see(lambda screen, prompt=prompt: last_line(screen).startswith(prompt))
            terminal.enter(move)
        terminal.see("again>")
        assert HOT_SEAT in terminal.text
        row, _ = terminal.find("4                    ♟  ♛")
        assert terminal.cell(row, 24).bg == "c9a93f"  # where the queen went
        row, _ = terminal.find("1  ♜  ♞  ♝  ♛  ♚  ♝  ♞  ♜")
        assert terminal.cell(row, 15).bg == "c9534f"  # the king in check
        terminal.enter("y")
        terminal.see(lambda screen: last_line(screen).startswith("white>"))
        terminal.press("ctrl-d")
        assert terminal.see_end() == 0


def last_line(terminal):
    """Return the line of the prompt: the last one above the status."""
    prompts = [line for line in terminal.lines if re.match(r"(\w+)?>( |$)", line)]
    return prompts[-1] if prompts else ""


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_the_address_of_a_seat_can_be_copied_from_a_narrow_window(folder, columns, kind):
    environment = {"TERM": kind}
    with on_terminal(
        "play", "--black", "random", columns=columns, rows=40, environment=environment
    ) as terminal:
        terminal.see("white>")
        terminal.enter("save mine")
        terminal.see(lambda screen: screen.text.count("white>") == 2)
        token = re.search(r"in the service:\s+(\S+)", terminal.text)[1]
        (page,) = re.findall(r"or on its page: (\S+)", terminal.written.decode())
        assert page.endswith(f"#seat=white:{token}")
        joined = "".join(f"{line:{columns}}" for line in terminal.lines)
        assert f"or on its page: {page} " in joined


def test_a_flag_falls_while_one_sits_at_the_prompt(folder):
    players = ("--white", "human", "--black", "human", "--tc", "0.02", "--no-turn")
    with on_terminal("play", *players, columns=80, rows=34) as terminal:
        terminal.see(lambda screen: "white>" in screen.text or "again>" in screen.text)
        terminal.type("e")
        terminal.see("again> e")
        terminal.see("Black wins on time (0-1).")
        terminal.press("backspace")
        terminal.enter("new 10")
        terminal.see("Black human 10:00")
        terminal.press("ctrl-c")
        terminal.see("leave>")
        terminal.press("ctrl-c")
        assert terminal.see_end() == 130


def test_a_terminal_without_colours_or_cursor_works_too(folder):
    with on_terminal(
        "play", "--black", "random", columns=60, rows=30,
        environment={"TERM": "dumb", "NO_COLOR": "1"},
    ) as terminal:  # fmt: skip
        terminal.see("white>")
        terminal.enter("e5")
        terminal.see("'e5' is illegal")
        terminal.enter("e4")
        terminal.see("Black plays 1...")
        terminal.press("ctrl-c")
        terminal.see("save>")
        terminal.enter("")
        terminal.press("ctrl-d")
        terminal.see(lambda screen: screen.text.count("save>") == 2)
        terminal.enter("mine")
        assert terminal.see_end() == 0
        assert b"\x1b" not in terminal.written
    assert "1. mine: human - random, 2 plies" in piped(lines=["saves"]).stdout


def test_a_terminal_that_can_only_print_is_prompted_again_after_a_stop(folder):
    with on_terminal("play", "--black", "random", environment={"TERM": "dumb"}) as terminal:
        terminal.see("white>")
        terminal.process.kill(signal.SIGSTOP)
        terminal.process.kill(signal.SIGCONT)  # as `fg` does
        terminal.see(lambda screen: screen.text.count("white>") == 2)
        terminal.enter("e4")
        terminal.see("Black plays 1...")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_who_is_cut_off_finds_the_game_saved(folder, number, code):
    environment = {"NO_COLOR": "1"}
    with on_terminal("play", "--black", "random", environment=environment) as terminal:
        terminal.see("white>")
        terminal.enter("e4")
        terminal.see_written("Black plays 1...")
        terminal.process.kill(number)
        assert terminal.see_end() == code
        name = re.search(r"saved as '(unfinished-\d+-\d+)'", terminal.text)[1]
    run = piped("--load", name, lines=["history"])
    assert "   1. e4" in run.stdout


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
def test_who_closes_the_terminal_finds_the_game_saved(folder, kind):
    with on_terminal("play", "--black", "random", environment={"TERM": kind}) as terminal:
        terminal.see("white>")
        terminal.enter("e4")
        terminal.see_written("Black plays 1...")
        terminal.see(lambda screen: last_line(screen) == "white>")
        assert terminal.hang_up() == 129
    (name,) = re.findall(r"unfinished-\d+-\d+", piped(lines=["saves"]).stdout)
    run = piped("--load", name, lines=["history"])
    assert "   1. e4" in run.stdout


@pytest.fixture
def slow(folder):
    """A Stockfish that never answers, and what waits until it was asked."""
    engine, asked = folder / "slow", folder / "asked"
    os.mkfifo(asked)
    descriptor = os.open(asked, os.O_RDONLY | os.O_NONBLOCK)
    engine.write_text(
        "#!/bin/sh\nwhile read -r line; do case $line in uci) echo uciok;; isready) echo readyok;;"
        f" go*) echo > {asked};; quit) exit;; esac; done\n"
    )
    engine.chmod(0o755)
    yield engine, lambda: select.select([descriptor], [], [], HANGS_AFTER)[0]
    os.close(descriptor)


def test_ctrl_c_breaks_off_what_takes_long_and_the_game_goes_on(slow):
    """A hint of a Stockfish that never answers, as a signal from elsewhere would."""
    engine, is_asked = slow
    with on_terminal(
        "play", "--black", "random", environment={"STOCKFISH_PATH": str(engine)}
    ) as terminal:
        terminal.see("white>")
        terminal.enter("hint")
        assert is_asked()
        terminal.process.kill(signal.SIGINT)
        terminal.enter("e4")
        terminal.see("Black plays 1...")
        terminal.see(lambda screen: last_line(screen) == "white>")
        terminal.process.kill(signal.SIGINT)  # as Ctrl-C at the prompt
        terminal.see("save>")
        terminal.enter("n")
        assert terminal.see_end() == 0


def test_ctrl_c_just_after_enter_breaks_off_what_was_to_be_done(slow, monkeypatch):
    engine, _ = slow
    monkeypatch.setenv("STOCKFISH_PATH", str(engine))
    with on_terminal("-c", INTERRUPTED_AFTER_ENTER, command=sys.executable) as terminal:
        terminal.see("white>")
        terminal.enter("hint")
        terminal.see(lambda screen: screen.text.count("white>") == 2)
        terminal.enter("e4")
        terminal.see("Black plays 1...")


#: `kibitz play`, interrupted where nothing is edited any more and nothing is done yet.
INTERRUPTED_AFTER_ENTER = """
import os, signal, sys
from prompt_toolkit.renderer import Renderer
from app.cli import main

reset = Renderer.reset

def interrupt(self, *arguments, **options):
    reset(self, *arguments, **options)
    if sys._getframe(1).f_locals.get("f") and sys._getframe(1).f_locals["f"].done():
        Renderer.reset = reset
        os.kill(os.getpid(), signal.SIGINT)

Renderer.reset = interrupt
sys.argv = ["kibitz", "play", "--black", "random"]
main()
"""


def test_a_line_that_does_not_vanish_does_not_hold_up_the_end(folder):
    with on_terminal("-c", LINE_THAT_STAYS, command=sys.executable) as terminal:
        terminal.see("white>")
        terminal.enter("e4")
        terminal.see_written("Black plays 1...")
        terminal.see(lambda screen: last_line(screen) == "white>")
        assert terminal.hang_up() == 129
    assert "human - random, 2 plies" in piped(lines=["saves"]).stdout


#: `kibitz play`, whose line waits for a terminal that is gone, as it may while it is written to.
LINE_THAT_STAYS = """
import asyncio, sys
from prompt_toolkit import PromptSession
from app.cli import main

edit = PromptSession.prompt_async

async def stay(self, *arguments, **options):
    try:
        return await edit(self, *arguments, **options)
    except asyncio.CancelledError:
        await asyncio.Future()

PromptSession.prompt_async = stay
sys.argv = ["kibitz", "play", "--black", "random"]
main()
"""


def test_lines_that_are_pasted_are_obeyed_one_by_one(folder):
    with on_terminal("play", "--black", "random", "--seed", "1", rows=60) as terminal:
        terminal.see("white>")
        terminal.type("\x1b[200~Nf3\rNg1\r\nfen\x1b[201~")
        terminal.enter()
        terminal.see(lambda screen: re.search(r"w \S+ \S+ \d+ 3$", screen.text, re.MULTILINE))
        terminal.enter()
        terminal.see(lambda screen: last_line(screen) == "white>")
        terminal.type("\x1b[200~history\r\x1b[201~")
        terminal.enter()
        terminal.see(lambda screen: re.search(r"1\. Nf3 .*\n +2\. Ng1", screen.text))
