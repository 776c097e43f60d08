"""A match on the board that lives, and line by line where there is none."""

import asyncio
import io
import time
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from app.cli.boards import live_board
from app.cli.boards.board import Look
from app.cli.boards.live_board import Board, Lines, live_show, pace
from app.cli.boards.scene import Scene
from app.matches.match import Match
from app.matches.settings import MatchSettings, PlayerSettings
from engine import Color, Evaluation, IllegalMove
from engine.errors import Illegality
from tests.support.processes import HANGS_AFTER

AT = datetime(2026, 1, 1, tzinfo=UTC)


def log():
    """Return the log of a match in which all happens that can be told in a line."""
    settings = MatchSettings(PlayerSettings("random"), PlayerSettings("human"), time_control="300")
    match = Match.create("some-id", settings, AT)
    match.start(AT)
    at = AT + timedelta(seconds=2)
    position = match.game.position.fen()
    match.reject(1, "Ke2", IllegalMove("Ke2", position, Illegality.OWN_PIECE), at)
    match.reject(2, "", None, at)
    match.play(
        "e4",
        at,
        source="random",
        evaluation=Evaluation(centipawns=30),
        decision={"reason": "a die"},
    )
    match.play("e5", at, source="human")
    match.ask_takeback(Color.BLACK, at)
    match.decline_takeback(Color.WHITE, at)
    match.ask_takeback(Color.BLACK, at)
    match.grant_takeback(Color.WHITE, at)
    match.offer_draw(Color.BLACK, at)
    match.decline_draw(Color.WHITE, at)
    match.pause(at, "lunch")
    match.resume(at)
    match.resign(Color.BLACK, at)
    return match.new_events


TOLD = """\
     refused: 'Ke2' is illegal: a piece of the same side stands on the target square
     refused: there was no move
  1.   e4      04:58 +0.30 a die
  1... e5      05:00
     Black asks to take back
     White does not let it be taken back
     Black asks to take back
     taken back, up to 1. e4
     Black offers a draw
     White declines the draw
     paused: lunch
     resumed

1-0: White wins: Black resigned
"""


def show_all(show, events, *, last=None):
    async def main():
        scene = Scene()
        async with show:
            for each in events:
                scene = scene.after(each)
                await show.show(scene, each)
            if last is not None:
                await last(show)

    asyncio.run(asyncio.wait_for(main(), HANGS_AFTER))


def test_lines_tell_what_matters(capsys):
    show_all(Lines(), log())
    assert capsys.readouterr().out == TOLD


def test_lines_tell_what_was_said(capsys):
    def advice(**said):
        return {"type": "advice.given", "by": "tactical", "candidates": [], "words": ""} | {
            "abstained": "",
            **said,
        }

    candidates = [{"san": "e4", "reason": "opens\x1b[2J lines"}, {"san": "d4", "reason": ""}]
    events = [
        advice(candidates=candidates),
        advice(abstained="no time"),
        advice(words="long " * 1000),
        {"type": "advice.delta", "by": "tactical", "words": "not yet", "ply": 1},
    ]
    show_all(Lines(), events)
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "     tactical: e4: opens lines; d4"
    assert second == "     tactical says nothing: no time"
    assert len(third) == 500
    assert third.endswith(" ...")


def test_an_engine_s_reason_is_not_told_twice(capsys):
    *_, ply = [each for each in log() if each.type == "ply.played"][:1]
    ply.fields["decision"] = {"reason": "+0.30, depth 8"}
    show_all(Lines(), [log()[0], ply])
    assert capsys.readouterr().out == "  1.   e4      04:58 +0.30, depth 8\n"


def test_notes_beside_lines_are_no_part_of_the_match(capsys):
    lines = Lines()
    for words in ("", "connection lost", "and still", "", ""):
        lines.note(words)
    assert capsys.readouterr() == ("", "connection lost\nThe connection is back.\n")


# --- on a terminal ---


def terminal(system="truecolor", encoding="utf-8", columns=100):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    console = Console(file=file, force_terminal=True, color_system=system, width=columns, height=30)
    console.no_color = system is None
    return console


def written(console):
    console.file.seek(0)
    return console.file.read()


@pytest.mark.parametrize(("system", "piece"), [("truecolor", "♜"), (None, " r ")])
def test_a_terminal_without_colours_gets_letters(system, piece):
    """Both sides' figurines would look the same."""
    console = terminal(system)
    show_all(Board(console), log())
    text = written(console)
    assert piece in text
    assert "1-0: White wins: Black resigned" in text


def test_a_terminal_without_figurines_gets_letters():
    console = terminal("standard", "latin-1")
    show_all(Board(console), log())
    assert " r " in written(console)


def test_the_last_picture_stays_after_the_terminal_is_given_back():
    console = terminal()
    show_all(Board(console), log())
    live, back, left = written(console).rpartition("\x1b[?1049l")
    assert live.startswith("\x1b[?1049h")
    assert back
    assert "White wins" in left
    assert "\x1b[?25h" in live + left.partition("╭")[0]  # the cursor is back


def test_what_was_never_seen_leaves_no_picture():
    console = terminal()
    show_all(Board(console), [])
    assert "╭" not in written(console).rpartition("\x1b[?1049l")[2]


def test_before_there_is_anything_to_see_only_a_lost_connection_is_told():
    async def lose(board):
        board.draw()
        assert "╭" not in written(console)
        board.note("connection lost")
        board.draw()

    console = terminal()
    show_all(Board(console), [], last=lose)
    assert "connection lost" in written(console)


def test_the_terminal_is_given_back_whatever_happens():
    async def fail(_show):
        raise ZeroDivisionError

    console = terminal()
    with pytest.raises(ZeroDivisionError):
        show_all(Board(console), log()[:3], last=fail)
    assert "\x1b[?1049l" in written(console)


def test_a_terminal_that_cannot_be_written_to_ends_it(monkeypatch):
    async def wait(_show):
        await asyncio.Event().wait()

    def refuse(*_args, **_options):
        raise OSError(5, "Input/output error")

    board = Board(terminal())
    monkeypatch.setattr(board, "draw", refuse)
    with pytest.raises(OSError, match="Input/output"):
        show_all(board, log()[:3], last=wait)


def test_clocks_run_and_nothing_is_drawn_twice():
    """The time is what the clock of the board says it is."""
    at, console, drawn = AT, terminal(), []

    async def wait(board):
        nonlocal at
        update, is_drawn = board._live.update, asyncio.Event()

        def draw(picture, **options):
            drawn.append(picture)
            update(picture, **options)
            is_drawn.set()

        board._live.update = draw
        await is_drawn.wait()
        is_drawn.clear()
        for _ in range(3):
            board.draw()
        at += timedelta(seconds=3)
        await is_drawn.wait()

    show_all(Board(console, clock=lambda: at), log()[:3], last=wait)
    assert [picture.clocks[0] for picture in drawn] == ["05:00", "04:57"]


def test_notes_and_flips_are_drawn():
    async def change(board):
        board.note("connection lost")
        board.flip()

    console = terminal()
    show_all(Board(console, look=Look(letters=True, signs=True)), log()[:3], last=change)
    text = written(console)
    assert "connection lost" in text
    assert "h  g  f" in text
    assert "connection lost" not in text.rpartition("\x1b[?1049l")[2]


def test_a_person_can_follow_and_the_longest_match_takes_less_than_a_minute():
    assert pace(1) >= timedelta(milliseconds=200)
    assert sum((pace(ply) for ply in range(1, 401)), timedelta()) < timedelta(seconds=50)


def test_a_move_stays_for_its_time():
    begun = time.monotonic()
    moves = [each for each in log() if each.type == "ply.played"]
    scene = log()[0], *moves
    show_all(Board(terminal(), pace=lambda _: timedelta(milliseconds=40)), scene)
    assert time.monotonic() - begun >= 0.04


# --- which of them ---


class Tty(io.StringIO):
    def isatty(self):
        return True


def test_there_is_a_board_only_on_a_terminal_that_can_show_it(monkeypatch):
    monkeypatch.setattr(live_board.sys, "stdout", io.StringIO())
    assert isinstance(live_show(), Lines)
    monkeypatch.setattr(live_board.sys, "stdout", Tty())
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(live_show(wants_ascii=True, perspective=Color.BLACK), Board)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(live_show(), Lines)
