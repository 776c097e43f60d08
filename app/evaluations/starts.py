"""Starts: where the games of an evaluation begin. A round has one start, whoever plays in it."""

from __future__ import annotations

from dataclasses import dataclass

from agents.catalogue import Catalogue
from agents.uci.limits import Limit
from app.evaluations.balanced import balanced_opening, balanced_position
from app.evaluations.contest import Contest
from app.evaluations.plan import OpeningsBody, PositionsPlan
from app.evaluations.schedules.schedule import Slot


@dataclass(frozen=True, slots=True)
class Start:
    """After an opening, or in a position, or as the variant has it."""

    opening: str | None = None
    fen: str | None = None


class Starts:
    """Makes the start of each round when it is first needed, the same one again after a restart."""

    def __init__(self, contest: Contest, catalogue: Catalogue) -> None:
        self._contest = contest
        self._catalogue = catalogue
        self._made: dict[int, Start] = {}

    async def of(self, slot: Slot) -> Start:
        """Return where a game starts.

        Raises `NoBalancedOpening`, and what `Analyser.analyse` raises.
        """
        if slot.round not in self._made:
            self._made[slot.round] = await self._make(slot)
        return self._made[slot.round]

    async def _make(self, slot: Slot) -> Start:
        plan = self._contest.plan
        if isinstance(plan, PositionsPlan) or plan.openings.source != "balanced":
            fen = self._contest.known_start(slot)
            return Start(None if fen else self._contest.known_opening(slot.round), fen)
        return await self._balanced(plan.openings, slot.round - 1)

    async def _balanced(self, wanted: OpeningsBody, number: int) -> Start:
        plan, analyser = self._contest.plan, self._catalogue.analyser()
        limit = Limit(nodes=wanted.nodes)
        if plan.variant == "standard":
            moves = await balanced_opening(
                analyser,
                plan.seed,
                number,
                plies=wanted.plies,
                window=wanted.window,
                limit=limit,
            )
            return Start(opening=moves)
        position = await balanced_position(
            analyser,
            plan.seed,
            number,
            variant=plan.variant,
            plies=wanted.plies,
            window=wanted.window,
            limit=limit,
        )
        return Start(fen=position.fen())
