"""Remote matches: those of a service that are being played, and the one that an id begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Self

from agents.timekeeping import now
from app.cli.boards.talk import printable
from app.cli.remote.match_address import MatchAddress, is_whole_id
from app.cli.remote.service import NotThere, RemoteService, ServiceRefused

_MATCHES = "api/matches"
#: In this order, as somebody would like to watch them.
_LIVE = ("running", "paused", "created")
_PAGE, _MOST_PAGES = 200, 50
#: How much alike two ids are of which one is a slip of the pen.
_ALIKE = 0.85
_NEAR = 3
_LONGEST_NAME = 40
_SHORT = len("01980a4e-6a8c-7d3e")


@dataclass(frozen=True)
class RemoteMatch:
    """A match as a service lists it."""

    id: str
    white: str
    black: str
    status: str
    plies: int
    since: datetime
    #: The number of its last event.
    sequence: int

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self:
        """Return what an answer tells; raises ValueError, KeyError or TypeError."""
        since = datetime.fromisoformat(answer["started_at"] or answer["created_at"])
        if not is_whole_id(answer["id"]):
            raise ValueError(answer["id"])
        return cls(
            answer["id"],
            _name(answer["white"]),
            _name(answer["black"]),
            _text(answer["status"]),
            int(answer["ply_count"]),
            since.astimezone(),
            int(answer["sequence"]),
        )


class AmbiguousId(ServiceRefused):
    """Several ids begin like this."""


async def live_matches(service: RemoteService) -> list[dict[str, Any]]:
    """Return what a service tells of those that are not over, up to 200 of each kind."""
    listed: list[dict[str, Any]] = []
    for status in _LIVE:
        page, _ = await _page(service, status=status, limit=_PAGE)
        listed += page
    return listed


async def find_match(service: RemoteService, address: MatchAddress) -> RemoteMatch:
    """Return the match that an id, or its beginning, names.

    Raises `NotThere`, `AmbiguousId` or what `RemoteService.get` raises.
    """
    if not is_whole_id(address.match):
        return await _beginning(service, address.match)
    try:
        answer = await service.get(f"{_MATCHES}/{address.match}")
    except NotThere:
        raise NotThere(await _unknown(service, address.match)) from None
    return read_matches(service, [answer])[0]


def read_matches(service: RemoteService, answers: Iterable[dict[str, Any]]) -> list[RemoteMatch]:
    """Return matches of which a service told; raises `ServiceFailed` if it is none of ours."""
    try:
        return [RemoteMatch.of(answer) for answer in answers]
    except (ValueError, KeyError, TypeError, OverflowError):
        raise service.is_another() from None


def told_matches(matches: Sequence[RemoteMatch], *, short: bool = False) -> list[str]:
    """Return a line for each: its number, id, players, how far it is, and since when.

    `short` is for windows: so much of an id that no two matches of one moment share it.
    """
    pairs = [f"{match.white} - {match.black}" for match in matches]
    width = max(map(len, pairs), default=0)
    digits = len(str(len(matches)))
    length = _SHORT if short else None
    return [
        f"{number:{digits}}  {match.id[:length]}  {pair:{width}}  {_how_far(match)}"
        for number, (match, pair) in enumerate(zip(matches, pairs, strict=True), 1)
    ]


def _how_far(match: RemoteMatch) -> str:
    plies = "1 ply" if match.plies == 1 else f"{match.plies} plies"
    is_today = match.since.date() == now().astimezone().date()
    since = match.since.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")
    return f"{plies}, {match.status} since {since}"


async def _beginning(service: RemoteService, beginning: str) -> RemoteMatch:
    found: list[dict[str, Any]] = []
    query: dict[str, str | int] = {"limit": _PAGE}
    for _ in range(_MOST_PAGES):
        page, cursor = await _page(service, **query)
        found += [each for each in page if str(each.get("id")).startswith(beginning)]
        # The newest come first, and ids rise with time.
        is_past = bool(page) and str(page[-1].get("id"))[: len(beginning)] < beginning
        if cursor is None or is_past:
            break
        query["cursor"] = cursor
    if not found:
        raise NotThere(await _unknown(service, beginning))
    if len(found) > 1:
        some = [_text(each.get("id")) for each in found[:_NEAR]]
        more = f" and {len(found) - _NEAR} more" if len(found) > _NEAR else ""
        raise AmbiguousId(f"several matches begin with {beginning}: {', '.join(some)}{more}")
    return read_matches(service, found)[0]


async def _unknown(service: RemoteService, match: str) -> str:
    page, _ = await _page(service, limit=_PAGE)
    ids = [_text(each.get("id")) for each in page]
    near = get_close_matches(match, ids, _NEAR, _ALIKE)
    hint = f"did you mean {' or '.join(near)}?" if near else "`kibitz watch` lists what is played"
    return f"{service.address} has no match {match}; {hint}"


async def _page(
    service: RemoteService, **query: str | int
) -> tuple[list[dict[str, Any]], str | None]:
    answer = await service.get(_MATCHES, **query)
    matches, cursor = answer.get("matches"), answer.get("next_cursor")
    if not isinstance(matches, list) or not all(isinstance(each, dict) for each in matches):
        raise service.is_another()
    return matches, cursor if isinstance(cursor, str) else None


def _name(player: dict[str, Any]) -> str:
    return _text(player["title"] or player["name"])[:_LONGEST_NAME]


def _text(value: object) -> str:
    return printable(str(value))
