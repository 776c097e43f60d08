"""Reading and writing PGN."""

import io
from datetime import timedelta

import pytest

from engine import (
    Color,
    Evaluation,
    Game,
    InvalidPgn,
    Outcome,
    Position,
    Status,
    Termination,
    read_games,
)

ANNOTATED = """\
[Event "A test"]
[Site "Here"]
[Date "2026.01.02"]
[Round "1"]
[White "A \\"Tal\\" fan"]
[Black "Back\\\\slash"]
[Result "1/2-1/2"]
[Annotator "somebody"]

{Before the game} 1. e4 $1 {[%eval 0.25] [%clk 0:05:03.5] best by test} 1... e5
2. f4 $5 (2. Nf3 Nc6 {the usual} (2... d6 3. d4) (2... Nf6) 3. Bb5) ({or} 2. d4)
2... exf4 {[%eval #-12] [%clk 1:00:00]} 3. Nf3 1/2-1/2
"""


def read_one(text):
    (game,) = read_games(text)
    return game


def test_an_annotated_game():
    game = read_one(ANNOTATED)
    assert game.tags["White"] == 'A "Tal" fan'
    assert game.tags["Black"] == "Back\\slash"
    assert game.comment == "Before the game"
    assert [ply.san for ply in game.plies] == ["e4", "e5", "f4", "exf4", "Nf3"]
    first, _, gambit, taken, _ = game.plies
    assert (first.nags, first.comment) == ((1,), "best by test")
    assert first.evaluation == Evaluation(centipawns=25)
    assert first.clock == timedelta(minutes=5, seconds=3.5)
    assert taken.evaluation == Evaluation(mate=-12)
    assert taken.clock == timedelta(hours=1)
    assert gambit.nags == (5,)
    spanish, centre = gambit.variations
    assert [ply.san for ply in spanish.plies] == ["Nf3", "Nc6", "Bb5"]
    assert spanish.plies[1].comment == "the usual"
    assert [[ply.san for ply in line.plies] for line in spanish.plies[1].variations] == [
        ["d6", "d4"],
        ["Nf6"],
    ]
    assert centre.plies[0].comment_before == "or"
    assert game.outcome == Outcome(None, Termination.UNKNOWN)


def test_what_is_written_is_what_was_read():
    assert read_one(ANNOTATED).pgn() == ANNOTATED


def test_a_new_game_has_the_seven_tags():
    game = Game(tags={"White": "kibitz", "Opening": "none"})
    game.play("e4")
    game.resign()
    assert game.pgn() == (
        '[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n[White "kibitz"]\n[Black "?"]\n'
        '[Result "1-0"]\n[Opening "none"]\n\n1. e4 1-0\n'
    )


def test_the_start_is_written_where_it_is_not_the_usual_one():
    game = Game("4k3/8/8/8/8/8/8/4K2R b K - 0 7")
    game.play("Ke7")
    pgn = game.pgn()
    assert '[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/8/4K2R b K - 0 7"]' in pgn
    assert pgn.endswith("\n7... Ke7 *\n")
    assert read_one(pgn).plies[0].after == game.position


def test_chess960_games_go_there_and_back():
    game = Game(Position.start("chess960", 1))
    for move in ("g3", "g6", "b3", "b6"):
        game.play(move)
    again = read_one(game.pgn())
    assert again.variant == "chess960"
    assert again.position == game.position


def test_lines_are_not_longer_than_eighty():
    game = Game(tags={"White": "x"})
    for move in (
        "Nf3 Nf6 Ng1 Ng8 " * 3 + "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3"
    ).split():
        game.play(move)
    assert max(map(len, game.pgn().splitlines())) <= 80


def test_time_control_and_forfeit_are_written():
    game = Game(time_control="60+1")
    game.play("e4", elapsed=timedelta(seconds=1.25))
    game.forfeit_on_time()
    pgn = game.pgn()
    assert '[TimeControl "60+1"]' in pgn
    assert "1. e4 {[%clk 0:00:59.75]}" in pgn
    again = read_one(pgn)
    assert (again.status, again.winner) == (Status.TIME_FORFEIT, Color.WHITE)


def test_nothing_that_a_caller_writes_can_break_the_format():
    game = Game(tags={"White": 'a"b\\c\nd', "Odd name!": "x"})
    game.comment = "closes } early\n\nand goes on"
    game.play("e4")
    again = read_one(game.pgn())
    assert again.tags["White"] == 'a"b\\c d'
    assert again.tags["Odd_name_"] == "x"
    assert again.comment == "closes ) early and goes on"
    assert len(again.plies) == 1


LENIENT = [
    ("1.e4 e5 2.Nf3 Nc6 *", "e4 e5 Nf3 Nc6"),
    ("1. e4 e5\n2. Nf3", "e4 e5 Nf3"),
    ("e4 e5 Nf3", "e4 e5 Nf3"),
    ("1 e4 e5 2 Nf3", "e4 e5 Nf3"),
    ("1. e4! e5?? 2. Nf3!?", "e4 e5 Nf3"),
    ("1. e4 ! e5", "e4 e5"),
    ("1. e4 1... e5 2... Nf3", "e4 e5 Nf3"),
    ("1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0 0-0", "e4 e5 Nf3 Nf6 Bc4 Bc5 O-O O-O"),
    ("1. e4 ; to the end of the line\ne5", "e4 e5"),
    ("%an escape\n1. e4 e5", "e4 e5"),
    ("\ufeff1. e4 e5", "e4 e5"),
    ("1. e4 {an open comment", "e4"),
    ("1. e4 () e5", "e4 e5"),
    ("1. e4 e5 1-0 {after the result}", "e4 e5"),
    ("1. e4 e5 ½-½", "e4 e5"),
    ("1. e4 e6 2. e5 f5 3. exf6 e.p. *", "e4 e6 e5 f5 exf6"),
    ("1. e4 = e5 +/- 2. Nf3 N Nc6 +- *", "e4 e5 Nf3 Nc6"),
    ("  1. e4 e5", "e4 e5"),
    ("1. e4 {50 per cent\n% of it} e5", "e4 e5"),
    ('1. e4 {[Event "no tag"]\n[Site "neither"]} e5', "e4 e5"),
]


@pytest.mark.parametrize(("text", "moves"), LENIENT)
def test_odd_movetext_is_read(text, moves):
    assert " ".join(ply.san for ply in read_one(text).plies) == moves


def test_a_null_move_in_a_variation_is_kept_as_a_remark():
    game = read_one("1. e4 e5 (1... c5 2. -- d6 (2... e6) 3. d4) 2. Nf3 *")
    (line,) = game.plies[1].variations
    assert [ply.san for ply in line.plies] == ["c5"]
    assert line.plies[0].comment == "-- d6 ( e6 ) d4"
    assert [ply.san for ply in game.plies] == ["e4", "e5", "Nf3"]


def test_tags_are_read_as_other_programs_write_them():
    game = read_one('[White "O\'Kelly "de" Galway"]\n[Time-Left "x"] [Odd+Name "y"]\n\n1. e4 *')
    assert game.tags == {"White": 'O\'Kelly "de" Galway', "Time-Left": "x", "Odd+Name": "y"}
    assert read_one(game.pgn()).tags["White"] == 'O\'Kelly "de" Galway'


def test_a_clock_is_not_broken_over_two_lines():
    game = Game()
    for index, move in enumerate(("Nf3", "Nf6", "Ng1", "Ng8") * 3):
        game.play(
            move, clock=timedelta(seconds=10**index % 9999), evaluation=Evaluation(mate=index)
        )
    lines = game.pgn().splitlines()
    assert not [line for line in lines if line.endswith(("[%clk", "[%eval"))]
    assert [ply.clock for ply in read_one(game.pgn()).plies] == [ply.clock for ply in game.plies]


def test_a_comment_that_holds_a_nul_reads_back():
    game = read_one("1. e4 {a\0b [%clk\0\0 0:01:00]} *")
    assert (game.plies[0].comment, game.plies[0].clock) == ("a b", timedelta(minutes=1))
    assert read_one(game.pgn()).plies[0].comment == "a b"


def test_many_comments_and_glyphs_are_joined():
    game = read_one("1. e4 " + "{a}" * 5000 + " $1" * 5000 + " *")
    assert game.plies[0].comment == " ".join("a" * 5000)
    assert game.plies[0].nags == (1,)


def test_promotion_may_be_written_with_brackets():
    game = read_one('[FEN "8/P6k/8/8/8/8/p6K/8 w - - 0 1"]\n\n1. a8(Q) (1. Kg2) a1(N) 2. Qa2 *')
    assert [ply.san for ply in game.plies] == ["a8=Q", "a1=N", "Qa2"]


def test_signs_become_glyphs():
    game = read_one("1. e4 +/= e5 2. Nf3 N *")
    assert [ply.nags for ply in game.plies] == [(14,), (), (146,)]


def test_games_without_tags_follow_each_other():
    games = list(read_games("1. e4 e5 1-0 {well}\n\n1. d4 d5 1/2-1/2\n1. c4 *"))
    assert [game.plies[0].san for game in games] == ["e4", "d4", "c4"]
    assert [game.result for game in games] == ["1-0", "1/2-1/2", "*"]
    assert games[0].plies[-1].comment == "well"


@pytest.mark.parametrize("null", ["--", "Z0", "0000"])
def test_a_variation_that_starts_with_a_null_move_is_a_remark(null):
    game = read_one(f"1. e4 e5 (1... {null} 2. d4 (2. c4)) 2. Nf3 *")
    assert game.plies[1].comment == f"{null} d4 ( c4 )"
    assert game.plies[1].variations == ()
    assert len(game.plies) == 3


def test_a_stale_start_in_the_tags_is_not_written():
    game = Game(tags={"FEN": "8/8/8/8/8/8/8/8 w - - 0 1", "SetUp": "1", "Variant": "Atomic"})
    assert read_one(game.pgn()).start == Position.start()
    assert "FEN" not in game.pgn()


BROKEN = [
    ("1. e4 e4", 1, "illegal"),
    ("1. e4\ne5\nKe3", 3, "illegal"),
    ('[Event "x"]\n\n1. e4\nhello', 4, "cannot be read as a move"),
    ("1. e4 (1. d4", 1, "not closed"),
    ("1. e4 ) e5", 1, "not opened"),
    ("(1. e4)", 1, "before the first move"),
    ("$1 e4", 1, "before the first move"),
    ("1. e4 1-0 e5", 1, "illegal"),  # the first move of a second game
    ('[White "x"] 1. e4 e5 1-0', 1, "not a tag"),
    ("[Event]\n\n1. e4", 1, "not a tag"),
    ('[Event "x"]\n[Bad\n\n1. e4', 2, "not a tag"),
    ('[FEN "nonsense"]\n\n1. e4', 1, "not a FEN"),
    ('[Variant "Atomic"]\n\n1. e4', 1, "not known"),
    ("1. e4 " + "(1. d4 " * 102, 1, "deeper"),
    ("1. e4 -- ", 1, "null move"),
    ("1. e4 0000", 1, "null move"),
    ("1. e4 (1. d4 -- ", 1, "not closed"),
    ("1. e4 $256", 1, "no annotation glyph"),
    ("1. e4 $99999999999", 1, "no annotation glyph"),
]


@pytest.mark.parametrize(("text", "line", "reason"), BROKEN)
def test_a_broken_game_is_refused_with_its_line(text, line, reason):
    with pytest.raises(InvalidPgn, match=reason) as caught:
        list(read_games(text))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"line {line} of the PGN: ")


THREE_GAMES = (
    '[White "one"]\n\n1. e4 1-0\n\n[White "two"]\n\n1. e5 1-0\n\n[White "three"]\n1. d4 *\n'
)


def test_broken_games_can_be_reported_and_passed_over():
    errors = []
    games = list(read_games(THREE_GAMES, on_error=errors.append))
    assert [game.tags["White"] for game in games] == ["one", "three"]
    assert [error.line for error in errors] == [7]


@pytest.mark.parametrize(
    "source",
    [
        THREE_GAMES,
        THREE_GAMES.replace("\n", "\r\n"),
        THREE_GAMES.replace("\n", "\r"),
        THREE_GAMES.encode(),
        io.StringIO(THREE_GAMES),
        io.BytesIO(THREE_GAMES.replace("\n", "\r\n").encode()),
        io.BytesIO(THREE_GAMES.replace("\n", "\r").encode()),
        bytearray(THREE_GAMES.encode()),
        THREE_GAMES.splitlines(),
    ],
    ids=["text", "crlf", "cr", "bytes", "text file", "binary file", "cr file", "array", "lines"],
)
def test_games_come_from_text_bytes_files_and_lines(source):
    games = list(read_games(source, on_error=lambda error: None))
    assert [game.tags["White"] for game in games] == ["one", "three"]


def test_latin_1_is_understood():
    (game,) = read_games('[White "Gr\xfcnfeld"]\n\n1. d4 *'.encode("latin-1"))
    assert game.tags["White"] == "Grünfeld"


@pytest.mark.parametrize("text", ["", "\n\n \n", "%only an escape\n"])
def test_no_games(text):
    assert list(read_games(text)) == []


def test_games_without_moves_are_told_apart():
    text = '[Event "1"]\n[White "x"]\n\n[Event "2"]\n\n[White "still 2"]\n\n[Event "3"]\n\n1. e4'
    games = list(read_games(text))
    assert [game.tags["Event"] for game in games] == ["1", "2", "3"]
    assert games[1].tags["White"] == "still 2"


def test_a_game_may_have_tags_only_or_moves_only():
    assert [len(game.plies) for game in read_games('[White "x"]\n')] == [0]
    assert [len(game.plies) for game in read_games("e4 e5")] == [2]


def test_games_are_read_one_at_a_time():
    lines = iter(THREE_GAMES.splitlines())
    assert next(read_games(lines)).tags["White"] == "one"
    assert next(lines) == ""  # the rest of the file has not been touched


def test_moves_beyond_an_automatic_draw_are_history_all_the_same():
    game = read_one("Nf3 Nf6 Ng1 Ng8 " * 6 + "e4")
    assert len(game.plies) == 25


def test_the_board_decides_before_the_result_tag():
    game = read_one("1. f3 e5 2. g4 Qh4# 1-0")
    assert game.outcome == Outcome(Color.BLACK, Termination.CHECKMATE)
    assert read_one('[Result "0-1"]\n\n1. e4').winner is Color.BLACK
    assert read_one('[Result "*"]\n\n1. e4').outcome is None


@pytest.mark.parametrize("tag", ["-", "--", " ", "Standard", "From Position", "normal"])
def test_a_variant_that_is_chess_by_another_name(tag):
    assert next(read_games(f'[Variant "{tag}"]\n\n1. e4 *')).variant == "standard"


def test_what_was_recorded_stands_even_after_a_fifth_repetition():
    moves = " ".join(["Nf3 Nf6 Ng1 Ng8"] * 4)
    game = next(read_games(f"{moves} 1-0"))
    assert game.repetitions() == 5
    assert game.result == "1-0"


@pytest.mark.parametrize(
    ("outcome", "tag", "read_as"),
    [
        (Outcome(Color.BLACK, Termination.TIME_FORFEIT), "time forfeit", None),
        (Outcome(Color.WHITE, Termination.RULES_INFRACTION), "rules infraction", None),
        (Outcome(Color.WHITE, Termination.ADJUDICATION), "adjudication", None),
        (Outcome(None, Termination.ADJUDICATION), "adjudication", None),
        (Outcome(None, Termination.MAX_PLIES), "adjudication", Termination.ADJUDICATION),
    ],
    ids=lambda value: getattr(value, "termination", None) and f"{value.result} {value.termination}",
)
def test_a_referees_endings_are_told_and_read(outcome, tag, read_as):
    game = Game()
    game.play("e4")
    game.end(outcome)
    text = game.pgn()
    assert f'[Termination "{tag}"]' in text
    (read,) = read_games(text)
    assert read.outcome == Outcome(outcome.winner, read_as or outcome.termination)


def test_a_draw_is_no_infraction():
    (read,) = read_games('[Termination "rules infraction"]\n\n1. e4 1/2-1/2')
    assert read.outcome == Outcome(None, Termination.UNKNOWN)
