"""The engine agrees with python-chess, in random games of every kind.

With KIBITZ_FUZZ_SECONDS set there is one test more, which plays fresh games for that long. A
failure names the seed of its game: add it to `REGRESSIONS`.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable, Hashable, Sequence
from datetime import timedelta
from random import Random, SystemRandom

import chess
import chess.engine
import chess.pgn
import pytest

from engine import (
    Color,
    Evaluation,
    Game,
    GameOver,
    IllegalPosition,
    Line,
    Move,
    Outcome,
    PieceType,
    Ply,
    Position,
    PositionRule,
    Termination,
    read_games,
)
from tests.support.random_games import KINDS, Kind, random_moves, scattered

#: Each kind of game is played with so many seeds, each until so many positions were compared.
SEEDS, POSITIONS_EACH = 2, 920
assert len(KINDS) * SEEDS * POSITIONS_EACH >= 20_000
#: Kinds and seeds of games that once went wrong.
REGRESSIONS: tuple[tuple[str, str], ...] = ()

COLORS = ((Color.WHITE, chess.WHITE), (Color.BLACK, chess.BLACK))
PROMOTIONS = (None, PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP, PieceType.KNIGHT)
EVERY_MOVE = [
    Move(origin, target, promotion)
    for origin in range(64)
    for target in range(64)
    for promotion in PROMOTIONS
    if origin != target
]


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize(
    ("name", "seed"),
    [(name, f"{name} {number}") for number in range(SEEDS) for name in KINDS] + list(REGRESSIONS),
)
def test_random_games(name: str, seed: str):
    assert compare_games(KINDS[name], seed, POSITIONS_EACH) == POSITIONS_EACH


def can_castle(board: chess.Board) -> bool:
    return any(board.is_castling(move) for move in board.legal_moves)


def can_promote(board: chess.Board) -> bool:
    return any(move.promotion for move in board.legal_moves)


def has_rook_named_by_file(board: chess.Board) -> bool:
    return not set(board.castling_xfen()) <= set("KQkq-")


def has_pinned_en_passant(board: chess.Board) -> bool:
    return board.has_pseudo_legal_en_passant() and not board.has_legal_en_passant()


def has_move_named_by_square(board: chess.Board) -> bool:
    sans = map(board.san, board.legal_moves)
    return any(re.match("[QRBN][a-h][1-8]x?[a-h][1-8]", san) for san in sans)


def is_double_check(board: chess.Board) -> bool:
    return len(board.checkers()) == 2


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize(
    ("name", "is_shown"),
    [
        ("castling", can_castle),
        ("castling chess960", has_rook_named_by_file),
        ("en passant", chess.Board.has_legal_en_passant),
        ("en passant", has_pinned_en_passant),
        ("promotions", can_promote),
        ("many of a kind", has_move_named_by_square),
        ("checks", is_double_check),
        ("endgames", chess.Board.is_insufficient_material),
        ("endgames", chess.Board.is_seventyfive_moves),
        ("mates and stalemates", chess.Board.is_checkmate),
        ("mates and stalemates", chess.Board.is_stalemate),
        ("shuffles", chess.Board.is_fivefold_repetition),
        ("shuffles", chess.Board.is_fifty_moves),
    ],
)
def test_games_of_a_kind_show_what_it_is_for(name: str, is_shown: Callable[[chess.Board], bool]):
    rng = Random(name)
    kind = KINDS[name]
    for _ in range(100):
        board = kind.deal(rng)
        for move in [None, *random_moves(kind, board.copy(), rng, kind.plies)]:
            if move is not None:
                board.push(move)
            if is_shown(board):
                return
    pytest.fail("a hundred games do not show it")


@pytest.mark.usefixtures("without_coverage")
@pytest.mark.parametrize("name", KINDS)
def test_undo_in_random_games(name: str):
    for number in range(4):
        compare_undo(KINDS[name], f"undo {name} {number}")


@pytest.mark.parametrize("name", KINDS)
def test_pgn_of_random_games(name: str):
    for number in range(6):
        compare_pgn(KINDS[name], f"pgn {name} {number}")


def test_a_comment_may_begin_with_a_brace():
    game = chess.pgn.Game()
    game.add_variation(chess.Move.from_uci("e2e4"), comment="{ brace")
    [read] = read_games(str(game))
    [again] = read_games(read.pgn())
    assert read.plies[0].comment == again.plies[0].comment == "{ brace"


@pytest.mark.parametrize("number", range(5))
def test_setups_are_refused_for_the_reasons_the_oracle_has(number: int):
    compare_setups(f"setups {number}", 400)


@pytest.mark.usefixtures("without_coverage")
def test_all_starts_of_chess960():
    for number in range(960):
        board = chess.Board.from_chess960_pos(number)
        assert Position.start("chess960", number).fen() == board.fen()


if "KIBITZ_FUZZ_SECONDS" in os.environ:

    def test_long_run():
        deadline = time.monotonic() + float(os.environ["KIBITZ_FUZZ_SECONDS"])
        fresh = SystemRandom()
        positions = 0
        while time.monotonic() < deadline:
            kind = KINDS[fresh.choice(list(KINDS))]
            seed = f"{fresh.getrandbits(64):016x}"
            positions += compare_games(kind, seed, kind.plies)
            compare_undo(kind, seed)
            compare_pgn(kind, seed)
            compare_setups(seed, 10)
        print(f"{positions} positions agree with python-chess")


# --- whole games ---


def noting_the_seed(compare: Callable[..., int | None]) -> Callable[..., int | None]:
    """Let a failure tell from which seed it comes."""

    def compare_or_tell(*args: object) -> int | None:
        try:
            return compare(*args)
        except BaseException as error:
            names = [name for name, kind in KINDS.items() if kind in args]
            seed = next(arg for arg in args if isinstance(arg, str))
            error.add_note(f"{compare.__name__} {names}, seed {seed!r}")
            raise

    return compare_or_tell


@noting_the_seed
def compare_games(kind: Kind, seed: str, positions: int) -> int:
    """Compare at every position of random games, until so many were compared."""
    rng = Random(seed)
    compared = 0
    while compared < positions:
        board = kind.deal(rng)
        game = game_of(board, kind)
        keys: dict[Hashable, Hashable] = {}
        for _ in range(kind.plies):
            moves = list(board.legal_moves)
            compare_position(board, moves, game.position, rng)
            compare_endings(board, game)
            # The same key exactly where the oracle has the same: one to one.
            assert keys.setdefault(game.position.key(), key_of(board)) == key_of(board)
            compared += 1
            if game.is_over:
                for over in moves[:1]:
                    with pytest.raises(GameOver):
                        game.play(Move.from_uci(over.uci()))
            if compared == positions or game.is_over:
                break
            compare_intended(board, game, rng.choice(moves))
            move = kind.taste.choose(board, moves, rng)
            board.push(move)
            game.play(Move.from_uci(move.uci()))
        assert len(set(keys.values())) == len(keys)
    return compared


def game_of(board: chess.Board, kind: Kind) -> Game:
    return Game(board.fen(en_passant="fen"), variant=kind.variant)


def key_of(board: chess.Board) -> Hashable:
    return board._transposition_key()


@noting_the_seed
def compare_undo(kind: Kind, seed: str) -> None:
    """Take moves back and play others; what is known of every position must stay the same."""
    rng = Random(seed)
    board = kind.deal(rng)
    game = game_of(board, kind)
    known = [facts_of(game)]
    for _ in range(60):
        if rng.random() < 0.2:
            for _ in range(rng.randrange(len(board.move_stack) + 1)):
                assert game.undo().uci() == board.pop().uci()
                known.pop()
                if rng.random() < 0.5:  # counting at every step would hide a stale count
                    assert facts_of(game) == known[-1]
                    compare_endings(board, game)
        for _ in range(rng.randrange(12)):
            if game.is_over:
                break
            move = kind.taste.choose(board, list(board.legal_moves), rng)
            board.push(move)
            game.play(move.uci())
            if rng.random() < 0.5:
                compare_endings(board, game)
            known.append(facts_of(game) if rng.random() < 0.5 else facts_of(replayed(game)))
    while len(known) > 1:
        assert facts_of(game) == known.pop()
        game.undo()
    assert facts_of(game) == known.pop()
    assert game.plies == ()


def facts_of(game: Game) -> tuple[object, ...]:
    return game.position, game.repetitions(), game.outcome, game.claimable_draws(), len(game.plies)


def replayed(game: Game) -> Game:
    """Return a new game with the same moves."""
    again = Game(game.start)
    for ply in game.plies:
        again.play(ply.move)
    return again


# --- one position ---


def compare_position(
    board: chess.Board, moves: Sequence[chess.Move], position: Position, rng: Random
) -> None:
    """Compare what a position is, its moves, and how they are written and read."""
    fen = board.fen(en_passant="fen")
    assert position.fen() == fen
    assert position.fen(legal_en_passant=True) == board.fen(en_passant="legal")
    assert position.halfmove_clock == board.halfmove_clock
    assert position.fullmove_number == board.fullmove_number
    assert (position.turn is Color.WHITE) == board.turn
    assert Position.from_fen(fen, position.variant) == position

    legal = position.legal_moves()
    expected = {move.uci() for move in moves}
    assert {move.uci() for move in legal} == expected
    assert len(legal) == len(expected)
    tried = [*rng.choices(EVERY_MOVE, k=20), *nearly_legal(board, rng)]
    for move in EVERY_MOVE if rng.random() < 0.003 else tried:
        assert position.is_legal(move) == (move.uci() in expected), move
    for move in moves if rng.random() < 0.1 else rng.sample(moves, min(1, len(moves))):
        compare_notation(board, move, position)

    assert position.is_check() == board.is_check()
    assert sorted(position.checkers()) == list(board.checkers())
    assert position.is_checkmate() == (board.is_check() and not moves)
    assert position.is_stalemate() == (not board.is_check() and not moves)
    assert position.is_insufficient_material() == board.is_insufficient_material()
    for color, oracle_color in COLORS:
        assert position.can_checkmate(color) != board.has_insufficient_material(oracle_color)
        assert position.king(color) == board.king(oracle_color)


def nearly_legal(board: chess.Board, rng: Random) -> list[Move]:
    """Return legal moves, and such as look like it: of own pieces, or exposing the king."""
    own = list(chess.SquareSet(board.occupied_co[board.turn]))
    king = board.king(board.turn)
    tried = [Move(king, (king + step) % 64) for step in (2, -2, 3, -3, -4)]
    for _ in range(10):
        origin, target = rng.choice(own), rng.randrange(64)
        if origin != target:
            tried += [Move(origin, target, promotion) for promotion in (None, PieceType.QUEEN)]
    tried += [Move.from_uci(move.uci()) for move in board.generate_pseudo_legal_moves()]
    return tried


def compare_notation(board: chess.Board, move: chess.Move, position: Position) -> None:
    ours = Move.from_uci(move.uci())
    san = position.san(ours)
    long = position.long_algebraic(ours)
    assert san == board.san(move)
    assert long == board.lan(move)
    for text in (san, long, move.uci(), san.rstrip("+#"), san.replace("O", "0")):
        assert position.parse(text) is ours, text


# --- how games end ---

RULES_OF_ENDING = {
    "is_checkmate": Termination.CHECKMATE,
    "is_stalemate": Termination.STALEMATE,  # python-chess asks for material first; both are draws
    "is_insufficient_material": Termination.INSUFFICIENT_MATERIAL,
    "is_seventyfive_moves": Termination.SEVENTY_FIVE_MOVES,
    "is_fivefold_repetition": Termination.FIVEFOLD_REPETITION,
}


def compare_endings(board: chess.Board, game: Game) -> None:
    outcome = expected_outcome(board)
    claims = expected_claims(board)
    repetitions = game.repetitions()
    for count in (2, 3, 5):
        assert (repetitions >= count) == board.is_repetition(count)
    assert game.outcome == outcome
    if outcome is None or outcome.termination is not Termination.FIVEFOLD_REPETITION:
        assert game.position.outcome() == outcome
    else:
        assert game.position.outcome() is None
    if outcome is None:
        assert game.claimable_draws() == claims
        game.claims_draws = True
        assert game.outcome == (Outcome(None, claims[0]) if claims else None)
        game.claims_draws = False


def expected_outcome(board: chess.Board) -> Outcome | None:
    for rule, termination in RULES_OF_ENDING.items():
        if getattr(board, rule)():
            winner = Color.BLACK if board.turn else Color.WHITE
            return Outcome(winner if rule == "is_checkmate" else None, termination)
    return None


def expected_claims(board: chess.Board) -> list[Termination]:
    claims = {
        Termination.THREEFOLD_REPETITION: board.is_repetition(3),
        Termination.FIFTY_MOVES: board.is_fifty_moves(),
    }
    return [claim for claim, is_there in claims.items() if is_there]


def compare_intended(board: chess.Board, game: Game, move: chess.Move) -> None:
    """Compare what can be claimed with a move that is only announced."""
    board.push(move)
    if any(board.legal_moves):  # nobody claims a draw with a mating move
        assert game.claimable_draws(Move.from_uci(board.peek().uci())) == expected_claims(board)
    board.pop()


# --- PGN ---

COMMENTS = (
    "", "", "", "a remark", "e4 (better) $1", "[not a tag]", "%", "; semicolon", "1-0", "a { brace",
    "line\nbreak", "½ – ♘f3 é 駒", '"quoted" \\ slash', "a long remark that has to be wrapped " * 4,
)  # fmt: skip
TAGS = {"White": "O'Kelly de Galway", "Event": "½ [駒]; {x} %", "Annotator": "A, B"}


@noting_the_seed
def compare_pgn(kind: Kind, seed: str) -> None:
    """Let each side read what the other wrote, and the engine what it wrote itself."""
    rng = Random(seed)
    board = kind.deal(rng)
    original = annotated_game(kind, board, rng)
    text = original.accept(chess.pgn.StringExporter())

    [game] = read_games(text)
    compare_pgn_game(game, original)
    assert game.start.fen() == board.fen(en_passant="fen")
    assert [game.tags[name] for name in TAGS] == list(TAGS.values())

    written = game.pgn()
    read_back = chess.pgn.read_game(io.StringIO(written))
    assert read_back is not None
    assert read_back.errors == []
    assert read_back.board() == original.board()
    assert dict(read_back.headers) == dict(original.headers)
    compare_pgn_game(game, read_back)

    [again] = read_games(written.encode())
    compare_pgn_game(again, original)
    assert again.tags == game.tags
    assert again.pgn() == written


def annotated_game(kind: Kind, board: chess.Board, rng: Random) -> chess.pgn.Game:
    """Return a game with comments, glyphs, clocks, evaluations and variations in variations."""
    game = chess.pgn.Game()
    game.setup(board)
    game.comment = rng.choice(COMMENTS)
    annotate(kind, game, rng, plies=rng.randrange(60), depth=0)
    end = game.end().board().outcome()
    result = end.result() if end else rng.choice(("1-0", "0-1", "1/2-1/2", "*"))
    game.headers.update(TAGS | {"Result": result})
    return game


def annotate(
    kind: Kind, node: chess.pgn.GameNode, rng: Random, plies: int, depth: int
) -> chess.pgn.GameNode | None:
    """Add a line of moves after a node, and to some of them lines instead; return the first."""
    first = None
    for move in random_moves(kind, node.board(), rng, plies):
        parent = node
        node = parent.add_variation(move, comment=rng.choice(COMMENTS))
        first = first or node
        node.nags |= set(rng.sample(range(1, 140), rng.choice((0, 0, 0, 1, 2))))
        if rng.random() < 0.1:
            node.set_clock(rng.choice((0, 59, 61.5, 3600, 7199.123)))
        if rng.random() < 0.1:
            score = rng.choice((chess.engine.Cp(rng.randrange(-999, 999)), chess.engine.Mate(-3)))
            node.set_eval(chess.engine.PovScore(score, chess.WHITE))
        if depth < 3 and rng.random() < 0.1:
            variation = annotate(kind, parent, rng, plies=rng.randrange(1, 6), depth=depth + 1)
            if isinstance(variation, chess.pgn.ChildNode):
                variation.starting_comment = rng.choice(COMMENTS)
    return first


def compare_pgn_game(game: Game, oracle: chess.pgn.Game) -> None:
    assert game.comment == tidy(oracle.comment)
    assert game.result == oracle.headers["Result"]
    compare_line(game.line, oracle.next())


def compare_line(line: Line, node: chess.pgn.ChildNode | None) -> None:
    for ply in line.plies:
        assert node is not None
        compare_ply(ply, node)
        node = node.next()
    assert node is None


def compare_ply(ply: Ply, node: chess.pgn.ChildNode) -> None:
    assert ply.uci == node.move.uci()
    assert ply.comment_before == tidy(node.starting_comment)
    assert ply.comment == tidy(re.sub(r"\[%[^]]*\]", "", node.comment))
    assert sorted(ply.nags) == sorted(node.nags)
    clock = node.clock()
    assert ply.clock == (None if clock is None else timedelta(seconds=clock))
    assert ply.evaluation == evaluation_of(node.eval())
    others = node.parent.variations[1:] if node.is_main_variation() else []
    assert len(ply.variations) == len(others)
    for variation, other in zip(ply.variations, others, strict=True):
        compare_line(variation, other)


def evaluation_of(score: chess.engine.PovScore | None) -> Evaluation | None:
    if score is None:
        return None
    return Evaluation(centipawns=score.white().score(), mate=score.white().mate())


def tidy(comment: str) -> str:
    return " ".join(comment.split())


# --- setups ---

#: What python-chess says where the engine names a rule.
STATUS_OF_RULE = {
    PositionRule.ONE_KING_EACH: chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS,
    PositionRule.KING_NOT_CAPTURABLE: chess.STATUS_OPPOSITE_CHECK,
    PositionRule.NO_PAWNS_ON_BACK_RANKS: chess.STATUS_PAWNS_ON_BACKRANK,
    PositionRule.CASTLING_RIGHTS: chess.STATUS_BAD_CASTLING_RIGHTS,
    PositionRule.EN_PASSANT: chess.STATUS_INVALID_EP_SQUARE,
    PositionRule.CHECKERS: chess.STATUS_TOO_MANY_CHECKERS | chess.STATUS_IMPOSSIBLE_CHECK,
}
#: What the engine lets in: it is odd, but every rule works.
TOLERATED = (
    chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_IMPOSSIBLE_CHECK
)


@noting_the_seed
def compare_setups(seed: str, count: int) -> None:
    """Compare which random setups are legal positions, and why the others are not."""
    rng = Random(seed)
    for _ in range(count):
        fen = random_setup(rng)
        board = chess.Board(fen, chess960=True)  # or else it wants kings and rooks at their places
        status = board.status()
        broken = broken_rule(fen)
        if broken is None:
            assert not status & ~TOLERATED, f"{fen}: {status!r}"
            position = Position.from_fen(fen, "chess960")
            compare_position(board, list(board.legal_moves), position, rng)
        elif broken is not PositionRule.CHECKERS or not is_double_check_by_leapers(board):
            assert status & STATUS_OF_RULE[broken], f"{fen}: {broken}, {status!r}"


def broken_rule(fen: str) -> PositionRule | None:
    try:
        Position.from_fen(fen, "chess960")
    except IllegalPosition as error:
        return error.rule
    return None


def is_double_check_by_leapers(board: chess.Board) -> bool:
    """Return whether two pieces give check and neither slides: no move can lead to that."""
    checkers = board.checkers()
    return len(checkers) == 2 and not checkers & (board.bishops | board.rooks | board.queens)


def random_setup(rng: Random) -> str:
    """Return a FEN that may break any rule, but seldom more than one."""
    board = scattered(rng, "Kk" + "".join(rng.choices("QRBNPPqrbnpp", k=rng.randrange(14))))
    castling = "-"
    match rng.randrange(7):
        case 0:
            letter = rng.choice("KkPpQqNn")
            board.set_piece_at(rng.randrange(64), chess.Piece.from_symbol(letter))
        case 1:
            board.turn = not board.turn
        case 2:
            board.ep_square = rng.randrange(8) + (40 if board.turn else 16)
            if rng.random() < 0.7:
                step = -8 if board.turn else 8
                pawn = chess.Piece(chess.PAWN, not board.turn)
                board.set_piece_at(board.ep_square + step, pawn)
        case 3:
            home = {"K": range(1), "R": range(1), "k": range(7, 8), "r": range(7, 8)}
            board = scattered(rng, "KRkrPPp" + rng.choice(("", "R", "r", "Rr")), home)
            castling = "".join(letter for letter in "KQkq" if rng.random() < 0.4) or "K"
        case 4:
            board.remove_piece_at(rng.choice(list(chess.SquareSet(board.occupied))))
        case 5:
            near_king = list(chess.SquareSet(chess.BB_KNIGHT_ATTACKS[board.king(board.turn)]))
            for square in rng.sample(near_king, rng.choice((1, 1, 2))):
                board.set_piece_at(square, chess.Piece(chess.KNIGHT, not board.turn))
    placement, turn, _, *rest = board.fen(en_passant="fen").split()
    return " ".join((placement, turn, castling, *rest))
