"""Words: what a line or a change of the evaluation means, as a player would say it."""

from __future__ import annotations

from agents.classical.captures import BISHOP, KNIGHT, PAWN, QUEEN, ROOK
from agents.classical.evaluation import Terms
from agents.classical.search import MATE, MATE_BOUND, Line
from engine.chess_position import ChessPosition
from engine.moves import Move
from engine.position import Position
from engine.state import State, make

#: The plies of a line that are shown.
_SHOWN = 6
#: Less than this is not worth a word, in centipawns.
_WORTH_SAYING = 5
#: A pawn, more or less.
_MATERIAL = 80
#: What counts as balance.
_LEVEL = 60

_NAMES = ("pawn", "knight", "bishop", "rook", "queen")
_WORTHS = (PAWN, KNIGHT, BISHOP, ROOK, QUEEN)
#: How each term is put, but for the tempo, which every move costs.
_TERMS = {
    "material": ("more material", "less material"),
    "placement": ("better placed pieces", "worse placed pieces"),
    "mobility": ("more mobile pieces", "less mobile pieces"),
    "pawn_structure": ("a sounder pawn structure", "a weaker pawn structure"),
    "passed_pawns": ("stronger passed pawns", "weaker passed pawns"),
    "king_safety": ("a safer king", "a less safe king"),
    "open_files": ("rooks on open files", "rooks off the open files"),
    "bishop_pair": ("the pair of bishops", "no pair of bishops"),
    "ending": ("a better ending", "a worse ending"),
}


def pawns(score: int) -> str:
    """Return a score as people read it: `+0.35`, `mate in 3`, `mated in 2`."""
    mate = mate_in(score)
    if mate is not None:
        return f"mate in {mate}" if mate > 0 else f"mated in {-mate}"
    return f"{score / 100:+.2f}"


def mate_in(score: int) -> int | None:
    """Return in how many moves the mover mates, or is mated if negative; None if neither."""
    if abs(score) <= MATE_BOUND:
        return None
    moves = (MATE - abs(score) + 1) // 2
    return moves if score > 0 else -moves


def san_of(position: Position, moves: tuple[Move, ...]) -> str:
    """Return the first plies of a line in short notation."""
    words = []
    for move in moves[:_SHOWN]:
        words.append(position.san(move))
        position = position.play(move)
    return " ".join(words)


def of_line(position: ChessPosition, line: Line, worth: int, is_best: bool) -> str:
    """Return why a line is worth its score, given what the position seemed worth before."""
    shown = san_of(position, line.moves)
    mate = mate_in(line.score)
    if mate is not None:
        return f"mates in {mate}: {shown}" if mate > 0 else f"is mated in {-mate}: {shown}"
    gain = material_gain(position.state, line.moves)
    said = _gain(gain)
    if not said and is_best and line.score < worth - _MATERIAL:
        said = "loses least"
    elif not said:
        ahead, behind = line.score > _LEVEL, line.score < -_LEVEL
        said = "keeps the advantage" if ahead else "holds on" if behind else "keeps the balance"
    return f"{said}: {shown} ({pawns(line.score)})"


def material_gain(state: State, moves: tuple[Move, ...]) -> tuple[int, ...]:
    """Return how many pawns, knights, ... the mover wins by a line, less what it loses."""
    after = state
    for move in moves:
        after = make(after, move)
    own, theirs = _counts(state[:6]), _counts(state[6:12])
    own_after, their_after = _counts(after[:6]), _counts(after[6:12])
    if after[14] != state[14]:
        own_after, their_after = their_after, own_after
    return tuple(
        (b - d) - (a - c) for a, b, c, d in zip(own, theirs, own_after, their_after, strict=True)
    )


def _counts(side: tuple[int, ...]) -> tuple[int, ...]:
    own_pawns, knights, diagonals, orthogonals, _, _ = side
    queens = diagonals & orthogonals
    sets = own_pawns, knights, diagonals ^ queens, orthogonals ^ queens, queens
    return tuple(each.bit_count() for each in sets)


def _gain(gain: tuple[int, ...]) -> str:
    """Return what is won or lost, if anything is: `wins a knight`, `loses the exchange`."""
    worth = sum(number * each for number, each in zip(gain, _WORTHS, strict=True))
    if abs(worth) < _MATERIAL:
        return ""
    verb, sign = ("wins", 1) if worth > 0 else ("loses", -1)
    won = {name: sign * number for name, number in zip(_NAMES, gain, strict=True) if number}
    minors = won.get("knight", 0) + won.get("bishop", 0)
    if list(won.values()) == [1]:
        return f"{verb} a {next(iter(won))}"
    if won.keys() == {"pawn"}:
        return f"{verb} {won['pawn']} pawns"
    if won.get("rook") == 1 and minors == -1 and not won.get("queen") and not won.get("pawn"):
        return f"{verb} the exchange"
    return f"{verb} material"


def of_change(before: Terms, after: Terms) -> str:
    """Return which terms a move improves most, and which it costs most: `a safer king (+0.18)`."""
    changes = {name: getattr(after, name) - getattr(before, name) for name in _TERMS}
    by_size = sorted(changes.items(), key=lambda change: -change[1])
    better = [(name, change) for name, change in by_size if change >= _WORTH_SAYING][:3]
    worse = [(name, change) for name, change in by_size[::-1] if change <= -_WORTH_SAYING][:1]
    said = [f"{_TERMS[name][0]} ({change / 100:+.2f})" for name, change in better]
    lost = [f"{_TERMS[name][1]} ({change / 100:+.2f})" for name, change in worse]
    if not said:
        return "changes little" + (f", with {lost[0]}" if lost else "")
    return "brings " + ", ".join(said) + (f", at the price of {lost[0]}" if lost else "")
