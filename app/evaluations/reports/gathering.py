"""Gathering: everything that a report is made of, read from the database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection

from agents.models.budget import Spending
from app.evaluations.analysis.game_analysis import GameAnalysis
from app.evaluations.contest import Contest
from app.evaluations.games import (
    EvaluationData,
    PlayedGame,
    PositionAnswer,
    SideRecord,
    VoidCause,
    VoidGame,
)
from app.evaluations.plan import DuelPlan, label_of, plan_json, read_plan
from app.evaluations.schedules.schedule import Slot
from app.matches.settings import MatchSettings
from app.persistence.evaluations import (
    EvaluationRecord,
    GameRecord,
    SideSpending,
    analyses_of,
    first_plies_of,
    games_of,
    plies_of,
    rejections_of,
    spending_of,
)
from engine import Color, Move, Termination


@dataclass(frozen=True)
class Gathered:
    """What the database tells of an evaluation, as it is stored."""

    record: EvaluationRecord
    games: list[GameRecord]
    plies: Mapping[tuple[str, str], tuple[int, int]]
    rejections: list[tuple[str, str]]
    spending: list[SideSpending]
    first_plies: Mapping[str, str]
    analyses: Mapping[str, str]


def gather(connection: Connection, record: EvaluationRecord) -> Gathered:
    """Read everything in one transaction."""
    return Gathered(
        record,
        games_of(connection, record.id),
        plies_of(connection, record.id),
        rejections_of(connection, record.id),
        spending_of(connection, record.id),
        first_plies_of(connection, record.id) if record.kind == "positions" else {},
        analyses_of(connection, record.id),
    )


def understood(gathered: Gathered) -> EvaluationData:
    """Return what was gathered as a report takes it. It may take a while: leave the event loop."""
    record = gathered.record
    contest = Contest.of(read_plan(json.loads(record.plan)))
    plan = contest.plan
    sides = _Sides(gathered)
    scored = [each for each in gathered.games if each.status == "scored"]
    void = [each for each in gathered.games if each.status == "void"]
    latest = {each.number: each.attempt for each in gathered.games}  # attempts are in order
    void_ids = {each.match_id for each in void}
    is_suite = contest.suite is not None
    return EvaluationData(
        id=record.id,
        name=record.name,
        kind=plan.kind,
        status=record.status,
        detail=record.detail,
        created_at=record.created_at,
        ended_at=record.ended_at,
        plan=plan_json(plan),
        manifest=json.loads(record.manifest),
        agents=tuple(map(label_of, plan.players)),
        anchors=contest.anchors,
        white_advantage=getattr(plan, "white_advantage", 0.0),
        games=() if is_suite else tuple(_game(each, sides) for each in scored),
        void_games=tuple(
            VoidGame(VoidCause.of(each.detail), each.attempt < latest[each.number]) for each in void
        ),
        answers=tuple(_answer(each, contest, gathered, sides) for each in scored)
        if is_suite
        else (),
        analyses={
            match_id: GameAnalysis.from_json(json.loads(data))
            for match_id, data in gathered.analyses.items()
        },
        sprt=plan.sprt.settings() if isinstance(plan, DuelPlan) and plan.sprt else None,
        spent=_total(gathered.spending),
        void_spent=_total(each for each in gathered.spending if each.match_id in void_ids),
    )


class _Sides:
    """What each side of each match did, besides the result."""

    def __init__(self, gathered: Gathered) -> None:
        self._plies = gathered.plies
        self._spending = {
            (each.match_id, each.color or Color.WHITE.value): each for each in gathered.spending
        }
        self._refused: Counter[tuple[str, str, bool]] = Counter()
        for match_id, data in gathered.rejections:
            event = json.loads(data)
            self._refused[match_id, event["color"], event["kind"] == "IllegalMove"] += 1

    def of(self, match_id: str, color: Color) -> SideRecord:
        """Return what a side did."""
        key = match_id, color.value
        plies, think_ms = self._plies.get(key, (0, 0))
        spending = self._spending.get(key)
        played = SideRecord(
            plies=plies,
            illegal=self._refused[*key, True],
            unreadable=self._refused[*key, False],
            think_ms=think_ms,
        )
        if spending is None:
            return played
        cost = None if spending.unpriced_calls else spending.cost_usd or Decimal(0)
        return replace(
            played,
            calls=spending.calls,
            prompt_tokens=spending.prompt_tokens,
            completion_tokens=spending.completion_tokens,
            reasoning_tokens=spending.reasoning_tokens,
            cost_usd=cost,
            latency_ms=spending.latency_ms,
        )


def _total(rows: Iterable[SideSpending]) -> Spending:
    """Return what was spent in all; the dollars are None if the price of any call is unknown."""
    rows = list(rows)
    usd = sum((each.cost_usd or Decimal(0) for each in rows), Decimal(0))
    return Spending(
        None if any(each.unpriced_calls for each in rows) else usd,
        sum(each.prompt_tokens + each.completion_tokens for each in rows),
        sum(each.calls for each in rows),
    )


def _slot(record: GameRecord) -> Slot:
    return Slot.from_json(json.loads(record.slot))


def _game(record: GameRecord, sides: _Sides) -> PlayedGame:
    slot = _slot(record)
    if record.termination is None:
        raise ValueError(f"game {record.number} counts, and has not ended")
    settings = MatchSettings.from_json(json.loads(record.match_settings))
    white, black = slot.labels
    return PlayedGame(
        number=record.number,
        match_id=record.match_id,
        white=white,
        black=black,
        opening=settings.opening or settings.initial_fen or "",
        pair=slot.pair,
        winner=None if record.winner is None else Color(record.winner),
        termination=Termination(record.termination),
        plies=record.ply_count,
        opening_plies=len(settings.opening_moves),
        white_side=sides.of(record.match_id, Color.WHITE),
        black_side=sides.of(record.match_id, Color.BLACK),
        ended_at=_ended_at(record),
    )


def _answer(
    record: GameRecord, contest: Contest, gathered: Gathered, sides: _Sides
) -> PositionAnswer:
    slot = _slot(record)
    if contest.suite is None or slot.position is None:
        raise ValueError(f"game {record.number} is no answer to a position")
    position = contest.suite.positions[slot.position]
    color = position.position.turn
    agent = slot.labels[color is Color.BLACK]
    is_forfeit = record.termination == Termination.RULES_INFRACTION.value
    answer = None if is_forfeit else gathered.first_plies.get(record.match_id)
    return PositionAnswer(
        number=record.number,
        match_id=record.match_id,
        agent=agent,
        position_id=position.id,
        fen=position.fen,
        best=position.uci,
        difficulty=position.difficulty,
        difficulty_se=position.difficulty_se,
        answer=answer,
        is_right=position.is_right(None if answer is None else Move.from_uci(answer)),
        side=sides.of(record.match_id, color),
    )


def _ended_at(record: GameRecord) -> datetime:
    ended: Any = json.loads(record.match_state)["ended_at"]
    return record.updated_at if ended is None else datetime.fromisoformat(ended)
