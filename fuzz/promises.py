"""What the rules engine promises about any text: a sound value, or a `RulesError` fit to be shown.

Each `check_...` takes a text and raises `BrokenPromise` (or whatever the engine let escape) if the
promise is broken. Property tests and the coverage-guided harnesses beside this file share them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pickle
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from engine import (
    VARIANTS,
    ChessPosition,
    Clock,
    Game,
    InvalidPgn,
    Line,
    Move,
    PieceType,
    Position,
    RulesError,
    SavedGame,
    TimeControl,
    read_games,
)

LONGEST_MESSAGE = 400

#: Positions to read moves in: beginnings and ends, castling, promotion, en passant, much ambiguity.
POSITIONS = (
    Position.start(),
    Position.start("chess960", 0),
    Position.from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    Position.from_fen("1r1k2r1/8/8/8/8/8/8/1R1K2R1 b KQkq - 3 9", "chess960"),
    Position.from_fen("1n5k/P1P5/8/8/8/8/p1p5/1N5K w - - 0 1"),
    Position.from_fen("8/8/8/K2pP2r/8/8/8/7k w - d6 0 2"),
    Position.from_fen("Q3Q3/8/8/8/Q3Q3/8/4b2K/N1N1k3 w - - 99 80"),
    Position.from_fen("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"),
    Position.start("kings-cooking"),
    Position.from_fen("R1b/3/1Nn b - - B r 2", "kings-cooking"),
)


class BrokenPromise(AssertionError):
    """The engine did not keep what it promises."""


def require(kept: bool, promise: str, *facts: object) -> None:
    """Raise `BrokenPromise`, with what is known, unless a promise is kept."""
    if not kept:
        raise BrokenPromise(f"{promise}: {', '.join(map(repr, facts))}")


@contextmanager
def refusals_are_fit_to_be_shown() -> Iterator[None]:
    """Let a refusal pass if it is one; any other error goes on."""
    try:
        yield
    except RulesError as error:
        check_refusal(error)


def check_refusal(error: Exception) -> None:
    """Check that an error reads as one line and comes out of a pickle as it went in."""
    message = str(error)
    require(message.strip() != "" and message.isprintable(), "an error is one line", message)
    require(len(message) <= LONGEST_MESSAGE, "an error is short", len(message), message)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    require(type(again) is type(error), "an error keeps its type in a pickle", again)
    require(vars(again) == vars(error), "an error keeps its fields in a pickle", again)
    require(str(again) == message, "an error keeps its message in a pickle", again)


# --- FEN ---


def check_fen(text: str) -> None:
    """Check that a text is refused, or read as a position that holds together, in each variant."""
    for variant in VARIANTS:
        with refusals_are_fit_to_be_shown():
            check_position(Position.from_fen(text, variant))


def check_position(position: Position) -> None:
    """Check that a position can be written, read and played from."""
    fen = position.fen()
    require(Position.from_fen(fen, position.variant) == position, "a FEN reads back", fen)
    if isinstance(position, ChessPosition):
        shorter = Position.from_fen(position.fen(legal_en_passant=True), position.variant)
        require(shorter.key() == position.key(), "only usable en passant counts", fen)
    moves = position.legal_moves()
    require(len(set(moves)) == len(moves), "a move is generated once", fen, moves)
    outcome = position.outcome()
    require(bool(moves) or outcome is not None, "without a move, the game is over", fen)
    for move in moves:
        require(position.is_legal(move), "a generated move is legal", fen, move)
        after = position.play(move)
        again = Position.from_fen(after.fen(), after.variant)
        require(again == after, "a FEN reads back", fen, move, after.fen())


# --- moves ---


def check_move(text: str) -> None:
    """Check that a text is refused, or read as a move that is legal, in every position at hand."""
    with refusals_are_fit_to_be_shown():
        move = Move.from_uci(text)
        require(move.uci() == text, "UCI reads back", text, move)
    for position in POSITIONS:
        for default in (None, PieceType.QUEEN):
            with refusals_are_fit_to_be_shown():
                move = position.parse(text, default)
                check_parsed(position, move, text)


def check_parsed(position: Position, move: Move, text: str) -> None:
    """Check that what was read can be played, and written so that it means the same."""
    fen = position.fen()
    require(move in position.legal_moves(), "a move that is read is legal", fen, text, move)
    for written in (position.san(move), position.long_algebraic(move), move.uci()):
        require(position.parse(written) is move, "a move reads back", fen, text, written)
    position.play(move)


# --- PGN ---


def check_pgn(source: str | bytes) -> None:
    """Check that a PGN is refused, or read as games that can be written and read again."""
    errors: list[InvalidPgn] = []
    games = list(read_games(source, on_error=errors.append))
    for error in errors:
        check_refusal(error)
        last_line = len(source.splitlines()) + 1
        require(1 <= error.line <= last_line, "an error names a line that is there", error.line)
    for game in games:
        check_game(game)
    with refusals_are_fit_to_be_shown():
        require(len(list(read_games(source))) == len(games), "the first error is raised", errors)
        require(not errors, "an error is raised, unless it is asked for", errors)


def check_game(game: Game) -> None:
    """Check that a game is written as a PGN that tells the same."""
    written = game.pgn()
    again = list(read_games(written))
    require(len(again) == 1, "a game is written as one game", written)
    require(again[0].start == game.start, "a game reads back from its start", written)
    require(again[0].result == game.result, "a game reads back with its result", written)
    require(told(again[0].line) == told(game.line), "a game reads back", written)
    comments = remark(again[0].comment), remark(game.comment)
    require(comments[0] == comments[1], "a game reads back with its comment", comments, written)
    require(again[0].pgn() == written, "a game is written the same again", written)


def told(line: Line) -> list[object]:
    """Return all that is told in a line, variations and theirs included."""
    return [
        (
            ply.uci,
            remark(ply.comment_before),
            remark(ply.comment),
            ply.nags,
            list(map(told, ply.variations)),
        )
        for ply in line.plies
    ]


def remark(comment: str) -> str:
    """Return a comment as PGN can write it: a closing brace would end it."""
    return comment.replace("}", ")")


# --- time controls ---


def check_time_control(text: str) -> None:
    """Check that a text is refused, or read as a time control that a clock can keep."""
    with refusals_are_fit_to_be_shown():
        control = TimeControl.parse(text)
        require(TimeControl.parse(str(control)) == control, "a control reads back", text, control)
        Clock.start(control)


# --- saved games ---


def check_saved_game(text: str) -> None:
    """Check that a text is refused, or loaded as a game that is saved the same; forged or not."""
    loaded = []
    for secret in (None, b"a secret"):
        for state in (text, forged_json(text)):
            with refusals_are_fit_to_be_shown():
                loaded.append(SavedGame.from_json(state, secret))
        for token in (text, forged_token(text)):
            with refusals_are_fit_to_be_shown():
                loaded.append(SavedGame.from_token(token, secret))
    for saved in loaded:  # what could be loaded must not be refused now
        check_saving(saved)


def check_saving(saved: SavedGame) -> None:
    """Check that a game reads back from all that it is saved as, and that it can be taken back."""
    written = saved.to_json()
    for secret in (None, b"a secret"):
        signed = saved.to_json(secret)
        again = SavedGame.from_json(signed, secret)
        require(again.to_json(secret) == signed, "a saved game reads back", signed)
        shared = saved.to_token(secret)
        again = SavedGame.from_token(shared, secret)
        require(again.to_json() == written, "a token reads back", written, shared)
    while saved.game.plies:
        saved.game.undo()
    require(saved.game.position == saved.game.start, "a loaded game can be taken back", written)


def forged_json(text: str) -> str:
    """Return a text as a state with the checksum that fits it; as it is, if it cannot be one."""
    try:
        state = json.loads(text)
        state.pop("checksum", None)
        canonical = json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return json.dumps({**state, "checksum": f"sha256:{digest}"})
    except (ValueError, AttributeError, TypeError, IndexError, RecursionError):
        return text


def forged_token(text: str) -> str:
    """Return a text as the content of a token whose digest fits it."""
    deflate = zlib.compressobj(wbits=-15)
    return sealed(deflate.compress(text.encode("utf-8", "surrogatepass")) + deflate.flush())


def sealed(body: bytes) -> str:
    """Return bytes as the body of a token whose digest fits them."""
    digest = hashlib.sha256(b"s" + body).digest()[:16]
    return base64.urlsafe_b64encode(b"s" + digest + body).rstrip(b"=").decode()
