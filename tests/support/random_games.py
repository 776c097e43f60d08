"""Random games of every kind, dealt and played by python-chess.

Uniformly random games seldom castle, hardly ever take en passant and never underpromote. So there
are several kinds of game: each starts from positions where something of interest is near, and has a
taste for the moves that bring it about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import chess


@dataclass(frozen=True)
class Taste:
    """How much likelier than a quiet move a move of each sort is played."""

    capture: float = 2
    pawn: float = 1
    double_step: float = 1
    promotion: float = 3
    en_passant: float = 20
    castling: float = 10
    #: Going back to where the piece came from: what repetitions are made of.
    back: float = 1
    #: For each piece that gives check.
    check: float = 1
    #: Mate or stalemate.
    last: float = 1

    def choose(self, board: chess.Board, moves: list[chess.Move], rng: Random) -> chess.Move:
        """Return one of the legal moves."""
        weights = [self._weight(board, move) for move in moves]
        if self.check != 1 or self.last != 1:
            for index, move in enumerate(moves):
                board.push(move)
                weights[index] *= self.check ** len(board.checkers())
                if self.last != 1 and not any(board.legal_moves):
                    weights[index] *= self.last
                board.pop()
        return rng.choices(moves, weights)[0]

    def _weight(self, board: chess.Board, move: chess.Move) -> float:
        weight = 1.0
        origin, target = chess.BB_SQUARES[move.from_square], chess.BB_SQUARES[move.to_square]
        if board.pawns & origin:
            weight *= self.pawn
            if move.promotion:
                weight *= self.promotion
            elif abs(move.from_square - move.to_square) == 16:
                weight *= self.double_step
            elif board.is_en_passant(move):
                weight *= self.en_passant
        elif board.is_castling(move):
            return self.castling
        elif self.back != 1 and len(board.move_stack) > 1:
            last = board.move_stack[-2]
            if (move.from_square, move.to_square) == (last.to_square, last.from_square):
                weight *= self.back
        if board.occupied_co[not board.turn] & target:
            weight *= self.capture
        return weight


@dataclass(frozen=True)
class Kind:
    """A kind of game: where it starts, what is played, and for how long at most."""

    deal: Callable[[Random], chess.Board]
    taste: Taste
    plies: int
    variant: str = "standard"


def random_moves(kind: Kind, board: chess.Board, rng: Random, plies: int) -> list[chess.Move]:
    """Play moves on a board until they are enough or nothing is legal; return them."""
    played: list[chess.Move] = []
    while len(played) < plies and (moves := list(board.legal_moves)):
        played.append(kind.taste.choose(board, moves, rng))
        board.push(played[-1])
    return played


# --- where games start ---

#: More than any kind of position has ever taken that is possible at all.
_TRIES = 2000


class Impossible(Exception):
    """No position with these pieces seems to be valid."""


def scattered(
    rng: Random,
    pieces: str,
    ranks: dict[str, range] | None = None,
    castling: str = "-",
    fixed: dict[chess.Square, str] | None = None,
    chess960: bool = False,
) -> chess.Board:
    """Return a valid position with these pieces anywhere, or on the ranks (0 to 7) given for them.

    Pieces that are `fixed` stand where they are told to. The side to move is random. Raises
    `Impossible` where no position seems to be valid.
    """
    for _ in range(_TRIES):
        board = chess.Board(None, chess960=chess960)
        for square, letter in (fixed or {}).items():
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        for letter in pieces:
            allowed = (ranks or {}).get(letter, range(1, 7) if letter in "Pp" else range(8))
            free = [square for rank in allowed for square in range(8 * rank, 8 * rank + 8)]
            free = [square for square in free if not board.occupied & chess.BB_SQUARES[square]]
            board.set_piece_at(rng.choice(free), chess.Piece.from_symbol(letter))
        board.turn = rng.random() < 0.5
        board.set_castling_fen(castling)
        # python-chess lets two knights give check at once, but no move can lead to that.
        if board.is_valid() and len(board.checkers()) < 2 and any(board.legal_moves):
            board.halfmove_clock = rng.choice((0, 0, 0, 7, 95, 140))
            board.fullmove_number = rng.randrange(1, 120)
            return board
    raise Impossible


def standard(_rng: Random) -> chess.Board:
    """Return the starting position of chess."""
    return chess.Board()


def chess960(rng: Random) -> chess.Board:
    """Return one of the 960 starting positions."""
    return chess.Board.from_chess960_pos(rng.randrange(960))


def sparse(rng: Random) -> chess.Board:
    """Return an endgame with hardly a piece more than the kings."""
    return scattered(rng, "Kk" + "".join(rng.choices("NnBbNnBbRrQqPp", k=rng.randrange(1, 4))))


def shuffling(rng: Random) -> chess.Board:
    """Return a position where little happens but going to and fro."""
    if rng.random() < 0.3:
        return chess.Board()
    return scattered(rng, "Kk" + rng.choice(("Rr", "Nn", "Qq", "RBb", "Nrp", "Pp")))


def promoting(rng: Random) -> chess.Board:
    """Return a position where pawns are about to promote, with something to take on the way."""
    ranks = {"P": range(4, 7), "p": range(1, 4)}
    return scattered(rng, "Kk" + "PPPPpppp" + "".join(rng.choices("RrNnBbQq", k=4)), ranks)


def en_passant(rng: Random) -> chess.Board:
    """Return pawns that are about to pass each other, and kings on the lines where they meet."""
    met = {rng.choice(range(32, 40)): "P", rng.choice(range(24, 32)): "p"}
    met |= {rng.choice(range(32, 40)): "P", rng.choice(range(24, 32)): "p"}
    ranks = {"P": range(1, 2), "p": range(6, 7), "K": range(4, 6), "k": range(2, 4)}
    ranks |= {"R": range(3, 4), "r": range(4, 5)}  # they look along the ranks that both pawns leave
    sliders = "Rr" + "".join(rng.choices("BbQq", k=2))
    return scattered(rng, "Kk" + "PPPppp" + sliders, ranks, fixed=met)


def many_of_a_kind(rng: Random) -> chess.Board:
    """Return a position where many moves need telling apart, and some pieces are pinned."""
    white, black = rng.choice("QNRB"), rng.choice("qnrb")
    return scattered(rng, "Kk" + white * 4 + black * 4 + "".join(rng.choices("QqNnRrBb", k=2)))


def castling(rng: Random) -> chess.Board:
    """Return kings and rooks at home, and pieces that aim at what is between them."""
    fixed = dict(zip((chess.E1, chess.A1, chess.H1), "KRR", strict=True))
    fixed |= dict(zip((chess.E8, chess.A8, chess.H8), "krr", strict=True))
    others = "PPPPpppp" + "".join(rng.choices("QqNnBbRr", k=rng.randrange(1, 6)))
    return scattered(rng, others, castling=rng.choice(("KQkq", "KQkq", "Kq", "Qk")), fixed=fixed)


def castling_chess960(rng: Random) -> chess.Board:
    """Return kings between rooks anywhere on the back rank, perhaps with more rooks beside them."""
    while True:
        try:
            return _castling_chess960(rng)
        except Impossible:  # such as a king that every place of an enemy queen gives check to
            continue


def _castling_chess960(rng: Random) -> chess.Board:
    fixed = {}
    rights = ""
    for first, letters in ((0, "KR"), (56, "kr")):
        left, king, right = sorted(rng.sample(range(8), 3))
        fixed |= {first + king: letters[0], first + left: letters[1], first + right: letters[1]}
        files = "ABCDEFGH" if first == 0 else "abcdefgh"
        rights += files[right] + files[left]
    others = "PPPppp" + "".join(rng.choices("QqNnBbRrRr", k=rng.randrange(1, 5)))
    # A third rook on the back rank, further out than the one that may castle, needs its file told.
    # An enemy queen there may be behind that rook, which is then all that shields its king.
    ranks = {"R": range(1), "r": range(7, 8), "Q": range(7, 8), "q": range(1)}
    return scattered(rng, others, ranks, castling=rights, fixed=fixed, chess960=True)


def attacking(rng: Random) -> chess.Board:
    """Return a position where a piece stands between an enemy king and a slider of its own side."""
    between = chess.SquareSet()
    while not between:
        king, slider = rng.sample(range(64), 2)
        between = chess.SquareSet.between(king, slider)
    fixed = {king: "k", slider: "Q", rng.choice(list(between)): rng.choice("NNBR")}
    return scattered(rng, "Kq" + "".join(rng.choices("RrBbNn", k=3)) + "PPpp", fixed=fixed)


def nearly_over(rng: Random) -> chess.Board:
    """Return a king at the edge, alone or with a stuck pawn, that has few moves left."""
    pieces = rng.choice(("Q", "Q", "RR", "QP", "QpP", "BNN", "Rn", "P"))
    return scattered(rng, "Kk" + pieces, {"k": range(7, 8), "K": range(5, 8), "P": range(5, 7)})


KINDS: dict[str, Kind] = {
    "standard": Kind(standard, Taste(), 160),
    "pawns first": Kind(standard, Taste(pawn=4, capture=1), 200),
    "chess960": Kind(chess960, Taste(check=3), 160, "chess960"),
    "castling": Kind(castling, Taste(castling=3, capture=1), 20),
    "castling chess960": Kind(castling_chess960, Taste(castling=3, capture=1), 20, "chess960"),
    "en passant": Kind(en_passant, Taste(double_step=20, capture=0.3), 10),
    "promotions": Kind(promoting, Taste(pawn=3, capture=1), 40),
    "many of a kind": Kind(many_of_a_kind, Taste(capture=0.5), 30),
    "checks": Kind(attacking, Taste(check=8, capture=0.5), 12),
    "endgames": Kind(sparse, Taste(pawn=3, capture=5), 60),
    "mates and stalemates": Kind(nearly_over, Taste(last=100), 30),
    "shuffles": Kind(shuffling, Taste(capture=0.1, pawn=0.1, back=40), 60),
}
