"""A scene as it is drawn: in windows of every size, in colour and without."""

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from app.cli.boards import board
from app.cli.boards.board import Look
from app.cli.boards.picture import Picture, score, wrapped
from app.cli.boards.scene import Scene, SeenPly
from app.matches.match import MatchStatus
from engine import Color, Evaluation, Game, Move, TimeControl

AT = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Look(letters=True, signs=True)
ASCII = Look(letters=True, signs=True, ascii=True)
CLOCKS = {Color.WHITE: timedelta(seconds=299), Color.BLACK: timedelta(seconds=300)}


def scene_of(*moves, variant="standard", **more):
    game = Game(variant=variant)
    plies = []
    for san in moves:
        number, color = game.position.fullmove_number, game.turn
        move = game.position.parse(san)
        game.play(move)
        plies.append(SeenPly(number, color, san, move, game.position, CLOCKS))
    return Scene(
        white="team:default",
        black="stockfish:3",
        match_id="01980a4e",
        status=MatchStatus.RUNNING,
        variant=variant,
        position=game.position,
        plies=tuple(plies),
        **({"clocks": CLOCKS, "control": TimeControl.parse("300+3")} | more),
    )


def printed(picture, columns=80, rows=24, *, color=None):
    console = Console(
        file=io.StringIO(),
        force_terminal=color is not None,
        color_system=color,
        width=columns,
        height=rows,
        legacy_windows=False,
    )
    console.print(picture, height=rows)
    return console.file.getvalue()


def drawn(scene, columns=80, rows=24, look=PLAIN, **more):
    lines = printed(Picture.of(scene, look, AT, **more), columns, rows).splitlines()
    return "\n".join(line.rstrip() for line in lines)


RUY = scene_of("e4", "e5", "Nf3", "Nc6", "Bb5")
BUSY = replace(
    RUY.hearing("positional", "The bishop is good here, since it looks at the knight."),
    plies=(
        *RUY.plies[:-1],
        replace(RUY.plies[-1], evaluation=Evaluation(centipawns=35), reason="the Spanish"),
    ),
    draw_offer=Color.WHITE,
)
BUSY = replace(BUSY, talk=BUSY.talk.refusing("Ke9", "'Ke9' is no move"))

AT_80 = """\
╭─────────────────────────────────── Kibitz ───────────────────────────────────╮
│ ▶ stockfish:3        05:00     1. e4             e5                          │
│ 8  r  ·  b  q  k  b  n  r      2. Nf3            Nc6                         │
│ 7  p  p  p  p  ·  p  p  p      3. Bb5 +0.35                                  │
│ 6  ·  ·  n  ·  ·  ·  ·  ·                                                    │
│ 5  · (B) ·  ·  p  ·  ·  ·                                                    │
│ 4  ·  ·  ·  ·  P  ·  ·  ·                                                    │
│ 3  ·  ·  ·  ·  ·  N  ·  ·    the Spanish                                     │
│ 2  P  P  P  P  ·  P  P  P                                                    │
│ 1  R  N  B  Q  K (·) ·  R    Now:                                            │
│    a  b  c  d  e  f  g  h    positional:                                     │
│   team:default       04:59   The bishop is good here, since it looks at the  │
│                              knight.                                         │
│ Evaluation +0.35             Refused: 'Ke9' is no move                       │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│                                                                              │
│ White offers a draw.                                                         │
│                                                                              │
╰───────────────────────── 01980a4e, standard, 300+3 ──────────────────────────╯"""
AT_50 = """\
╭──────────────────── Kibitz ────────────────────╮
│ ▶ stockfish:3                            05:00 │
│ 8  r  ·  b  q  k  b  n  r                      │
│ 7  p  p  p  p  ·  p  p  p                      │
│ 6  ·  ·  n  ·  ·  ·  ·  ·                      │
│ 5  · (B) ·  ·  p  ·  ·  ·                      │
│ 4  ·  ·  ·  ·  P  ·  ·  ·                      │
│ 3  ·  ·  ·  ·  ·  N  ·  ·                      │
│ 2  P  P  P  P  ·  P  P  P                      │
│ 1  R  N  B  Q  K (·) ·  R                      │
│    a  b  c  d  e  f  g  h                      │
│   team:default                           04:59 │
│ White offers a draw.                           │
│ 1. e4 e5 2. Nf3 Nc6 3. Bb5                     │
│ Now:                                           │
│ positional:                                    │
│ The bishop is good here, since it looks at the │
│ knight.                                        │
│ Refused: 'Ke9' is no move                      │
╰────────── 01980a4e, standard, 300+3 ───────────╯"""
AT_30 = """\
> stockfish:3            05:00
8  r  .  b  q  k  b  n  r
7  p  p  p  p  .  p  p  p
6  .  .  n  .  .  .  .  .
5  . (B) .  .  p  .  .  .
4  .  .  .  .  P  .  .  .
3  .  .  .  .  .  N  .  .
2  P  P  P  P  .  P  P  P
1  R  N  B  Q  K (.) .  R
   a  b  c  d  e  f  g  h
  team:default           04:59
White offers a draw.
1. e4 e5 2. Nf3 Nc6 3. Bb5"""
AT_18 = """\
> stockfi... 05:00
  team:de... 04:59
White offers a ...
2. Nf3 Nc6 3. Bb5
Now:
Refused: 'Ke9' ..."""


@pytest.mark.parametrize(
    ("columns", "rows", "look", "picture"),
    [
        (80, 24, PLAIN, AT_80),
        (50, 20, PLAIN, AT_50),
        (30, 13, ASCII, AT_30),
        (18, 6, ASCII, AT_18),
    ],
)
def test_pictures_of_a_busy_match(columns, rows, look, picture):
    assert drawn(BUSY, columns, rows, look) == picture


def test_courts_have_their_place():
    told = drawn(scene_of("Nxc3", variant="kings-cooking", clocks=None, control=None), look=ASCII)
    assert "Black's court: " in told
    assert "White's court: " in told
    assert "> stockfish:3" in told
    assert "01980a4e, kings-cooking" in told


def test_the_other_side_may_be_below():
    lines = drawn(RUY, perspective=Color.BLACK).splitlines()
    assert "team:default" in lines[1]
    assert "stockfish:3" in lines[11]
    assert "h  g  f  e  d  c  b  a" in lines[10]


def test_the_end_and_a_lost_connection_are_told():
    told = drawn(replace(RUY, ending="0-1: Black wins: White resigned", status=MatchStatus.ENDED))
    assert "0-1: Black wins: White resigned" in told
    assert "▶" not in told
    assert "connection lost" in drawn(RUY, note="connection lost")
    assert "Paused: lunch" in drawn(replace(RUY, paused="lunch"))
    assert "Black asks to take back." in drawn(replace(RUY, takeback=Color.BLACK))


@pytest.mark.parametrize("rows", range(12, 20))
def test_in_a_low_window_both_players_and_what_is_new_are_seen(rows):
    lines = drawn(BUSY, 80, rows).splitlines()
    assert len(lines) <= rows
    assert all(any(it in line for line in lines) for it in ("stockfish:3", "team:default"))
    assert "White offers a draw." in "\n".join(lines)


def test_a_match_that_waits_for_its_turn_says_so():
    assert "has not begun yet" in drawn(replace(RUY, status=MatchStatus.CREATED))
    assert "has not begun yet" not in drawn(RUY)


def test_all_news_are_told_on_as_many_lines_whatever_they_are():
    busy = replace(RUY, paused="lunch " * 40, takeback=Color.BLACK, draw_offer=Color.BLACK)
    lines = drawn(busy, note="connection lost").splitlines()
    assert len(lines) == 24
    assert "connection lost | Paused: lunch" in lines[-3]
    assert "…" in lines[-2]


def test_a_match_that_has_not_begun_can_be_drawn():
    assert "▶ White" in drawn(Scene())


def test_what_is_said_shares_the_room():
    scene = RUY.hearing("first", "alpha " * 200).hearing("second", "beta " * 200 + "omega")
    scene = scene.after(
        {
            "type": "advice.given",
            "by": "third",
            "candidates": [{"san": "a6", "reason": "asks the bishop"}, {"san": "d6", "reason": ""}],
            "words": "gamma " * 200,
            "abstained": "",
        }
    )
    told = drawn(scene)
    assert all(word in told for word in ("first:", "second:", "third: a6 d6", "alpha"))
    assert "beta omega" in told  # the newest words of somebody who still speaks
    assert "gamma gamma" in drawn(scene, rows=34)  # the first of somebody who has spoken
    assert "…" in drawn(scene, rows=34)
    silent = {"type": "advice.given", "by": "fourth", "candidates": [], "abstained": "no time"}
    assert "fourth says nothing: no time" in drawn(RUY.after(silent))


# --- fitting ---

texts = st.text(max_size=80) | st.sampled_from(
    ["word " * 60, "unbroken" * 40, "中文字" * 60, "e\u0301" * 50, "\x1b[2J\x1b]0;x\x07 " * 5]
)


@given(
    columns=st.integers(1, 140),
    rows=st.integers(1, 60),
    name=texts,
    words=texts,
    note=texts,
    look=st.sampled_from([PLAIN, ASCII]),
    scene=st.sampled_from([Scene(), RUY, BUSY, scene_of("Nxc3", variant="kings-cooking")]),
)
@settings(max_examples=80, deadline=None)
def test_whatever_there_is_to_see_it_fits_and_commands_nothing(
    columns, rows, name, words, note, look, scene
):
    from app.cli.boards.talk import printable

    scene = replace(scene, white=printable(name)).hearing("tactical", words)
    scene = replace(scene, paused=printable(words), ending=printable(name))
    picture = Picture.of(scene, look, AT, note=printable(note))
    lines = printed(picture, columns, rows).split("\n")[:-1]
    assert len(lines) <= rows
    assert all(cell_len(line) <= columns for line in lines)
    assert all(line.isprintable() for line in lines)
    if look.ascii:
        assert all(line.isascii() for line in lines)


def test_the_frame_does_not_move_as_the_match_goes_on():
    """Each drawing has as many lines, of the same width, as the one before."""
    game, current, sizes = Game(), Scene(), set()
    for number in range(30):
        before, move = game.position, game.position.legal_moves()[0]
        san = before.san(move)
        game.play(move)
        reason = "wins the queen, and then some " * (number % 9)
        ply = SeenPly(before.fullmove_number, before.turn, san, move, game.position, reason=reason)
        current = replace(current, position=game.position, plies=(*current.plies, ply))
        talking = current.hearing("tactical", "words " * number * 5)
        for scene in (current, talking):
            sizes.add(tuple(map(len, drawn(scene).splitlines())))
            lines = printed(Picture.of(scene, PLAIN, AT)).splitlines()
            sizes.add((len(lines), *{cell_len(line) for line in lines}))
    assert {size for size in sizes if len(size) == 2} == {(24, 80)}


# --- details ---


def test_the_last_move_and_a_check_are_marked():
    def grounds(*moves):
        shown = Picture.of(scene_of(*moves), Look(letters=True), AT)
        console = Console(force_terminal=True, color_system="truecolor", width=100)
        colors = [str(each.style.bgcolor.name) for each in console.render(shown)
                  if each.style and each.style.bgcolor]  # fmt: skip
        return [colors.count(each) for each in (board._MOVED, board._CHECKED)]

    assert grounds("e4") == [2, 0]
    assert grounds("f3", "e5", "g4", "Qh4") == [2, 1]


def test_in_colour_there_are_pieces():
    assert "♜" in printed(Picture.of(RUY, Look(), AT), color="truecolor")


@pytest.mark.parametrize(
    ("evaluation", "told"),
    [
        (Evaluation(centipawns=35), "+0.35"),
        (Evaluation(centipawns=-1200), "-12.00"),
        (Evaluation(centipawns=0), "+0.00"),
        (Evaluation(mate=3), "#3"),
        (Evaluation(mate=-3), "#-3"),
        (Evaluation(mate=0), "#"),
    ],
)
def test_evaluations(evaluation, told):
    assert score(evaluation) == told


def test_an_evaluation_of_an_earlier_move_says_so():
    first, *others = RUY.plies
    scene = replace(RUY, plies=(replace(first, evaluation=Evaluation(mate=2)), *others))
    assert "Evaluation #2 after 1. e4" in " ".join(drawn(scene).replace("│", " ").split())


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 5, []),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefgh ij", 3, ["abc", "def", "gh", "ij"]),
        ("中文字", 4, ["中文", "字"]),
    ],
)
def test_words_are_wrapped(text, width, lines):
    assert wrapped(text, width) == lines


def test_the_opening_and_moves_of_black_alone_have_their_place():
    plies = [replace(ply, is_opening=True) for ply in RUY.plies]
    black = SeenPly(1, Color.BLACK, "e5", Move.from_uci("e7e5"), RUY.position)
    told = drawn(replace(RUY, plies=(*plies[:1], black)), 50, 20)
    assert "1. e4 e5" in told
    assert "1... e5" in drawn(replace(RUY, plies=(black,)), 50, 20)
