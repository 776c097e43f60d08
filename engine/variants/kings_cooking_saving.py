"""Games of King's Cooking as JSON, to be kept, and as a short token, to be shared in a link.

Both hold the first position, the moves with their times and sources, and the ending; the JSON also
says what follows from them, for those who only look. Loading trusts none of that: it checks the
checksum over all that was read, plays the moves again, and refuses what differs in any field.

The checksum is `sha256:` or, made with a secret, `hmac-sha256:` and the digest, in hex, of the
other fields as JSON with sorted keys, without spaces, in UTF-8. A plain one finds accidents; only a
secret finds a forger. Where a secret is given, nothing is loaded that was not signed with it.

A token is base64url without padding of three things: the letter `s` or, with a secret, `h`; the
first 16 bytes of such a digest over the other two; and a JSON array of what cannot be derived, in
the order of `_PAYLOAD`, after raw deflate.

Annotations are PGN's business and are not kept: tags, comments, glyphs, variations, evaluations,
and what a clock outside the game is said to have shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID

from engine.errors import InvalidSavedGame, SavedGameFault
from engine.game import Game
from engine.line import Ply
from engine.pieces import Color
from engine.position import Position
from engine.variants.kings_cooking import NAME, START_FEN, KingsCookingPosition
from engine.variants.kings_cooking_board import SIDE
from engine.variants.kings_cooking_replaying import (
    ENDINGS,
    FLAG_FELL,
    MICROSECOND,
    VERSION,
    Fields,
    check_version,
    clock_of,
    compare,
    has_flag_fallen,
    integer,
    list_of,
    rebuild,
    text_of,
    text_or_none,
    wrong_value,
)
from engine.variants.kings_cooking_sealing import (
    MAX_CONTENT,
    MAX_JSON,
    MAX_TOKEN,
    Secret,
    canonical,
    decoded,
    deflated,
    digest,
    dumped,
    encoded,
    inflated,
    parsed,
    verify,
)

MAX_NAME = 100

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CHECKSUM = re.compile(r"(?P<keyed>hmac-)?sha256:(?P<digest>[0-9a-f]{64})")
#: Not printable to Python, but part of Persian and Indic names, of emoji, and of Japanese names.
_ALSO_IN_NAMES = "\u200c\u200d\u00a0\u3000"
_PLAIN, _KEYED = b"s", b"h"
_SHORT_DIGEST = 16
_ENTRY = ("move", "timestamp", "elapsed_us", "source")
_PAYLOAD = (
    "version",
    "game_id",
    "start",  # null for the usual one
    "white_player",
    "black_player",
    "time_control",
    "moves",  # two digits each: places in `_PLACES`
    "played_at",  # microseconds since the ply before, or since 1970, without those that it took
    "elapsed_us",
    "sources",
    "ending",
)
#: Where moves start and end. Digits are short, and a token has many of them already.
_PLACES = (*(file + rank for file in "abc" for rank in "123"), "off")
_WINNERS = {"": None, "w": Color.WHITE, "b": Color.BLACK}


@dataclass(frozen=True, eq=False)
class SavedGame:
    """A game of King's Cooking with its id and the names of its players.

    Loading and saving raise `InvalidSavedGame`, also for a game that could not be loaded again; an
    empty secret is a ValueError.
    """

    game: Game
    game_id: UUID
    white_player: str
    black_player: str

    def __post_init__(self) -> None:
        if not isinstance(self.game, Game) or self.game.variant != NAME:
            raise InvalidSavedGame(SavedGameFault.WRONG_VARIANT)
        if not isinstance(self.game_id, UUID):
            raise wrong_value("game_id")
        for field in ("white_player", "black_player"):
            if not _is_name(getattr(self, field)):
                raise InvalidSavedGame(SavedGameFault.WRONG_NAME, field)

    def __eq__(self, other: object) -> bool:
        """Return whether both tell the same, to the last ply."""
        if not isinstance(other, SavedGame):
            return NotImplemented
        return _state_of(self) == _state_of(other)

    def __hash__(self) -> int:
        return hash(self.game_id)

    def to_json(self, secret: Secret = None) -> str:
        """Return the game as JSON, signed if there is a secret."""
        state = _readable_state(self)
        kind = "sha256" if secret is None else "hmac-sha256"
        checksum = f"{kind}:{digest(canonical(state), secret).hex()}"
        text = dumped({**state, "checksum": checksum})
        if len(text.encode()) > MAX_JSON:
            raise InvalidSavedGame(SavedGameFault.TOO_LARGE)
        return text

    @classmethod
    def from_json(cls, text: str | bytes, secret: Secret = None) -> SavedGame:
        """Load a game that `to_json` wrote with the same secret."""
        state = parsed(text)
        if not isinstance(state, dict):
            raise InvalidSavedGame(SavedGameFault.NOT_JSON)
        checksum = state.pop("checksum", None)
        match = _CHECKSUM.fullmatch(checksum) if isinstance(checksum, str) else None
        if match is None:
            raise InvalidSavedGame(SavedGameFault.WRONG_CHECKSUM)
        given = bytes.fromhex(match["digest"])
        verify(canonical(state), given, is_keyed=match["keyed"] is not None, secret=secret)
        return _from_state(state)

    def to_token(self, secret: Secret = None) -> str:
        """Return the game as a token that is safe in a URL, signed if there is a secret."""
        _readable_state(self)
        content = canonical(_payload_of(self))
        mark = _PLAIN if secret is None else _KEYED
        body = deflated(content)
        token = encoded(mark + digest(mark + body, secret)[:_SHORT_DIGEST] + body)
        if len(content) > MAX_CONTENT or len(token) > MAX_TOKEN:
            raise InvalidSavedGame(SavedGameFault.TOO_LARGE)
        return token

    @classmethod
    def from_token(cls, token: str, secret: Secret = None) -> SavedGame:
        """Load a game that `to_token` wrote with the same secret."""
        raw = decoded(token)
        mark, given, body = raw[:1], raw[1 : 1 + _SHORT_DIGEST], raw[1 + _SHORT_DIGEST :]
        if mark not in (_PLAIN, _KEYED) or not body:
            raise InvalidSavedGame(SavedGameFault.NOT_ENCODED)
        verify(mark + body, given, is_keyed=mark == _KEYED, secret=secret)
        values = parsed(inflated(body))
        if not isinstance(values, list):
            raise InvalidSavedGame(SavedGameFault.NOT_JSON)
        return _from_payload(values)


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and len(name) <= MAX_NAME
        and all(letter.isprintable() or letter in _ALSO_IN_NAMES for letter in name)
    )


# --- what is written ---


def _readable_state(saved: SavedGame) -> dict[str, object]:
    """Return the fields of the JSON, and refuse a game that could not be loaded from them."""
    state = _state_of(saved)
    _from_state(state)
    return state


def _state_of(saved: SavedGame) -> dict[str, object]:
    """Return every field of the JSON but the checksum."""
    game = saved.game
    position = cast(KingsCookingPosition, game.position)
    board, clock, outcome = position.board(), game.clock, game.outcome
    return {
        "version": VERSION,
        "game_id": str(saved.game_id),
        "start": game.start.fen(),
        "board": [board[row : row + SIDE] for row in range(0, SIDE * SIDE, SIDE)],
        "white_court": list(position.court(Color.WHITE)),
        "black_court": list(position.court(Color.BLACK)),
        "captured_white": list(position.captured(Color.WHITE)),
        "captured_black": list(position.captured(Color.BLACK)),
        "turn_number": position.fullmove_number,
        "player_to_move": game.turn.value,
        "white_player": saved.white_player,
        "black_player": saved.black_player,
        "time_control": None if clock is None else str(clock.control),
        "clock": None if clock is None else clock.to_json(),
        "status": game.status.value,
        "termination": None if outcome is None else outcome.termination.value,
        "winner": None if outcome is None or outcome.winner is None else outcome.winner.value,
        "move_history": [_entry(ply) for ply in game.plies],
    }


def _entry(ply: Ply) -> dict[str, object]:
    return {
        "ply": ply.number,
        "player": ply.color.value,
        "move": ply.uci,
        "notation": ply.san,
        "timestamp": _timestamp(ply.played_at),
        "elapsed_us": _microseconds(ply.elapsed),
        "source": ply.source,
    }


def _payload_of(saved: SavedGame) -> list[object]:
    """Return what a token holds: what the rest can be derived from."""
    game = saved.game
    plies = game.plies
    return [
        VERSION,
        saved.game_id.hex,
        None if game.start == Position.start(NAME) else game.start.fen(),
        saved.white_player,
        saved.black_player,
        None if game.clock is None else str(game.clock.control),
        "".join(f"{_PLACES.index(ply.uci[:2])}{_PLACES.index(ply.uci[2:])}" for ply in plies),
        _column(_pauses(plies)),
        _column(_microseconds(ply.elapsed) for ply in plies),
        _column(ply.source for ply in plies),
        _ending(game),
    ]


def _column(values: Iterable[object]) -> list[object] | None:
    column = list(values)
    return None if all(value is None for value in column) else column


def _pauses(plies: Iterable[Ply]) -> Iterator[int | None]:
    """Yield the microseconds before each ply that nobody was thinking: smaller than its time."""
    previous = _EPOCH
    for ply in plies:
        if ply.played_at is None:
            yield None
        else:
            yield (ply.played_at - previous) // MICROSECOND - (_microseconds(ply.elapsed) or 0)
            previous = ply.played_at


def _ending(game: Game) -> str | None:
    """Return an ending that the moves do not show, or None."""
    outcome = game.outcome
    if outcome is None or outcome.termination not in ENDINGS.values():
        return None
    letter = next(key for key, why in ENDINGS.items() if why is outcome.termination)
    if has_flag_fallen(game.clock):
        letter = FLAG_FELL
    return letter + (outcome.winner.value[0] if outcome.winner else "")


def _timestamp(time: datetime | None) -> str | None:
    if time is None:
        return None
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _microseconds(duration: timedelta | None) -> int | None:
    return None if duration is None else duration // MICROSECOND


# --- what is read ---


def _from_state(state: Fields) -> SavedGame:
    """Play a game again from its JSON, and refuse what differs from it."""
    check_version(state)
    history, flag_fell = list_of(state, "move_history"), has_flag_fallen(clock_of(state))
    saved = SavedGame(*rebuild(state, history, flag_fell=flag_fell))
    compare(state, _state_of(saved))
    return saved


def _from_payload(values: list[object]) -> SavedGame:
    """Play a game again from what a token holds, and refuse what differs from it."""
    payload = dict(zip(_PAYLOAD, values, strict=False))
    check_version(payload)
    if len(values) != len(_PAYLOAD):
        raise InvalidSavedGame(SavedGameFault.WRONG_FIELDS)
    ending = text_or_none(payload, "ending") or ""
    derived = {
        "start": START_FEN if payload["start"] is None else payload["start"],
        "termination": ENDINGS.get(ending[:1]),
        "winner": _WINNERS.get(ending[1:]),
    }
    flag_fell = ending[:1] == FLAG_FELL
    saved = SavedGame(*rebuild({**payload, **derived}, _history(payload), flag_fell=flag_fell))
    compare(payload, dict(zip(_PAYLOAD, _payload_of(saved), strict=True)))
    return saved


def _history(payload: Fields) -> Iterator[dict[str, object]]:
    """Yield the entries of `move_history`, as far as a game is played again from them.

    One by one, so that a game that goes wrong early costs little, however long it claims to be.
    """
    pairs = re.findall("[0-9]{2}", text_of(payload, "moves"))
    pauses, elapsed, sources = (
        [None] * len(pairs) if payload[field] is None else list_of(payload, field)
        for field in ("played_at", "elapsed_us", "sources")
    )
    if not len(pairs) == len(pauses) == len(elapsed) == len(sources):
        raise wrong_value("moves")
    times = _timestamps(pauses, elapsed)
    for (start, end), *rest in zip(pairs, times, elapsed, sources, strict=True):
        yield dict(zip(_ENTRY, (_PLACES[int(start)] + _PLACES[int(end)], *rest), strict=True))


def _timestamps(pauses: Sequence[object], elapsed: Sequence[object]) -> Iterator[str | None]:
    time = _EPOCH
    for pause, took in zip(pauses, elapsed, strict=True):
        if pause is None:
            yield None
            continue
        since = integer(pause, "played_at") + integer(0 if took is None else took, "elapsed_us")
        try:
            time += since * MICROSECOND
        except OverflowError:
            raise wrong_value("played_at") from None
        yield _timestamp(time)
