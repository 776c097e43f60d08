"""Evaluations in the database: made, found, listed, claimed, and moved on by whoever conducts them.

Every write of a conductor names its epoch, so one that lost the evaluation changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, insert, or_, select, update

from app.persistence import workers
from app.persistence.errors import LostEvaluation
from app.persistence.tables import (
    UNFINISHED,
    Evaluation,
    EvaluationGame,
    Event,
    GameAnalysis,
    Match,
    ModelCall,
    Ply,
    Usd,
)

#: The source of plies that nobody decided.
OPENING = "opening"

#: In which something can still happen, and in which somebody conducts it.
OPEN = ("created", "running", "paused")
CONDUCTED = ("created", "running")
FINISHED = "finished"
STATUSES = (*OPEN, FINISHED, "cancelled")
GAME_STATUSES = ("playing", "scored", "void")


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """An evaluation: what was asked for, and how far it has come."""

    id: str
    created_at: datetime
    updated_at: datetime
    status: str
    #: JSON, as are manifest and progress.
    plan: str
    client: str
    idempotency_key: str | None
    name: str
    kind: str
    detail: str
    manifest: str
    progress: str
    revision: int
    request_digest: str | None
    ended_at: datetime | None
    owner: str | None
    epoch: int
    #: Whether a report is stored, which `report_of` reads: it may be large.
    has_report: bool = False


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game of an evaluation, and where its match stands."""

    number: int
    attempt: int
    match_id: str
    #: `playing`, `scored` or `void`.
    status: str
    #: JSON.
    slot: str
    detail: str
    match_status: str
    winner: str | None
    termination: str | None
    #: JSON, as are the settings.
    match_state: str
    match_settings: str
    ply_count: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SideSpending:
    """What the model calls of one side of a match came to."""

    match_id: str
    color: str | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    #: None if the price of no call is known.
    cost_usd: Decimal | None
    unpriced_calls: int
    latency_ms: int


_NAMES = tuple(field.name for field in fields(EvaluationRecord) if field.name != "has_report")
_EVALUATIONS = select(
    *(getattr(Evaluation, name) for name in _NAMES), Evaluation.report.is_not(None)
)
_FIND = _EVALUATIONS.where(Evaluation.id == bindparam("evaluation"))
_FIND_BY_KEY = _EVALUATIONS.where(
    Evaluation.client == bindparam("by_client"), Evaluation.idempotency_key == bindparam("by_key")
)
_REVISIONS = select(Evaluation.id, Evaluation.revision).order_by(Evaluation.id)
_COUNTS = select(Evaluation.status, func.count()).group_by(Evaluation.status)
_GAME_COUNTS = select(EvaluationGame.status, func.count()).group_by(EvaluationGame.status)
_CONDUCTED = (
    select(Evaluation.id, Evaluation.owner)
    .where(Evaluation.status.in_(CONDUCTED))
    .order_by(Evaluation.id)
)
_OWNED = (
    select(Evaluation.status, Evaluation.owner, Evaluation.epoch)
    .where(Evaluation.id == bindparam("evaluation"))
    .with_for_update()
)
_CLAIM = (
    update(Evaluation)
    .where(Evaluation.id == bindparam("evaluation"))
    .values(owner=bindparam("new_owner"), epoch=Evaluation.epoch + 1)
)
_ADD_GAME = insert(EvaluationGame)
_GAMES = (
    select(
        EvaluationGame.number,
        EvaluationGame.attempt,
        EvaluationGame.match_id,
        EvaluationGame.status,
        EvaluationGame.slot,
        EvaluationGame.detail,
        Match.status,
        Match.winner,
        Match.termination,
        Match.state,
        Match.settings,
        Match.ply_count,
        Match.updated_at,
    )
    .join(Match, Match.id == EvaluationGame.match_id)
    .where(EvaluationGame.evaluation_id == bindparam("evaluation"))
    .order_by(EvaluationGame.number, EvaluationGame.attempt)
)
_SETTLE = (
    update(EvaluationGame)
    .where(EvaluationGame.match_id == bindparam("match"))
    .values(status=bindparam("new_status"), detail=bindparam("new_detail"))
)
_TOOK_TOKENS = ModelCall.prompt_tokens + ModelCall.completion_tokens > 0
_SPENDING = (
    select(
        ModelCall.match_id,
        ModelCall.color,
        func.count(),
        func.coalesce(func.sum(ModelCall.prompt_tokens), 0),
        func.coalesce(func.sum(ModelCall.completion_tokens), 0),
        func.coalesce(func.sum(ModelCall.reasoning_tokens), 0),
        func.sum(ModelCall.cost_usd, type_=Usd),
        func.count(case(((ModelCall.cost_usd.is_(None)) & _TOOK_TOKENS, 1))),
        func.coalesce(func.sum(ModelCall.latency_ms), 0),
    )
    .join(EvaluationGame, EvaluationGame.match_id == ModelCall.match_id)
    .where(EvaluationGame.evaluation_id == bindparam("evaluation"))
    .group_by(ModelCall.match_id, ModelCall.color)
)
_PLIES = (
    select(Ply.match_id, Ply.color, func.count(), func.coalesce(func.sum(Ply.elapsed_ms), 0))
    .join(EvaluationGame, EvaluationGame.match_id == Ply.match_id)
    .where(EvaluationGame.evaluation_id == bindparam("evaluation"), Ply.source != OPENING)
    .group_by(Ply.match_id, Ply.color)
)
_REJECTIONS = (
    select(Event.match_id, Event.data)
    .join(EvaluationGame, EvaluationGame.match_id == Event.match_id)
    .where(
        EvaluationGame.evaluation_id == bindparam("evaluation"), Event.type == "attempt.rejected"
    )
    .order_by(Event.match_id, Event.sequence)
)
_FIRST_PLIES = (
    select(Ply.match_id, Ply.uci)
    .join(EvaluationGame, EvaluationGame.match_id == Ply.match_id)
    .where(EvaluationGame.evaluation_id == bindparam("evaluation"), Ply.number == 1)
)
_ANALYSES = select(GameAnalysis.match_id, GameAnalysis.data).where(
    GameAnalysis.evaluation_id == bindparam("evaluation")
)
_ANALYSED = select(GameAnalysis.match_id, GameAnalysis.nodes).where(
    GameAnalysis.evaluation_id == bindparam("evaluation")
)
_ADD_ANALYSIS = insert(GameAnalysis)


def insert_evaluation(connection: Connection, record: EvaluationRecord) -> None:
    """Store a new evaluation; `StorageRefused` comes of an id or key that is there already."""
    connection.execute(insert(Evaluation), {name: getattr(record, name) for name in _NAMES})


def find_evaluation(connection: Connection, evaluation_id: str) -> EvaluationRecord | None:
    """Return an evaluation, or None."""
    row: Any = connection.execute(_FIND, {"evaluation": evaluation_id}).one_or_none()
    return None if row is None else EvaluationRecord(*row)


def find_by_key(
    connection: Connection, client: str, idempotency_key: str
) -> EvaluationRecord | None:
    """Return the evaluation that a client started with an idempotency key, or None."""
    parameters = {"by_client": client, "by_key": idempotency_key}
    row: Any = connection.execute(_FIND_BY_KEY, parameters).one_or_none()
    return None if row is None else EvaluationRecord(*row)


def list_evaluations(
    connection: Connection, status: str | None, before: str | None, limit: int
) -> list[EvaluationRecord]:
    """Return evaluations, the newest first, from the one that precedes an id on."""
    query = _EVALUATIONS
    if status is not None:
        query = query.where(Evaluation.status == status)
    if before is not None:
        query = query.where(Evaluation.id < before)
    rows: Any = connection.execute(query.order_by(Evaluation.id.desc()).limit(limit))
    return [EvaluationRecord(*row) for row in rows]


def revisions_of(
    connection: Connection, evaluation_ids: Collection[str] | None = None
) -> dict[str, int]:
    """Return how often evaluations have changed: these, or all."""
    query = _REVISIONS
    if evaluation_ids is not None:
        query = query.where(Evaluation.id.in_(evaluation_ids))
    rows: Any = connection.execute(query)
    return dict(rows.all())


def count_by_status(connection: Connection) -> dict[str, int]:
    """Return how many evaluations there are of each status that occurs."""
    rows: Any = connection.execute(_COUNTS)
    return dict(rows.all())


def count_games_by_status(connection: Connection) -> dict[str, int]:
    """Return how many games of evaluations there are of each status that occurs."""
    rows: Any = connection.execute(_GAME_COUNTS)
    return dict(rows.all())


def open_of(connection: Connection, client: str) -> int:
    """Return how many evaluations of a client are not over."""
    query = select(func.count()).where(Evaluation.client == client, Evaluation.status.in_(OPEN))
    count: int = connection.execute(query).scalar_one()
    return count


def claimable(connection: Connection, worker: str) -> list[str]:
    """Return ids of evaluations that go on and that no other living worker conducts, oldest first.

    Whether we conduct those that are ours we have to know: a fault may have ended that.
    """
    rows = connection.execute(_CONDUCTED).all()
    owners = [row.owner for row in rows if row.owner is not None]
    free = {None, worker, *workers.dead_of(connection, owners, worker)}
    return [row.id for row in rows if row.owner in free]


def claim(
    connection: Connection,
    evaluation_id: str,
    worker: str,
    *,
    by_force: bool = False,
    among: Collection[str] = CONDUCTED,
) -> int | None:
    """Make a worker the owner of an evaluation, and return the new epoch.

    Returns None if its status is not `among` those, and unless it is taken by force, if another
    living worker owns it.
    """
    row = connection.execute(_OWNED, {"evaluation": evaluation_id}).one_or_none()
    if row is None or row.status not in among:
        return None
    owners = [] if by_force or row.owner in (None, worker) else [row.owner]
    if len(workers.dead_of(connection, owners, worker)) < len(owners):
        return None
    connection.execute(_CLAIM, {"evaluation": evaluation_id, "new_owner": worker})
    epoch: int = row.epoch + 1
    return epoch


def move_on(connection: Connection, evaluation_id: str, epoch: int, **values: Any) -> None:  # noqa: ANN401 - columns
    """Change columns of an evaluation, and count the change; raises `LostEvaluation`."""
    statement = (
        update(Evaluation)
        .where(Evaluation.id == evaluation_id, Evaluation.epoch == epoch)
        .values(revision=Evaluation.revision + 1, **values)
    )
    if connection.execute(statement).rowcount != 1:
        raise LostEvaluation(evaluation_id)


def report_of(connection: Connection, evaluation_id: str) -> str | None:
    """Return the report of an evaluation as JSON, if one is stored."""
    query = select(Evaluation.report).where(Evaluation.id == evaluation_id)
    report: str | None = connection.execute(query).scalar_one_or_none()
    return report


def store_report(connection: Connection, evaluation_id: str, epoch: int, report: str) -> None:
    """Store the report of an evaluation, which does not change it; raises `LostEvaluation`."""
    statement = (
        update(Evaluation)
        .where(Evaluation.id == evaluation_id, Evaluation.epoch == epoch)
        .values(report=report)
    )
    if connection.execute(statement).rowcount != 1:
        raise LostEvaluation(evaluation_id)


def hold(connection: Connection, evaluation_id: str, epoch: int) -> None:
    """See that an evaluation is ours until the commit, or raise `LostEvaluation`."""
    row = connection.execute(_OWNED, {"evaluation": evaluation_id}).one_or_none()
    if row is None or row.epoch != epoch or row.status not in CONDUCTED:
        raise LostEvaluation(evaluation_id)


def add_game(
    connection: Connection, evaluation_id: str, number: int, attempt: int, match_id: str, slot: str
) -> None:
    """Store the place of a match; a place that is taken is `StorageRefused`."""
    row = {
        "evaluation_id": evaluation_id,
        "number": number,
        "attempt": attempt,
        "match_id": match_id,
        "status": "playing",
        "slot": slot,
    }
    connection.execute(_ADD_GAME, row)


def games_of(
    connection: Connection, evaluation_id: str, *, playing: bool = False
) -> list[GameRecord]:
    """Return the games of an evaluation, in order; all, or only those that are being played."""
    query = _GAMES.where(EvaluationGame.status == "playing") if playing else _GAMES
    rows: Any = connection.execute(query, {"evaluation": evaluation_id})
    return [GameRecord(*row) for row in rows]


def settle_game(connection: Connection, match_id: str, status: str, detail: str = "") -> None:
    """Note what became of a game: `scored` or `void`."""
    connection.execute(_SETTLE, {"match": match_id, "new_status": status, "new_detail": detail})


def spending_of(
    connection: Connection, evaluation_id: str, *, playing: bool = False, also: Sequence[str] = ()
) -> list[SideSpending]:
    """Return what the calls of each side came to: in all matches, or those being played.

    With `playing`, `also` are matches whose calls are counted besides.
    """
    query = _SPENDING
    if playing:
        wanted = EvaluationGame.status == "playing"
        query = query.where(or_(wanted, EvaluationGame.match_id.in_(also)) if also else wanted)
    rows: Any = connection.execute(query, {"evaluation": evaluation_id})
    return [
        SideSpending(
            match_id,
            color,
            int(calls),
            int(prompt),
            int(completion),
            int(reasoning),
            cost,
            int(unpriced),
            int(latency),
        )
        for match_id, color, calls, prompt, completion, reasoning, cost, unpriced, latency in rows
    ]


def plies_of(connection: Connection, evaluation_id: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Return how many plies each side of each match has played, and how long it thought, in ms."""
    rows: Any = connection.execute(_PLIES, {"evaluation": evaluation_id})
    return {(match, color): (int(plies), int(took)) for match, color, plies, took in rows}


def rejections_of(connection: Connection, evaluation_id: str) -> list[tuple[str, str]]:
    """Return what was refused in the matches of an evaluation: match, and the event as JSON."""
    rows: Any = connection.execute(_REJECTIONS, {"evaluation": evaluation_id})
    return [(match, data) for match, data in rows]


def first_plies_of(connection: Connection, evaluation_id: str) -> dict[str, str]:
    """Return the first move of every match of an evaluation that has one, in UCI notation."""
    rows: Any = connection.execute(_FIRST_PLIES, {"evaluation": evaluation_id})
    return dict(rows.all())


def analyses_of(connection: Connection, evaluation_id: str) -> dict[str, str]:
    """Return the analyses of an evaluation's games as JSON, by match."""
    rows: Any = connection.execute(_ANALYSES, {"evaluation": evaluation_id})
    return dict(rows.all())


def analysed_of(connection: Connection, evaluation_id: str) -> dict[str, int]:
    """Return which matches of an evaluation are analysed, and how many nodes that took."""
    rows: Any = connection.execute(_ANALYSED, {"evaluation": evaluation_id})
    return dict(rows.all())


def add_analysis(
    connection: Connection, evaluation_id: str, match_id: str, nodes: int, data: str, at: datetime
) -> None:
    """Store the analysis of a match; a second one is `StorageRefused`."""
    row = {
        "match_id": match_id,
        "evaluation_id": evaluation_id,
        "nodes": nodes,
        "data": data,
        "at": at,
    }
    connection.execute(_ADD_ANALYSIS, row)


def unfinished_matches(connection: Connection, evaluation_id: str) -> Sequence[str]:
    """Return the matches of an evaluation that are not over."""
    query = select(Match.id).where(
        Match.evaluation_id == evaluation_id, Match.status.in_(UNFINISHED)
    )
    return list(connection.execute(query.order_by(Match.id)).scalars())
