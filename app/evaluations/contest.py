"""Contest: what a plan comes to with the players there are: opponents, schedule and settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.catalogue import Catalogue
from agents.models.budget import Budget
from agents.uci.ratings import RatedPlayer
from app.evaluations.adaptive import Anchor
from app.evaluations.errors import UnplayablePlan
from app.evaluations.plan import (
    AnchorBody,
    DuelPlan,
    LadderPlan,
    Plan,
    PoolPlan,
    PositionsPlan,
    label_of,
)
from app.evaluations.ratings import WALD
from app.evaluations.schedules.duel import Duel
from app.evaluations.schedules.ladder import Ladder, RatedOpponent
from app.evaluations.schedules.pool import Pool
from app.evaluations.schedules.positions import Positions
from app.evaluations.schedules.schedule import Schedule, Slot
from app.evaluations.suites.suite import Suite, find_suite, shipped_suites
from app.matches.openings import shuffled
from app.matches.schemas import PlayerBody
from app.matches.settings import MAX_SEED, MatchSettings, PlayerSettings
from engine import Position
from engine.variant import find_variant

#: How calibrations call Stockfish with fewer nodes.
_RUNG = re.compile(r"(?P<name>\S+) at (?P<nodes>\d+) nodes")
_STANDARD = "standard"


@dataclass(frozen=True)
class Contest:
    """A plan with all that it leaves to us decided."""

    plan: Plan
    schedule: Schedule
    anchors: tuple[Anchor, ...] = ()
    suite: Suite | None = None

    @classmethod
    def of(cls, plan: Plan) -> Contest:
        """Return what a plan comes to that `settled` has given."""
        match plan:
            case LadderPlan():
                opponents = _opponents(plan.anchors)
                ladder = Ladder(
                    plan.players,
                    opponents,
                    plan.margin,
                    plan.games,
                    plan.adaptive,
                    plan.white_advantage,
                )
                return cls(plan, ladder, tuple(each.anchor for each in opponents))
            case DuelPlan():
                first, second = plan.players
                test = None if plan.sprt is None else plan.sprt.settings()
                return cls(plan, Duel(first, second, plan.games, test))
            case PoolPlan():
                opponents = _opponents(plan.anchors)
                seated = tuple(each.player for each in opponents)
                pool = Pool(plan.players, seated, plan.rounds)
                return cls(plan, pool, tuple(each.anchor for each in opponents))
            case PositionsPlan():
                suite = Suite.read(plan.suite or "positions", "\n".join(plan.positions))
                turns = tuple(Position.from_fen(each.fen).turn for each in suite.positions)
                return cls(plan, Positions(plan.players, turns), suite=suite)

    @property
    def players(self) -> tuple[PlayerSettings, ...]:
        """Everybody who may take a seat, agents first."""
        anchors = getattr(self.plan, "anchors", ())
        return (*self.plan.players, *(each.settings() for each in anchors))

    @property
    def most_games(self) -> int:
        """How many games it may be at most."""
        plan, schedule = self.plan, self.schedule
        if isinstance(plan, LadderPlan):
            return plan.games * len(plan.players)
        return schedule.expected(())

    def settings_of(
        self, slot: Slot, opening: str | None, fen: str | None, budget: Budget | None = None
    ) -> MatchSettings:
        """Return the settings of the match in a slot, which starts from an opening or a position.

        Raises `UnplayableSettings`.
        """
        plan = self.plan
        rules = plan.match
        return MatchSettings(
            white=slot.white,
            black=slot.black,
            variant=plan.variant,
            initial_fen=fen,
            opening=opening,
            time_control=rules.time_control,
            illegal_moves=rules.illegal_moves.settings(),
            budget=rules.budget.settings() if budget is None else budget,
            adjudication=rules.adjudication.settings(),
            max_plies=1 if slot.position is not None else rules.max_plies,
            analysis=None if rules.analysis is None else rules.analysis.settings(),
            # Both games of a pair, and a game that is played again, have dice of their own.
            seed=derived(plan.seed, "match", slot.number),
            tags=tuple(plan.tags),
        )

    def known_opening(self, round_number: int) -> str | None:
        """Return the well-known opening of a round, if the plan wants one."""
        openings = getattr(self.plan, "openings", None)
        if openings is None or openings.source != "table" or self.plan.variant != _STANDARD:
            return None
        lines = shuffled(self.plan.seed)
        return lines[(round_number - 1) % len(lines)].name

    def known_start(self, slot: Slot) -> str | None:
        """Return the position in which a game starts, if that is not the only start there is."""
        if slot.position is not None and self.suite is not None:
            return self.suite.positions[slot.position].fen
        variant = find_variant(self.plan.variant)
        if variant.starts == 1:
            return None
        # One of many starts, and the same one for both games of a pair.
        number = derived(self.plan.seed, "start", slot.round) % variant.starts
        return Position.start(self.plan.variant, number).fen()


def settled(plan: Plan, catalogue: Catalogue) -> Plan:
    """Return a plan with anchors and positions as they are known now, for good.

    So a calibration or another suite does not change an evaluation that is under way. Raises
    `UnplayablePlan`, `InvalidSuite`, and what reading the ratings raises.
    """
    match plan:
        case LadderPlan():
            anchors = [_rated(each, plan, catalogue) for each in plan.anchors]
            anchors = anchors or _calibrated(plan, catalogue)
            _refuse_same_labels(anchors)
            # Whoever is measured is nobody's measure.
            measured = set(map(label_of, plan.players))
            anchors = [each for each in anchors if label_of(each.settings()) not in measured]
            if not anchors:
                raise UnplayablePlan("anchors", "nobody is left to meet who is no agent")
            return plan.model_copy(update={"anchors": anchors})
        case PoolPlan():
            anchors = [_rated(each, plan, catalogue) for each in plan.anchors]
            _refuse_same_labels([*plan.agents, *anchors])
            return plan.model_copy(update={"anchors": anchors})
        case PositionsPlan():
            return _with_positions(plan)
        case DuelPlan():
            return plan


def derived(*parts: object) -> int:
    """Return a seed that depends on all of the parts, and resembles that of no others."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % (MAX_SEED + 1)


def _opponents(anchors: list[AnchorBody]) -> tuple[RatedOpponent, ...]:
    return tuple(
        RatedOpponent(
            Anchor(label_of(each.settings()), each.elo or 0.0, each.elo_se or 0.0), each.settings()
        )
        for each in anchors
    )


def _rated(anchor: AnchorBody, plan: Plan, catalogue: Catalogue) -> AnchorBody:
    """Return an anchor with its rating."""
    if anchor.elo is not None:
        return anchor.model_copy(update={"elo_se": anchor.elo_se or 0.0})
    # What people call it does not matter: how it plays was measured.
    label = label_of(replace(anchor.settings(), title=""))
    known = catalogue.ratings.players.get(label)
    elo = None if known is None else known.elo
    if known is None or elo is None:
        raise UnplayablePlan("anchors", f"nobody knows how strong {label} is; give its elo")
    if plan.variant != _STANDARD:
        raise UnplayablePlan(
            "anchors", f"{label} was rated in standard chess; give its elo in {plan.variant}"
        )
    return anchor.model_copy(update={"elo": elo, "elo_se": _error(known)})


def _calibrated(plan: LadderPlan, catalogue: Catalogue) -> list[AnchorBody]:
    """Return whoever was calibrated and can be seated, the weakest first."""
    if plan.variant != _STANDARD:
        reason = f"nobody was rated in {plan.variant}: name anchors and their elo"
        raise UnplayablePlan("anchors", reason)
    found = []
    for label, known in catalogue.ratings.players.items():
        rung = _RUNG.fullmatch(label)
        name = label if rung is None else rung["name"]
        # Other UCI engines were measured as they happened to be configured.
        if name not in catalogue.names or name.startswith("uci:") or known.elo is None:
            continue
        body = {"name": name, "elo": known.elo, "elo_se": _error(known)}
        found.append(
            AnchorBody.model_validate(
                body if rung is None else body | {"nodes": int(rung["nodes"])}
            )
        )
    if not found:
        raise UnplayablePlan("anchors", "nobody was calibrated; name anchors and their elo")
    return sorted(found, key=lambda each: each.elo or 0.0)


def _error(known: RatedPlayer) -> float:
    """Return the standard error of a rating, from its 95 % interval."""
    if known.low is None or known.high is None:
        return 0.0
    return round((known.high - known.low) / 2 / WALD, 1)


def _with_positions(plan: PositionsPlan) -> PositionsPlan:
    """Return a plan with the positions of its suite: a name that is installed, never a file."""
    if plan.positions:
        Suite.read(plan.suite or "positions", "\n".join(plan.positions))
        return plan
    known = shipped_suites()
    if plan.suite not in known:
        raise UnplayablePlan("suite", f"there is no such suite; known are {', '.join(known)}")
    return plan.model_copy(update={"positions": find_suite(plan.suite).text().splitlines()})


def _refuse_same_labels(players: Sequence[PlayerBody]) -> None:
    labels = [label_of(each.settings()) for each in players]
    for label in labels:
        if labels.count(label) > 1:
            raise UnplayablePlan("anchors", f"{label} is there twice; give one of them a title")
