"""King's Cooking: notation, one line of text, pictures, and whole games."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import (
    Color,
    Game,
    Illegality,
    IllegalMove,
    IllegalPosition,
    InvalidFen,
    InvalidPgn,
    KingsCookingPosition,
    Move,
    NothingToUndo,
    Position,
    PositionRule,
    Termination,
    UnknownVariant,
    UnreadableMove,
    read_fen,
    read_games,
)

START = "rnb/3/RNB w - - - - 1"
#: White has taken the rook and lost the bishop; it is Black's move.
MIDDLE = "R1b/3/1Nn b - - B r 1"
CHESS_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def position_of(fen: str = START) -> KingsCookingPosition:
    return Position.from_fen(fen, "kings-cooking")


def game_of(moves: str, fen: str | None = None) -> Game:
    game = Game(fen, variant="kings-cooking")
    for move in moves.split():
        game.play(move)
    return game


# --- moves, written and read ---

WRITTEN = [
    (START, "a1a2", "Ra2", "a1-a2"),
    (START, "a1a3", "Rxa3", "a1xa3"),
    (START, "b1c3", "Nxc3", "b1xc3"),
    (START, "c1b2", "Bb2", "c1-b2"),
    ("R1b/3/1Nn w - - B r 2", "a3off", "Roff", "a3-off"),
    (MIDDLE, "c1off", "Noff", "c1-off"),
    (MIDDLE, "c3a1", "Ba1", "c3-a1"),
]


@pytest.mark.parametrize(("fen", "uci", "short", "long"), WRITTEN)
def test_moves_are_written_in_three_ways_and_read_back(fen, uci, short, long):
    position = position_of(fen)
    move = Move.from_uci(uci)
    assert (move.uci(), position.san(move), position.long_algebraic(move)) == (uci, short, long)
    assert position.parse(uci) is position.parse(short) is position.parse(long) is move


READ = [
    (START, "a1a2", ["Ra2", "ra2", "RA2", "R-a2", "R a2", "Ra1a2", "Ra1-a2", "a1-a2", "A1A2",
                     "a1 a2", "♖a2", "1. Ra2", "1.Ra2!?", "**Ra2**", "R1a2", "Raa2", "'a1a2'."]),
    (START, "a1a3", ["Rxa3", "Ra3", "R:a3", "a1xa3", "a1a3", "Ra1xa3", "rxa3", "R×a3"]),
    (START, "c1b2", ["Bb2", "bb2", "BB2", "c1b2", "C1-B2", "Bxb2", "B1b2", "Bcb2", "Bc1b2"]),
    # A capital B is the bishop where it can be, and else the file, as in chess.
    (START, "c1a3", ["B1a3", "B1xa3"]),
    (START, "b1a3", ["b1a3", "b1xa3", "Nb1a3"]),
    (START, "b1c3", ["B1C3", "B1xc3"]),
    ("BR1/3/2r w - - N nb 1", "a3off", ["B3off", "B3-off"]),
    ("BR1/3/2r w - - N nb 1", "b3off", ["b3off", "b3-off"]),
    ("rnb/R2/1NB b - - - - 1", "c3a1", ["B3a1"]),
    ("R1b/3/1Nn w - - B r 2", "a3off",
     ["Roff", "roff", "ROFF", "R-off", "R off", "a3off", "a3-off", "A3 off", "Ra3off", "Ra3-off",
      "2. Roff!"]),
    ("B1b/2r/2n w - N R - 5", "a3off", ["Boff", "boff", "a3-off", "Ba3-off"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fen", "uci", "text"), [(fen, uci, text) for fen, uci, texts in READ for text in texts]
)
def test_moves_are_read_as_people_write_them(fen, uci, text):
    assert position_of(fen).parse(text).uci() == uci


NO_MOVES = ["off", "b2", "e4", "R", "Rx", "R9", "O-O", "a1", "Qa2", "Ka2", "a1a2q", "Rxoff"]


@pytest.mark.parametrize("text", ["", "x" * 99, *NO_MOVES])
def test_what_is_no_move_is_unreadable(text):
    with pytest.raises(UnreadableMove):
        position_of().play(text)


@pytest.mark.parametrize("thing", [None, 7, b"Ra2", ["Ra2"]])
def test_what_is_no_text_is_unreadable(thing):
    position = position_of()
    for ask in (position.play, position.parse, position.san, position.long_algebraic):
        with pytest.raises(UnreadableMove):
            ask(thing)


def test_a_text_is_written_in_another_notation():
    assert (position_of().san("a1a2"), position_of().long_algebraic("Rxa3")) == ("Ra2", "a1xa3")


REFUSED = [
    (Move.from_uci("e2e4"), Illegality.NO_PIECE),
    (Move.from_uci("a1a8"), Illegality.NOT_HOW_IT_MOVES),
    (Move.from_uci("a1a2q"), Illegality.CANNOT_PROMOTE),
    ("e2e4", Illegality.NO_PIECE),
    ("e2off", Illegality.NO_PIECE),
    ("Na1a2", Illegality.NO_SUCH_PIECE),  # a rook stands there
    ("Rb1a3", Illegality.NO_SUCH_PIECE),
    ("Rca2", Illegality.NO_SUCH_PIECE),  # there is a rook, but not on that file
    ("R2a2", Illegality.NO_SUCH_PIECE),
    ("Rb2a2", Illegality.NO_PIECE),
    ("Ra3a2", Illegality.WRONG_SIDE),
    ("Ra3-off", Illegality.WRONG_SIDE),
    ("B2a3", Illegality.NO_SUCH_PIECE),  # neither a bishop there nor anything on b2
]


@pytest.mark.parametrize(("move", "reason"), REFUSED)
def test_what_cannot_be_played_is_refused_with_the_reason(move, reason):
    position = position_of()
    with pytest.raises(IllegalMove) as caught:
        position.play(move)
    assert caught.value.reason is reason
    assert str(caught.value).endswith(f"in {START} is illegal: {reason.value}")
    if isinstance(move, Move):
        assert not position.is_legal(move)


def test_in_chess_no_piece_leaves_the_board():
    for uci in ("a1off", "e1off", "g1off", "a7off", "h8off", "e5off"):
        move = Move.from_uci(uci)
        assert not Position.start().is_legal(move)
        with pytest.raises(IllegalMove):
            Position.start().play(move)
    with pytest.raises(UnreadableMove):
        Position.start().parse("a1off")


def test_a_move_off_the_board_is_a_move_like_any_other():
    move = Move.from_uci("a3off")
    assert move is pickle.loads(pickle.dumps(move))
    assert repr(move) == "Move.from_uci('a3off')"
    for text in ("off", "z9off", "a3offq", "a3of", "offa3"):
        with pytest.raises(UnreadableMove):
            Move.from_uci(text)


# --- one line of text ---


LINES = [
    START,
    MIDDLE,
    "3/3/3 w rnb RNB - - 9",
    "3/1b1/3 b r - RNB n 12",
    "3/3/3 b - - RNB rnb 99999",
]


@pytest.mark.parametrize("fen", LINES)
def test_a_line_reads_back(fen):
    position = position_of(fen)
    assert position.fen() == str(position) == fen
    assert eval(repr(position)) == position
    assert pickle.loads(pickle.dumps(position)) == position
    assert hash(position) == hash(position_of(fen))


def test_counting_stops_at_what_a_line_can_tell():
    position = position_of("rnb/3/RNB b - - - - 99999").play("Ra2")
    assert position_of(position.fen()) == position


def test_fields_missing_at_the_end_get_their_usual_values():
    assert position_of("rnb/3/RNB").fen() == START
    assert position_of(" RNB/3/rnb  b ").fen() == "RNB/3/rnb b - - - - 1"
    assert position_of("3/3/3 w bnr BNR - - 007").fen() == "3/3/3 w rnb RNB - - 7"


def test_the_number_counts_but_not_for_repetition():
    one, two = position_of(START), position_of(START[:-1] + "2")
    assert one != two
    assert one.key() == two.key()
    assert one != Position.start()
    assert Position.start() != one


UNREADABLE = [
    ("", "empty"),
    ("   ", "empty"),
    (CHESS_START, "a chess position cannot be played"),
    ("rnb/3", "2 rows instead of 3"),
    ("rnb/3/RNB/3", "4 rows"),
    ("rnb/4/RNB w - - - - 1", "three squares"),
    ("rnb/2/RNB w - - - - 1", "three squares"),
    ("rnb/.../RNB w - - - - 1", "three squares"),
    ("rnb/1q1/RNB w - - - - 1", "three squares"),
    ("rnb/3/RNB x - - - - 1", "neither w nor b"),
    ("rnb/3/RNB w K - - - 1", "listed by RNB and rnb"),
    ("rnb/3/RNB w - - - - 0", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - 100000", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - 000001", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - " + "0" * 5000 + "1", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - ١", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - -1", "from 1 to 99999"),
    ("rnb/3/RNB w - - - - 1 1", "more than seven fields"),
]


@pytest.mark.parametrize(("fen", "reason"), UNREADABLE)
def test_what_is_no_line_is_refused_in_a_sentence(fen, reason):
    with pytest.raises(InvalidFen, match=reason) as caught:
        position_of(fen)
    assert "is not a FEN of kings-cooking: " in str(caught.value)


ILLEGAL = [
    ("rnb/3/RN1 w - - - - 1", PositionRule.EACH_PIECE_ONCE),
    ("rnb/R2/RNB w - - - - 1", PositionRule.EACH_PIECE_ONCE),
    ("rnb/3/RNB w r - - - 1", PositionRule.EACH_PIECE_ONCE),
    ("rnb/3/1NB w - R R - 1", PositionRule.EACH_PIECE_ONCE),
    ("rnb/3/1NB w R - - - 1", PositionRule.COURTS),
    ("1nb/3/RNB w - r - - 1", PositionRule.COURTS),
    ("1nb/3/RNB w - - r - 1", PositionRule.CAPTURED),
    ("rnb/3/1NB w - - - R 1", PositionRule.CAPTURED),
]


@pytest.mark.parametrize(("fen", "rule"), ILLEGAL)
def test_pieces_that_are_nowhere_or_in_the_wrong_place_are_refused(fen, rule):
    with pytest.raises(IllegalPosition) as caught:
        position_of(fen)
    assert caught.value.rule is rule


def test_chess_and_kings_cooking_are_not_mistaken_for_each_other():
    with pytest.raises(InvalidFen, match="3 ranks instead of 8"):
        Position.from_fen(START)
    with pytest.raises(InvalidFen, match="chess position cannot be played"):
        Position.from_setup(read_fen(CHESS_START), "kings-cooking")
    with pytest.raises(InvalidFen, match="chess position cannot be played"):
        Game(CHESS_START, variant="kings-cooking")
    with pytest.raises(UnknownVariant, match="standard, chess960"):
        type(Position.start()).from_fen(CHESS_START, "kings-cooking")
    with pytest.raises(InvalidFen, match="not text"):
        position_of(None)
    with pytest.raises(UnknownVariant, match="known are kings-cooking"):
        KingsCookingPosition.from_fen(START, "standard")
    with pytest.raises(UnknownVariant, match="known are kings-cooking"):
        KingsCookingPosition.start()
    assert KingsCookingPosition.start("kings-cooking").fen() == START
    with pytest.raises(UnknownVariant, match="'None' is not a variant"):
        type(Position.start()).from_fen(CHESS_START, None)


# --- what it tells of itself ---


def test_courts_captures_and_scores():
    position = game_of("Rxa3 Nxc1 Roff Noff").position
    assert position.fen() == "2b/3/1N1 w n R B r 3"
    assert (position.court(Color.WHITE), position.court(Color.BLACK)) == ("n", "R")
    assert (position.captured(Color.WHITE), position.captured(Color.BLACK)) == ("B", "r")
    assert (position.score(Color.WHITE), position.score("black")) == (1, 1)
    assert position.board() == "..b....N."
    assert position.piece_at("b1") == (Color.WHITE, "n")
    assert position.piece_at("a1") is None
    for square in ("d4", "a4", "zz", 63, 64, -1):
        with pytest.raises(ValueError, match="a1 to c3"):
            position.piece_at(square)
    assert not position.is_check()


def test_time_runs_out_for_nothing_against_who_can_no_longer_win():
    game = Game("1N1/3/n2 b - - RB rb 9", variant="kings-cooking", time_control="60")
    assert game.forfeit_on_time().winner is Color.WHITE
    for fen in ("1N1/3/n2 b rb - RB - 9", "1N1/3/n2 b r - RB b 9"):  # at most as many each
        game = Game(fen, variant="kings-cooking", time_control="60")
        assert game.forfeit_on_time().winner is None
        assert "cannot win" in game.describe()


# --- pictures ---


def test_text():
    position = position_of("2b/3/1N1 w n R B r 3")
    assert position.text() == (
        "Black's court: R, captured: B\n"
        "3 . . b\n"
        "2 . . .\n"
        "1 . N .\n"
        "  a b c\n"
        "White's court: n, captured: r"
    )
    assert position.text(perspective=Color.BLACK, figurines=True, coordinates=False) == (
        "White's court: ♞, captured: ♜\n. ♘ .\n. . .\n♝ . .\nBlack's court: ♖, captured: ♗"
    )


def test_svg():
    svg = position_of("2b/3/1N1 w n R B r 3").svg(last_move=Move.from_uci("c1off"), size=150)
    root = ElementTree.fromstring(svg)
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert tags.count("g") == 6  # pieces, wherever they are
    assert tags.count("rect") == 9 + 1 + 2  # squares, where the last move came from, courts
    assert tags.count("text") == 6
    assert root.get("width") == "150"
    width, height = map(int, root.get("viewBox").split()[2:])
    assert height > width  # the courts lie beyond the edges
    titles = {element.text for element in root.iter() if element.tag.endswith("title")}
    assert titles == {
        "2b/3/1N1 w n R B r 3",
        "white knight b1",
        "black bishop c3",
        "white rook scored in Black's court",
        "white bishop captured, in Black's court",
        "black knight scored in White's court",
        "black rook captured, in White's court",
    }


# --- games ---


def test_history_with_times_and_undo():
    noon = datetime(2026, 11, 16, 13, 0, 0, 250, tzinfo=timezone(timedelta(hours=1)))
    game = Game(variant="kings-cooking")
    game.play("Rxa3", played_at=noon, elapsed=timedelta(seconds=3), source="human")
    game.play("Nxc1", played_at=noon + timedelta(seconds=9))
    first, second = game.plies
    assert first.played_at == noon
    assert first.played_at.tzinfo is UTC
    assert (first.elapsed, first.source) == (timedelta(seconds=3), "human")
    assert second.played_at - first.played_at == timedelta(seconds=9)
    assert second.elapsed is None
    assert game.undo().uci() == "b3c1"
    assert game.position.fen() == "Rnb/3/1NB b - - - r 1"
    assert [ply.san for ply in game.plies] == ["Rxa3"]
    game.undo()
    assert game.position.fen() == START
    with pytest.raises(NothingToUndo):
        game.undo()
    for no_time in (datetime(2026, 11, 16), "noon"):
        with pytest.raises(ValueError, match="knows its zone"):
            game.play("Rxa3", played_at=no_time)
    with pytest.raises(ValueError, match="out of all times"):
        game.play("Rxa3", played_at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))))
    assert game.plies == ()


def test_undo_takes_back_a_repetition():
    game = game_of("Ra2 Bb2 Ra1 Bc3 Ra2 Bb2 Ra1 Bc3")
    assert game.outcome.termination is Termination.REPETITION
    assert game.repetitions() == 3
    game.undo()
    assert game.outcome is None
    game.play("Bxa1")
    assert game.outcome is None
    assert game.claimable_draws() == game.claiming_moves() == []


def test_a_game_reads_back_from_pgn_with_comments_and_variations():
    pgn = """[Variant "kings cooking"]

    {a start} 1. Rxa3 $1 {takes} (1. Bb2 Bxb2 (1... Na1) 2. Nc3) 1... Nxc1 2. Roff Noff 1/2-1/2"""
    game = next(read_games(pgn))
    assert game.variant == "kings-cooking"
    assert [ply.san for ply in game.plies] == ["Rxa3", "Nxc1", "Roff", "Noff"]
    assert (game.comment, game.plies[0].nags, game.plies[0].comment) == ("a start", (1,), "takes")
    assert [ply.san for ply in game.plies[0].variations[0].plies] == ["Bb2", "Bxb2", "Nc3"]
    assert game.result == "1/2-1/2"
    again = next(read_games(game.pgn()))
    assert again.pgn() == game.pgn()
    assert '[Variant "King\'s Cooking"]' in game.pgn()
    for spoiled, reason in (("1. Rxa3 (1. Ra2", "not closed"), ("1. Roff *", "in the way")):
        with pytest.raises(InvalidPgn, match=reason):
            next(read_games(f'[Variant "King\'s Cooking"]\n\n{spoiled}'))
    unfinished = next(read_games('[Variant "King\'s Cooking"]\n\n1. Rxa3 Nxc1'))
    assert (len(unfinished.plies), unfinished.result) == (2, "*")
    repeated = game_of("Ra2 Bb2 Ra1 Bc3 Ra2 Bb2 Ra1 Bc3")
    assert next(read_games(repeated.pgn())).outcome == repeated.outcome


@given(st.data())
def test_any_game_ends_and_every_ply_of_it_holds_together(data):
    game = Game(variant="kings-cooking")
    fens = []
    while not game.is_over:
        position = game.position
        fens.append(position.fen())
        assert position.can_move()
        assert position_of(position.fen()) == position
        assert pickle.loads(pickle.dumps(position)) == position
        places = position.board().replace(".", "")
        for color in Color:
            places += position.court(color) + position.captured(color)
        assert sorted(places) == sorted("RNBrnb")
        moves = sorted(position.legal_moves(), key=Move.uci)
        game.play(data.draw(st.sampled_from(moves)))
    scores = [game.position.score(color) for color in Color]
    assert (game.winner is None) == (scores[0] == scores[1])
    if game.winner is not None:
        assert game.position.score(game.winner) == max(scores)
    while fens:
        game.undo()
        assert game.position.fen() == fens.pop()
        assert not game.is_over
