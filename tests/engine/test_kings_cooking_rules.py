"""King's Cooking: the rules, by hand-written tables."""

from __future__ import annotations

from itertools import permutations

import pytest

from engine import (
    Color,
    Game,
    GameOver,
    Illegality,
    IllegalMove,
    Outcome,
    PieceType,
    Position,
    Termination,
)
from tests.support import cooking_oracle as oracle

START = "rnb/3/RNB w - - - - 1"
PIECES = "RNBrnb"
SQUARES = ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]


def position_of(fen: str) -> Position:
    return Position.from_fen(fen, "kings-cooking")


def placed(pieces: dict[str, str], turn: str) -> Position:
    """Return a position with these pieces by their squares.

    Of the others, the mover's were captured and the opponent's have left: had the last of them been
    captured, the game would have ended there.
    """
    board = "".join(pieces.get(square, ".") for square in SQUARES)
    gone = [letter for letter in sorted(PIECES) if letter not in board]
    scored = "".join(letter for letter in gone if side_of(letter) != turn)
    captured = "".join(letter for letter in gone if side_of(letter) == turn)
    return position_of(f"{oracle.line(oracle.Position(board, turn == 'w', scored, captured))} 1")


def side_of(letter: str) -> str:
    return "w" if letter.isupper() else "b"


def moves_from(position: Position, origin: str) -> set[str]:
    names = [move.uci() for move in position.legal_moves()]
    assert len(names) == len(set(names))
    return {name for name in names if name.startswith(origin)}


def refusal(position: Position, move: str) -> Illegality:
    before = position.fen()
    with pytest.raises(IllegalMove) as error:
        position.play(move)
    assert position.fen() == before
    return error.value.reason


# --- the board ---


def test_the_start():
    position = Position.start("kings-cooking")
    assert position.fen() == START
    assert position == position_of(START)
    assert position.variant == "kings-cooking"
    assert position.turn is Color.WHITE
    assert position.outcome() is None
    assert position.piece_at("a1") == (Color.WHITE, PieceType.ROOK)
    assert position.piece_at("b1") == (Color.WHITE, PieceType.KNIGHT)
    assert position.piece_at("c1") == (Color.WHITE, PieceType.BISHOP)
    assert position.piece_at("a3") == (Color.BLACK, PieceType.ROOK)
    assert position.piece_at("b3") == (Color.BLACK, PieceType.KNIGHT)
    assert position.piece_at("c3") == (Color.BLACK, PieceType.BISHOP)
    assert [position.piece_at(square) for square in ("a2", "b2", "c2")] == [None] * 3
    assert {move.uci() for move in position.legal_moves()} == {
        *("a1a2", "a1a3"),
        *("b1a3", "b1c3"),
        *("c1b2", "c1a3"),
    }


def test_the_sides_take_turns_and_blacks_move_ends_a_numbered_move():
    first = Position.start("kings-cooking").play("a1a2")
    assert (first.turn, first.fen()) == (Color.BLACK, "rnb/R2/1NB b - - - - 1")
    second = first.play("c3b2")
    assert (second.turn, second.fen()) == (Color.WHITE, "rn1/Rb1/1NB w - - - - 2")


def test_play_takes_the_moves_it_gave_out():
    position = Position.start("kings-cooking")
    for move in position.legal_moves():
        assert position.play(move) == position.play(move.uci())
    assert position.fen() == START  # a position never changes


# --- moves inside the board, by geometry ---


def reaches(kind: str, origin: str, target: str, occupied: set[str]) -> bool:
    """Return whether a piece gets from one square to another, past the occupied ones."""
    across = abs(ord(origin[0]) - ord(target[0]))
    along = abs(int(origin[1]) - int(target[1]))
    if kind == "N":
        return {across, along} == {1, 2}
    straight = (across == 0) != (along == 0)
    diagonal = across == along != 0
    if not (straight if kind == "R" else diagonal):
        return False
    file = chr((ord(origin[0]) + ord(target[0])) // 2)
    rank = (int(origin[1]) + int(target[1])) // 2
    # Three squares in a line have one between them; neighbours have none.
    return max(across, along) == 1 or f"{file}{rank}" not in occupied


@pytest.mark.parametrize("letter", PIECES)
def test_moves_on_an_empty_board(letter):
    for origin in SQUARES:
        position = placed({origin: letter}, side_of(letter))
        expected = {
            origin + target
            for target in SQUARES
            if origin != target and reaches(letter.upper(), origin, target, set())
        }
        assert moves_from(position, origin) - {f"{origin}off"} == expected


@pytest.mark.parametrize(("letter", "other"), list(permutations(PIECES, 2)))
def test_moves_with_one_other_piece_on_the_board(letter, other):
    own = side_of(letter) == side_of(other)
    for origin, blocker in permutations(SQUARES, 2):
        position = placed({origin: letter, blocker: other}, side_of(letter))
        expected = {
            origin + target
            for target in SQUARES
            if origin != target and reaches(letter.upper(), origin, target, {blocker})
        }
        if own:
            expected -= {origin + blocker}
        assert moves_from(position, origin) - {f"{origin}off"} == expected
        if not own:
            assert moves_from(position, blocker) == set()


# A few by hand, should the geometry above be as wrong as the engine.
BY_HAND = [
    ("R", "a1", "a2 a3 b1 c1"),
    ("r", "b2", "a2 b1 b3 c2"),
    ("N", "a1", "b3 c2"),
    ("n", "c2", "a1 a3"),
    ("N", "b2", ""),
    ("B", "b2", "a1 a3 c1 c3"),
    ("b", "c3", "b2 a1"),
    ("b", "a2", "b1 b3"),
]


@pytest.mark.parametrize(("letter", "origin", "targets"), BY_HAND)
def test_moves_by_hand(letter, origin, targets):
    position = placed({origin: letter}, side_of(letter))
    expected = {origin + target for target in targets.split()}
    assert moves_from(position, origin) - {f"{origin}off"} == expected


# --- leaving the board ---

# From where each piece may leave when it is alone.
LEAVES_FROM = [
    ("R", "a3 b3 c3 a2 b2 c2 a1 b1 c1"),
    ("N", "a3 b3 c3 a2 b2 c2"),  # two rows up is beyond the edge, from all but its own back row
    ("B", "a3 b3 c3"),
    ("r", "a1 b1 c1 a2 b2 c2 a3 b3 c3"),
    ("n", "a1 b1 c1 a2 b2 c2"),
    ("b", "a1 b1 c1"),
]


@pytest.mark.parametrize(("letter", "squares"), LEAVES_FROM)
def test_where_a_lone_piece_may_leave(letter, squares):
    leaving = {
        square
        for square in SQUARES
        if f"{square}off" in moves_from(placed({square: letter}, side_of(letter)), square)
    }
    assert leaving == set(squares.split())


# Which pieces in the way stop a rook on each square.
STOPS_THE_WHITE_ROOK = {
    "a3": "", "a2": "a3", "a1": "a2 a3",
    "b3": "", "b2": "b3", "b1": "b2 b3",
    "c3": "", "c2": "c3", "c1": "c2 c3",
}  # fmt: skip
STOPS_THE_BLACK_ROOK = {
    "a1": "", "a2": "a1", "a3": "a2 a1",
    "b1": "", "b2": "b1", "b3": "b2 b1",
    "c1": "", "c2": "c1", "c3": "c2 c1",
}  # fmt: skip


ROOKS = [("R", STOPS_THE_WHITE_ROOK, other) for other in "NBrnb"]
ROOKS += [("r", STOPS_THE_BLACK_ROOK, other) for other in "RNBnb"]


@pytest.mark.parametrize(("rook", "stopping", "blocker"), ROOKS)
def test_a_rook_leaves_only_when_the_way_is_clear(rook, stopping, blocker):
    for origin, square in permutations(SQUARES, 2):
        position = placed({origin: rook, square: blocker}, side_of(rook))
        may_leave = f"{origin}off" in moves_from(position, origin)
        assert may_leave == (square not in stopping[origin].split()), (origin, square)
        if not may_leave:
            assert refusal(position, f"{origin}off") is Illegality.BLOCKED


@pytest.mark.parametrize("blocker", "Rr")
@pytest.mark.parametrize(("letter", "squares"), [row for row in LEAVES_FROM if row[0] not in "Rr"])
def test_nothing_stands_in_the_way_of_a_knight_or_bishop_that_leaves(letter, squares, blocker):
    for origin, square in permutations(SQUARES, 2):
        position = placed({origin: letter, square: blocker}, side_of(letter))
        may_leave = f"{origin}off" in moves_from(position, origin)
        assert may_leave == (origin in squares.split()), (origin, square)


# A piece that leaves is listed in the opponent's court: Black's holds white pieces.
LEAVING = [
    ("R2/3/3 w b N B rn 4", "a3off", "3/3/3 b b RN B rn 4"),
    ("3/3/R2 w r - NB nb 4", "a1off", "3/3/3 b r R NB nb 4"),
    ("r2/N2/3 w b - RB n 4", "a2off", "r2/3/3 b b N RB n 4"),
    ("r1B/3/3 w n RN - b 4", "c3off", "r2/3/3 b n RNB - b 4"),
    ("3/3/r2 b n N RB b 4", "a1off", "3/3/3 w rn N RB b 5"),
    ("r2/3/2R b - NB - nb 4", "a3off", "3/3/2R w r NB - nb 5"),
    ("3/n2/R2 b b - NB r 4", "a2off", "3/3/R2 w nb - NB r 5"),
    ("3/3/R1b b r NB - n 4", "c1off", "3/3/R2 w rb NB - n 5"),
]


@pytest.mark.parametrize(("before", "move", "after"), LEAVING)
def test_a_piece_that_leaves_is_in_the_opponents_court(before, move, after):
    assert position_of(before).play(move).fen() == after


# In b2 a bishop looks through the corner, but may not go there; in the corner it rests a turn.
BISHOP_STORIES = [
    ("r2/1B1/3 w - - RN nb 1", "b2c3", "a3a2", "c3off", "3/r2/3 b - B RN nb 2"),
    ("2r/1B1/3 w - - RN nb 1", "b2a3", "c3c2", "a3off", "3/2r/3 b - B RN nb 2"),
    ("3/1b1/2R b - - NB rn 1", "b2a1", "c1c2", "a1off", "3/2R/3 w b - NB rn 3"),
    ("3/1b1/R2 b - - NB rn 1", "b2c1", "a1a2", "c1off", "3/R2/3 w b - NB rn 3"),
]


@pytest.mark.parametrize(("fen", "to_the_edge", "answer", "leaves", "after"), BISHOP_STORIES)
def test_a_bishop_goes_to_the_edge_first_and_leaves_next_turn(
    fen, to_the_edge, answer, leaves, after
):
    position = position_of(fen)
    assert "b2off" not in moves_from(position, "b2")
    assert refusal(position, "b2off") is Illegality.MAY_NOT_LEAVE
    position = position.play(to_the_edge)
    assert refusal(position, leaves) is Illegality.WRONG_SIDE
    position = position.play(answer)
    assert leaves in moves_from(position, leaves[:2])
    assert position.play(leaves).fen() == after


@pytest.mark.parametrize(
    ("fen", "off"),
    [
        ("r2/3/2B w - - RN nb 1", "c1off"),  # the whole diagonal is free
        ("3/3/B1r w - - RN nb 1", "a1off"),
        ("2b/3/R2 b - - NB rn 1", "c3off"),
        ("b2/3/R2 b - - NB rn 1", "a3off"),
    ],
)
def test_a_bishop_never_leaves_straight_through(fen, off):
    assert refusal(position_of(fen), off) is Illegality.MAY_NOT_LEAVE


def test_a_bishop_that_captures_on_the_edge_also_waits_a_turn():
    position = Position.start("kings-cooking").play("c1a3")
    assert position.fen() == "Bnb/3/RN1 b - - - r 1"
    assert refusal(position, "a3off") is Illegality.WRONG_SIDE
    assert position.play("c3b2").play("a3off").fen() == "1n1/1b1/RN1 b - B - r 2"


# --- captures ---

CAPTURES = [
    ("a1a3", START, "Rnb/3/1NB b - - - r 1"),
    ("b1a3", START, "Nnb/3/R1B b - - - r 1"),
    ("b1c3", START, "rnN/3/R1B b - - - b 1"),
    ("c1a3", START, "Bnb/3/RN1 b - - - r 1"),
    ("a3a1", "rnb/3/RNB b - - - - 1", "1nb/3/rNB w - - R - 2"),
    ("b3a1", "rnb/3/RNB b - - - - 1", "r1b/3/nNB w - - R - 2"),
    ("b3c1", "rnb/3/RNB b - - - - 1", "r1b/3/RNn w - - B - 2"),
    ("c3a1", "rnb/3/RNB b - - - - 1", "rn1/3/bNB w - - R - 2"),
    # the lists keep the order rook, knight, bishop, whoever comes last
    ("b2b3", "1r1/1R1/3 w - - NB nb 6", "1R1/3/3 b - - NB rnb 6"),
    ("b2b3", "1n1/1R1/3 w r N B b 6", "1R1/3/3 b r N B nb 6"),
    ("b2b1", "3/1r1/1N1 b - - RB nb 6", "3/3/1r1 w - - RNB nb 7"),
    ("b2b1", "3/1r1/1R1 b nb N B - 6", "3/3/1r1 w nb N RB - 7"),
]


@pytest.mark.parametrize(("move", "before", "after"), CAPTURES)
def test_a_captured_piece_scores_for_nobody(move, before, after):
    position = position_of(before).play(move)
    assert position.fen() == after
    assert position.fen().split()[2:4] == before.split()[2:4]  # the courts stay as they were


# --- the end ---

# What the last move brings about. Only what left counts, not what is left.
ENDINGS = [
    # the last piece leaves the board
    ("R2/3/3 w n NB - rb 9", "a3off", Color.WHITE, Termination.EMPTY_BOARD),
    ("R2/3/3 w r - NB nb 9", "a3off", None, Termination.EMPTY_BOARD),
    ("3/N2/3 w rn - RB b 9", "a2off", Color.BLACK, Termination.EMPTY_BOARD),
    ("3/3/2b b rn N RB - 9", "c1off", Color.BLACK, Termination.EMPTY_BOARD),
    ("3/3/r2 b - N RB nb 9", "a1off", None, Termination.EMPTY_BOARD),
    ("3/2n/3 b - RN B rb 9", "c2off", Color.WHITE, Termination.EMPTY_BOARD),
    # White captures the last black piece
    ("R1n/3/3 w - B N rb 9", "a3c3", Color.WHITE, Termination.NO_MOVES),
    ("R1n/3/3 w - - NB rb 9", "a3c3", None, Termination.NO_MOVES),
    ("R1n/3/3 w r B N b 9", "a3c3", None, Termination.NO_MOVES),
    ("R1n/3/3 w r - NB b 9", "a3c3", Color.BLACK, Termination.NO_MOVES),
    # Black captures the last white piece
    ("3/3/r1N b n - RB b 9", "a1c1", Color.BLACK, Termination.NO_MOVES),
    ("3/3/r1N b - - RB nb 9", "a1c1", None, Termination.NO_MOVES),
    ("3/3/r1N b n B R b 9", "a1c1", None, Termination.NO_MOVES),
    ("3/3/r1N b - B R nb 9", "a1c1", Color.WHITE, Termination.NO_MOVES),
    # nobody is left to answer
    ("3/3/r1b b - N RB n 9", "a1off", None, Termination.NO_MOVES),
    ("3/3/r1b b - RN B n 9", "a1off", Color.WHITE, Termination.NO_MOVES),
    ("3/3/r1b b n N RB - 9", "a1off", Color.BLACK, Termination.NO_MOVES),
    ("R2/2N/3 w rn - B b 9", "c2off", Color.BLACK, Termination.NO_MOVES),
    ("R2/2N/3 w r B - nb 9", "a3a2", None, Termination.NO_MOVES),
    ("R2/2N/3 w r B - nb 9", "c2off", Color.WHITE, Termination.NO_MOVES),
]


@pytest.mark.parametrize(("fen", "move", "winner", "termination"), ENDINGS)
def test_endings(fen, move, winner, termination):
    position = position_of(fen)
    assert position.outcome() is None
    last = position.play(move)
    assert last.outcome() == Outcome(winner, termination)
    assert last.legal_moves() == []
    game = Game(position)
    game.play(move)
    assert game.outcome == Outcome(winner, termination)
    assert game.result == {Color.WHITE: "1-0", Color.BLACK: "0-1", None: "1/2-1/2"}[winner]


def test_the_game_goes_on_as_long_as_the_side_to_move_has_a_move():
    position = position_of("R2/3/2b w - N B rn 9").play("a3off")
    assert position.fen() == "3/3/2b b - RN B rn 9"  # White has nothing left, but Black moves
    assert position.outcome() is None
    assert {move.uci() for move in position.legal_moves()} == {"c1b2", "c1a3", "c1off"}
    assert position.play("c1b2").outcome() == Outcome(Color.WHITE, Termination.NO_MOVES)
    assert position.play("c1off").outcome() == Outcome(Color.WHITE, Termination.EMPTY_BOARD)


# Moves up to a position, then a cycle that comes back to it: the third time ends the game.
REPETITIONS = [
    ("", "a1a2 c3b2 a2a1 b2c3", None),
    ("b1c3 b3c1 c3off a3b3", "a1a2 b3c3 a2a1 c3b3", Color.WHITE),
    ("a1a2 b3c1 a2b2 c1off", "b2a2 a3b3 a2b2 b3a3", Color.BLACK),
    ("b1c3 b3c1 c3off c1off", "a1b1 a3b3 b1a1 b3a3", None),  # one each
    # the same board with the other side to move, half-way through, is another position
    (
        "b1c3 b3c1 c3off c1off",
        "a1b1 a3b3 b1c1 b3a3 c1a1 a3b3 a1b1 b3c3 b1a1 c3a3",
        None,
    ),
]


@pytest.mark.parametrize(("opening", "cycle", "winner"), REPETITIONS)
def test_the_third_repetition_ends_the_game_and_the_courts_decide(opening, cycle, winner):
    game = Game(variant="kings-cooking")
    for move in opening.split() + cycle.split() * 2:
        assert game.outcome is None
        game.play(move)
    assert game.outcome == Outcome(winner, Termination.REPETITION)
    assert game.result == {Color.WHITE: "1-0", Color.BLACK: "0-1", None: "1/2-1/2"}[winner]
    assert game.position.outcome() is None  # the position alone is not over
    with pytest.raises(GameOver):
        game.play(cycle.split()[0])
    game.undo()
    assert game.outcome is None
    game.play(cycle.split()[-1])
    assert game.outcome == Outcome(winner, Termination.REPETITION)


# --- refusals ---

NO_ROOKS = "1nb/3/1NB w - - R r 5"
REFUSED = [
    (START, "a3a2", Illegality.WRONG_SIDE),
    (START, "b3c1", Illegality.WRONG_SIDE),
    (START, "a3off", Illegality.WRONG_SIDE),
    (START, "b2b3", Illegality.NO_PIECE),
    (START, "b2off", Illegality.NO_PIECE),
    (START, "a1b1", Illegality.OWN_PIECE),
    (START, "a1b2", Illegality.NOT_HOW_IT_MOVES),
    (START, "b1b2", Illegality.NOT_HOW_IT_MOVES),
    (START, "c1c2", Illegality.NOT_HOW_IT_MOVES),
    (START, "a1off", Illegality.BLOCKED),
    (START, "b1off", Illegality.MAY_NOT_LEAVE),
    (START, "c1off", Illegality.MAY_NOT_LEAVE),
    (START, "Noff", Illegality.MAY_NOT_LEAVE),
    ("rnb/N2/R1B w - - - - 5", "a1a3", Illegality.BLOCKED),
    ("1nb/r2/RNB w - - - - 5", "a1a3", Illegality.BLOCKED),
    ("rnb/N2/R1B w - - - - 5", "a1off", Illegality.BLOCKED),
    ("1nb/r2/RNB w - - - - 5", "a1off", Illegality.BLOCKED),
    ("rnb/1R1/1NB w - - - - 5", "c1a3", Illegality.BLOCKED),
    ("rn1/1b1/RNB w - - - - 5", "c1a3", Illegality.BLOCKED),
    ("rnb/1R1/1NB w - - - - 5", "c1b2", Illegality.OWN_PIECE),
    ("rnb/2N/R1B w - - - - 5", "c2a1", Illegality.OWN_PIECE),
    (NO_ROOKS, "Ra2", Illegality.NO_SUCH_PIECE),
    (NO_ROOKS, "Roff", Illegality.NO_SUCH_PIECE),
]


def seen_from_the_other_side(fen: str, move: str) -> tuple[str, str]:
    """Return the same with rows turned over and colours changed."""
    board, turn, white_court, black_court, captured_white, captured_black, number = fen.split()
    rows = "/".join(reversed(board.split("/"))).swapcase()
    courts = [black_court, white_court, captured_black, captured_white]
    other_turn = "b" if turn == "w" else "w"
    other_fen = " ".join([rows, other_turn, *(court.swapcase() for court in courts), number])
    return other_fen, move.translate(str.maketrans("13", "31"))


@pytest.mark.parametrize(("fen", "move", "reason"), REFUSED)
def test_every_refusal_says_why_to_white(fen, move, reason):
    assert refusal(position_of(fen), move) is reason


@pytest.mark.parametrize(("fen", "move", "reason"), REFUSED)
def test_every_refusal_says_why_to_black(fen, move, reason):
    other_fen, other_move = seen_from_the_other_side(fen, move)
    assert other_fen.split()[1] == "b"
    assert refusal(position_of(other_fen), other_move) is reason


def test_a_refused_move_leaves_the_game_as_it_was():
    game = Game(variant="kings-cooking")
    for _, move, _ in REFUSED[:5]:
        with pytest.raises(IllegalMove):
            game.play(move)
    assert game.position.fen() == START
