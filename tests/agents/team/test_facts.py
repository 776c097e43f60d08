"""What the rules tell of a position: by hand in tables, and as python-chess sees random games."""

from __future__ import annotations

from random import Random

import chess
import pytest

from agents.errors import CannotPlayVariant
from agents.team import chess_facts
from agents.team.chess_facts import ChessFacts, PlacedPiece
from agents.team.facts import facts_of
from engine import Color, Move, PieceType, Position, exchange_value
from engine.squares import SQUARE_NAMES, SQUARE_OF_NAME
from tests.support.random_games import KINDS, Kind

#: Each kind of game is played until so many positions were compared.
POSITIONS_EACH = 25
NUMBERS = (
    "- Numbers below: pawns that the mover wins (+) or loses (-)"
    " if both go on taking on that square."
)

WORDS = {
    "nothing to say": (
        Position.start().fen(),
        [
            "- Nothing forcing: no check, capture, promotion, threat, pin or passed pawn;"
            " material even."
        ],
    ),
    "only that material is not even": (
        "6k1/4p3/8/8/8/8/4P3/1N4K1 w - -",
        ["- Material: White is ahead by 3.2 (a knight more)."],
    ),
    "a mate, and what hangs": (
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
        [
            "- White has mate in one: Qxf7# (h5f7).",
            NUMBERS,
            "- Checks by White: Bxf7+ (c4f7) +1.0; Qxf7# (h5f7) +1.0; Qxe5+ (h5e5) -8.0.",
            "- Captures by White: Bxf7+ (c4f7) +1.0; Qxf7# (h5f7) +1.0; Qxe5+ (h5e5) -8.0;"
            " Qxh7 (h5h7) -8.0.",
            "- Black threatens, were it to move: Nxh5 (f6h5) +9.0; Nxe4 (f6e4) +1.0.",
            "- Black can lose: pawn f7 (1.0).",
            "- White can lose: queen h5 (9.0); pawn e4 (1.0).",
            "- Pins: black pawn f7 is pinned to its king e8 by the queen h5.",
            "- Material: even.",
        ],
    ),
    "a mate that threatens": (
        "6k1/5ppp/8/8/8/8/r4PPP/6K1 w - -",
        [
            "- Black threatens mate in one: Ra1# (a2a1).",
            "- Material: Black is ahead by 5.0 (a rook more).",
        ],
    ),
    "in check, with nothing said of threats": (
        "4k3/8/8/8/1b6/8/8/R3K2r w - -",
        [
            "- White is in check from the black rook h1 and the black bishop b4.",
            "- Material: Black is ahead by 3.3 (a bishop more).",
        ],
    ),
    "one legal move": (
        "k7/8/8/8/8/8/1r6/K7 w - -",
        [
            "- The only legal move: Kxb2 (a1b2).",
            NUMBERS,
            "- Captures by White: Kxb2 (a1b2) +5.0.",
            "- Black can lose: rook b2 (5.0).",
            "- Material: Black is ahead by 5.0 (a rook more).",
        ],
    ),
    "pawns that promote": (
        "1n6/P6k/8/8/8/8/6p1/4K3 w - -",
        [
            NUMBERS,
            "- Captures by White: axb8=Q (a7b8q) +11.2.",
            "- Promotions by White: a8=Q (a7a8q) +8.0.",
            "- Black threatens, were it to move: g1=Q+ (g2g1q) +8.0.",
            "- Black can lose: knight b8 (3.2).",
            "- Passed pawns of White: a7 (1 step from promotion).",
            "- Passed pawns of Black: g2 (1 step from promotion).",
            "- Material: Black is ahead by 3.2 (a knight more).",
        ],
    ),
    "a stalemate to be avoided": (
        "7k/8/5K2/8/8/8/8/6Q1 w - -",
        [
            "- White has mate in one: Qg7# (g1g7).",
            "- Stalemate at once, a draw: Qg6 (g1g6).",
            NUMBERS,
            "- Checks by White: Qg7# (g1g7) even; Qh1+ (g1h1) even; Qh2+ (g1h2) even;"
            " Qg8+ (g1g8) -9.0.",
            "- Material: White is ahead by 9.0 (a queen more).",
        ],
    ),
    "en passant, and a piece for pawns": (
        "4k3/8/8/2ppP3/8/8/8/4KN2 w - d6",
        [
            NUMBERS,
            "- Captures by White: exd6 (e5d6) +1.0.",
            "- Black can lose: pawn d5 (1.0).",
            "- Passed pawns of White: e5 (3 steps from promotion).",
            "- Passed pawns of Black: c5 (4 steps from promotion).",
            "- Material: White is ahead by 2.2 (a knight against a pawn).",
        ],
    ),
    "en passant is not the opponent's": (
        "6k1/2p1p3/8/3pP3/8/8/8/4K3 w - d6",
        [
            NUMBERS,
            "- Captures by White: exd6 (e5d6) even.",
            "- Passed pawns of Black: c7 (6 steps from promotion).",
            "- Material: Black is ahead by 2.0 (two pawns more).",
        ],
    ),
    "more of several kinds": (
        "1nbqk3/8/8/8/8/8/8/R3K2R w KQ -",
        [
            NUMBERS,
            "- Checks by White: Rh8+ (h1h8) even.",
            "- Material: Black is ahead by 5.5 (a queen, a bishop and a knight against two rooks).",
        ],
    ),
    "the game is over": (
        "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
        ["- The game is over: Black wins by checkmate."],
    ),
    "drawn, though moves are left": (
        "4k3/8/8/8/8/8/8/4KB2 w - -",
        ["- The game is over: draw: neither side can checkmate."],
    ),
}


@pytest.mark.parametrize(("fen", "lines"), WORDS.values(), ids=WORDS)
def test_words(fen: str, lines: list[str]):
    assert facts_of(Position.from_fen(fen)).text().splitlines() == lines


# --- the values behind the words ---

TURNED = str.maketrans("12345678", "87654321")
TACTICS = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"


def chess_facts_of(fen: str, variant: str = "standard") -> ChessFacts:
    facts = facts_of(Position.from_fen(fen, variant))
    assert isinstance(facts, ChessFacts)
    return facts


def rated(moves: tuple[chess_facts.RatedByExchange, ...]) -> list[tuple[str, int]]:
    return [(each.written.move.uci(), each.value) for each in moves]


def test_values():
    facts = chess_facts_of(TACTICS)
    assert (facts.turn, facts.choices, facts.only_move) == (Color.WHITE, 48, None)
    assert rated(facts.captures) == [
        ("e2a6", 330), ("g2h3", 100), ("d5e6", 0), ("e5d7", -220), ("e5f7", -220),
        ("e5g6", -220), ("f3h3", -300), ("f3f6", -580),
    ]  # fmt: skip
    assert rated(facts.threats) == [("b4c3", 220)]
    assert [(each.placed, each.value) for each in facts.hanging] == [
        (PlacedPiece(Color.BLACK, PieceType.BISHOP, SQUARE_OF_NAME["a6"]), 330),
        (PlacedPiece(Color.BLACK, PieceType.PAWN, SQUARE_OF_NAME["h3"]), 100),
        (PlacedPiece(Color.WHITE, PieceType.KNIGHT, SQUARE_OF_NAME["c3"]), 220),
    ]
    assert facts.material == chess_facts.Material((1, 2, 2, 2, 8), (1, 2, 2, 2, 8))


def test_chess960_has_the_same_facts():
    assert chess_facts_of(TACTICS, "chess960") == chess_facts_of(TACTICS)


@pytest.mark.parametrize(
    ("white", "black", "balance", "words"),
    [
        ((1, 2, 2, 2, 8), (1, 2, 2, 2, 8), 0, "even"),
        ((1, 0, 0, 0, 2), (0, 2, 0, 0, 1), 0, "even (a queen and a pawn against two rooks)"),
        ((0, 0, 0, 3, 0), (0, 0, 0, 0, 0), 960, "White is ahead by 9.6 (three knights more)"),
        ((0, 1, 0, 0, 2), (0, 1, 1, 0, 0), -130,
         "Black is ahead by 1.3 (a bishop against two pawns)"),
        ((10, 0, 0, 0, 0), (0, 0, 0, 12, 0), 5160,
         "White is ahead by 51.6 (ten queens against 12 knights)"),
    ],
)  # fmt: skip
def test_material(white: tuple[int, ...], black: tuple[int, ...], balance: int, words: str):
    material = chess_facts.Material(white, black)
    assert (material.balance, str(material)) == (balance, words)


@pytest.mark.parametrize(
    ("fen", "passed"),
    [
        ("k7/8/8/3pP3/8/8/8/K6B w - d6 0 1", ["e5"]),
        ("k7/8/8/3pP3/8/8/8/K6B w - - 0 1", ["e5", "d5"]),
        ("k6b/8/8/8/3Pp3/8/8/K7 b - d3 0 1", ["e4"]),
        # Both pawns would leave the rank, and the king would be in check: it cannot be taken.
        ("8/8/8/K2pP2r/8/8/8/7k w - d6 0 1", ["e5", "d5"]),
    ],
)
def test_a_pawn_that_can_be_taken_en_passant_has_not_passed(fen: str, passed: list[str]):
    assert [SQUARE_NAMES[pawn.square] for pawn in chess_facts_of(fen).passed_pawns] == passed


def test_a_board_full_of_one_kind_has_facts():
    facts = chess_facts_of("4k3/8/8/8/8/8/NNNNNNNN/NNNNK3 w - - 0 1")
    assert "White is ahead by 38.4 (12 knights more)" in facts.text()


def test_both_sides_have_the_same_facts():
    facts, mirrored = (
        chess_facts_of(board.fen())
        for board in (chess.Board(TACTICS + " 0 1"), chess.Board(TACTICS + " 0 1").mirror())
    )
    for one, other in (
        (facts.captures, mirrored.captures),
        (facts.threats, mirrored.threats),
        (facts.checks, mirrored.checks),
    ):
        assert rated(one) == [(uci.translate(TURNED), value) for uci, value in rated(other)]


def test_an_unknown_variant_is_refused():
    class Draughts(Position):
        variant = "draughts"

    with pytest.raises(CannotPlayVariant, match="draughts") as refusal:
        facts_of(Draughts())
    assert "draughts" not in refusal.value.plays


# --- as python-chess sees it ---


@pytest.mark.parametrize("name", KINDS)
def test_random_games(name: str):
    kind, rng = KINDS[name], Random(f"facts {name}")
    compared = 0
    while compared < POSITIONS_EACH:
        compared += compare_game(kind, rng, POSITIONS_EACH - compared)


def compare_game(kind: Kind, rng: Random, positions: int) -> int:
    """Compare positions of a random game; return how many."""
    board = kind.deal(rng)
    for compared in range(positions):
        if not any(board.legal_moves):
            return compared
        position = Position.from_fen(board.fen(en_passant="fen"), kind.variant)
        try:
            compare_facts(board, position)
        except AssertionError as error:
            error.add_note(board.fen())
            raise
        for _ in range(rng.randrange(1, 6)):
            if moves := list(board.legal_moves):
                board.push(kind.taste.choose(board, moves, rng))
    return positions


def compare_facts(board: chess.Board, position: Position) -> None:
    facts = facts_of(position)
    assert isinstance(facts, ChessFacts)
    assert {each.square for each in facts.checkers} == set(board.checkers())
    assert facts.choices == board.legal_moves.count()
    assert ucis(facts.mates) == moves_with(board, chess.Board.is_checkmate)
    assert ucis(facts.stalemates) == moves_with(board, chess.Board.is_stalemate)
    assert ucis(each.written for each in facts.checks) == moves_with(board, chess.Board.is_check)
    captures = {
        move.uci()
        for move in board.legal_moves
        if board.is_capture(move) and move.promotion in (None, chess.QUEEN)
    }
    assert ucis(each.written for each in facts.captures) == captures
    for each in facts.captures + facts.checks + facts.promotions:
        assert each.value == exchange_value(position, each.written.move)
        assert each.written.san == board.san(chess.Move.from_uci(each.written.move.uci()))
    promotions = {move.uci() for move in board.legal_moves if move.promotion == chess.QUEEN}
    assert ucis(each.written for each in facts.promotions) == promotions - captures
    values = [each.value for each in facts.captures]
    assert values == sorted(values, reverse=True)
    compare_threats(board, facts)
    compare_pins(board, facts)
    compare_passed_pawns(board, facts)
    compare_material(board, facts)


def compare_threats(board: chess.Board, facts: ChessFacts) -> None:
    if board.is_check():
        assert facts.threatened_mates == facts.threats == ()
        return
    board.push(chess.Move.null())
    passed = Position.from_fen(board.fen(en_passant="fen"), variant_of(board))
    gains = {
        move.uci(): value
        for move in board.legal_moves
        if (board.is_capture(move) or move.promotion) and move.promotion in (None, chess.QUEEN)
        and (value := exchange_value(passed, Move.from_uci(move.uci()))) > 0
    }  # fmt: skip
    mates = moves_with(board, chess.Board.is_checkmate)
    assert dict(rated(facts.threats)) == gains
    assert ucis(facts.threatened_mates) == mates
    taken = {Move.from_uci(uci).to_square for uci in gains if board.is_capture(move_of(uci))}
    board.pop()
    lost = {each.placed.square for each in facts.hanging if each.placed.color is facts.turn}
    assert lost == taken
    won = {
        victim_of(board, move_of(uci)): value
        for uci, value in reversed(rated(facts.captures))
        if value > 0
    }
    hanging = {
        each.placed.square: each.value
        for each in facts.hanging
        if each.placed.color is not facts.turn
    }
    assert hanging.keys() == won.keys()
    for square, value in hanging.items():
        assert value <= won[square]
        piece = board.piece_at(square)
        assert piece is not None
        assert piece.color != board.turn


def compare_pins(board: chess.Board, facts: ChessFacts) -> None:
    pinned = {
        square
        for square in chess.SquareSet(board.occupied)
        if board.is_pinned(board.color_at(square), square)
        and board.piece_type_at(square) != chess.KING
    }
    assert {pin.pinned.square for pin in facts.pins} == pinned
    for pin in facts.pins:
        color = pin.pinned.color is Color.WHITE
        assert board.king(color) == pin.king
        assert str(board.piece_at(pin.pinned.square)).lower() == pin.pinned.piece
        assert str(board.piece_at(pin.pinner.square)).lower() == pin.pinner.piece
        # Without it the pinner would give check.
        there = board.remove_piece_at(pin.pinned.square)
        assert pin.pinner.square in board.attackers(not color, pin.king)
        board.set_piece_at(pin.pinned.square, there)


def compare_passed_pawns(board: chess.Board, facts: ChessFacts) -> None:
    passed = set()
    taken = {victim_of(board, move) for move in board.legal_moves if board.is_en_passant(move)}
    for square in set(chess.SquareSet(board.pawns)) - taken:
        color = board.color_at(square)
        file, rank = chess.square_file(square), chess.square_rank(square)
        ahead = range(rank + 1, 8) if color else range(rank)
        if not any(
            board.piece_at(chess.square(each, step)) == chess.Piece(chess.PAWN, not color)
            for each in range(max(0, file - 1), min(8, file + 2))
            for step in ahead
        ):
            passed.add((square, color, len(ahead)))
    assert passed == {
        (pawn.square, pawn.color is Color.WHITE, pawn.steps) for pawn in facts.passed_pawns
    }


def compare_material(board: chess.Board, facts: ChessFacts) -> None:
    kinds = (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN)
    for color, counts in ((True, facts.material.white), (False, facts.material.black)):
        assert counts == tuple(len(board.pieces(kind, color)) for kind in kinds)


def moves_with(board: chess.Board, holds: object) -> set[str]:
    """Return the legal moves after which something holds."""
    found = set()
    for move in list(board.legal_moves):
        board.push(move)
        if holds(board):
            found.add(move.uci())
        board.pop()
    return found


def ucis(moves: object) -> set[str]:
    return {each.move.uci() for each in moves}


def move_of(uci: str) -> chess.Move:
    return chess.Move.from_uci(uci)


def variant_of(board: chess.Board) -> str:
    return "chess960" if board.chess960 else "standard"


def victim_of(board: chess.Board, move: chess.Move) -> chess.Square:
    """Return where the piece stands that a capture takes."""
    if board.is_en_passant(move):
        return move.to_square + (-8 if board.turn else 8)
    return move.to_square
