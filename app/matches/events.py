"""Events: what happened in a match, in order. Together they are the match, and nothing is lost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from engine import Evaluation, Outcome

_MILLISECOND = timedelta(milliseconds=1)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


#: In every event of a match that was played elsewhere; and how that is encoded.
IMPORTED = {"imported": True}
_IMPORTED = '"imported":true'


class EventType(StrEnum):
    """What can happen in a match."""

    CREATED = "match.created"
    STARTED = "match.started"
    TURN = "turn.started"
    ADVICE = "advice.given"
    REJECTED = "attempt.rejected"
    PLY = "ply.played"
    DRAW_OFFERED = "draw.offered"
    DRAW_DECLINED = "draw.declined"
    TAKEBACK_ASKED = "takeback.asked"
    TAKEBACK_DECLINED = "takeback.declined"
    TAKEN_BACK = "takeback.taken"
    PAUSED = "match.paused"
    RESUMED = "match.resumed"
    ENDED = "match.ended"


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log. Sequence numbers count from 1, without gaps."""

    match_id: str
    sequence: int
    type: EventType
    at: datetime
    fields: dict[str, Any]

    def encode(self) -> str:
        """Return the event as one line of JSON, as it is stored and sent to watchers."""
        head = {
            "sequence": self.sequence,
            "type": self.type.value,
            "match_id": self.match_id,
            "at": timestamp(self.at),
        }
        return dumps(head | self.fields)

    @classmethod
    def decode(cls, text: str) -> Event:
        """Return the event that `encode` gave."""
        fields = json.loads(text)
        return cls(
            match_id=fields.pop("match_id"),
            sequence=fields.pop("sequence"),
            type=EventType(fields.pop("type")),
            at=datetime.fromisoformat(fields.pop("at")),
            fields=fields,
        )


def dumps(data: object) -> str:
    """Return data as JSON on one line, without spaces that nobody reads."""
    return _encode(data)


def timestamp(time: datetime) -> str:
    """Return a time as RFC 3339 has it, in UTC, to the millisecond."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def milliseconds(duration: timedelta) -> int:
    """Return a duration in whole milliseconds, rounded down."""
    return duration // _MILLISECOND


def is_imported(data: str) -> bool:
    """Tell whether an event, as `Event.encode` gave it, is of a match that was played elsewhere."""
    return _IMPORTED in data  # within a text its quotes would have backslashes before them


def evaluation_json(evaluation: Evaluation | None) -> dict[str, int] | None:
    """Return an evaluation as `{"centipawns": 35}` or `{"mate": -3}`, from White's side."""
    if evaluation is None:
        return None
    if evaluation.centipawns is not None:
        return {"centipawns": evaluation.centipawns}
    return {"mate": evaluation.mate or 0}


def evaluation_of(data: dict[str, int] | None) -> Evaluation | None:
    """Return the evaluation that `evaluation_json` gave."""
    return None if data is None else Evaluation(**data)


def outcome_json(outcome: Outcome | None) -> dict[str, Any] | None:
    """Return an outcome as plain data."""
    if outcome is None:
        return None
    return {
        "winner": None if outcome.winner is None else outcome.winner.value,
        "result": outcome.result,
        "termination": outcome.termination.value,
        "detail": str(outcome),
    }
