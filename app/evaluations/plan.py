"""Plan: what an evaluation measures, how, and when it stops. TOML, or JSON with the same names.

A plan is data from outside for as long as it lives: it is checked when it comes, and kept as it
was understood, defaults and all.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator
from pydantic import ValidationError as PydanticError

from agents.models.budget import Budget
from app.bodies import Body, VariantName
from app.evaluations.errors import InvalidPlan
from app.evaluations.games import SprtSettings
from app.evaluations.sprt import LARGEST_BOUND
from app.matches.schemas import (
    AdjudicationBody,
    Analysis,
    BudgetBody,
    IllegalMovesBody,
    Player,
    PlayerBody,
    Tag,
    Text,
    TimeControlText,
)
from app.matches.settings import HUMAN, MAX_SEED, PlayerSettings
from engine.errors import shown

#: As in calibrations, from which anchors have their ratings: a longer game is a draw.
MAX_PLIES = 300
#: Of a whole evaluation: more than anybody has the patience for.
MOST_GAMES = 20_000
MOST_AGENTS = 64
MOST_POSITIONS = 2_000

_Elo = Annotated[float, Field(ge=-10_000, le=10_000, allow_inf_nan=False)]
_Bound = Annotated[float, Field(ge=-LARGEST_BOUND, le=LARGEST_BOUND, allow_inf_nan=False)]
_EpdLine = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"^[^\r\n]+$")]


def label_of(player: PlayerSettings) -> str:
    """Return what a player is called in tables: its title, or its name and limits."""
    if player.title:
        return player.title
    limits = []
    if player.depth is not None:
        limits.append(f"depth {player.depth}")
    if player.nodes is not None:
        limits.append(f"{player.nodes} nodes")
    if player.time_ms is not None:
        limits.append(f"{player.time_ms} ms")
    return f"{player.name} at {', '.join(limits)}" if limits else player.name


class AnchorBody(PlayerBody):
    """An opponent of known rating. One that was calibrated need not say it."""

    elo: _Elo | None = Field(
        default=None, description="Its rating; the calibrated one, if not given."
    )
    elo_se: Annotated[float, Field(ge=0, le=2_000, allow_inf_nan=False)] | None = Field(
        default=None, description="The standard error of that rating; the calibrated one, or 0."
    )

    @model_validator(mode="after")
    def _check_error(self) -> AnchorBody:
        if self.elo_se is not None and self.elo is None:
            raise ValueError("elo_se goes with an elo")
        return self


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


AnchorItem = Annotated[AnchorBody, BeforeValidator(_named, json_schema_input_type=str | AnchorBody)]


class OpeningsBody(Body):
    """From which openings games start; each is played twice, with colours swapped."""

    source: Literal["table", "balanced", "none"] = Field(
        default="table",
        description="Well-known lines, generated ones that Stockfish calls level, or the variant's "
        "own start.",
    )
    plies: int = Field(default=8, ge=2, le=40, multiple_of=2, description="Of generated ones.")
    window: int = Field(
        default=40,
        ge=1,
        le=300,
        description="How many centipawns count as level, of generated ones.",
    )
    nodes: int = Field(
        default=5_000,
        ge=100,
        le=1_000_000,
        description="How far Stockfish looks at generated ones.",
    )


def _openings(value: object) -> object:
    return {"source": value} if isinstance(value, str) else value


_Openings = Annotated[
    OpeningsBody,
    BeforeValidator(
        _openings, json_schema_input_type=Literal["table", "balanced", "none"] | OpeningsBody
    ),
]


class RulesBody(Body):
    """The settings that all matches have in common; see `POST /api/matches`."""

    time_control: TimeControlText | None = None
    max_plies: int | None = Field(default=MAX_PLIES, ge=1, le=2_000)
    illegal_moves: IllegalMovesBody = IllegalMovesBody()
    budget: BudgetBody = Field(default=BudgetBody(), description="Of each match.")
    adjudication: AdjudicationBody = AdjudicationBody()
    analysis: Analysis = Field(
        default=None, description="How far Stockfish looks at each ply at once, for adjudication."
    )

    @model_validator(mode="after")
    def _check_scores(self) -> RulesBody:
        rules = self.adjudication
        if (rules.resign or rules.draw) and self.analysis is None:
            raise ValueError("adjudication goes by scores, so it needs analysis")
        return self


class ReviewBody(Body):
    """How far Stockfish looks at the games once they are over."""

    nodes: int = Field(
        default=20_000,
        ge=0,
        le=50_000_000,
        description="For each position; 0 leaves games unanalysed.",
    )
    most_nodes: int | None = Field(
        default=None, ge=0, le=10**15, description="For all games together; no bound, if not given."
    )


class SprtBody(Body):
    """A sequential test of whether the first agent is stronger by the lower bound or the upper."""

    bounds: list[_Bound] = Field(default=[0.0, 50.0], min_length=2, max_length=2)
    model: Literal["logistic", "normalized"] = "logistic"
    alpha: float = Field(default=0.05, ge=1e-6, lt=0.5)
    beta: float = Field(default=0.05, ge=1e-6, lt=0.5)

    @model_validator(mode="after")
    def _check_bounds(self) -> SprtBody:
        if not self.bounds[0] < self.bounds[1]:
            raise ValueError("the first bound should be less than the second")
        return self

    def settings(self) -> SprtSettings:
        """Return them as the statistics take them."""
        lower, upper = self.bounds
        return SprtSettings((lower, upper), self.model, self.alpha, self.beta)


def _refuse_same_names(agents: list[PlayerBody]) -> None:
    labels = [label_of(agent.settings()) for agent in agents]
    if len(set(labels)) < len(labels):
        raise ValueError("two agents have the same name; give them titles")


class _PlanBody(Body):
    """What every plan has."""

    name: Text = Field(default="evaluation", description="For people.")
    agents: list[Player] = Field(
        min_length=1, max_length=MOST_AGENTS, description="Who is measured, as in a match."
    )
    variant: VariantName = "standard"
    seed: int = Field(
        default=1,
        ge=0,
        le=MAX_SEED,
        description="Openings, dice and the order of games depend on it.",
    )
    concurrency: int = Field(
        default=2, ge=1, le=256, description="How many games are played at a time."
    )
    match: RulesBody = RulesBody()
    budget: BudgetBody = Field(default=BudgetBody(), description="Of the whole evaluation.")
    tags: list[Tag] = Field(
        default=[], max_length=10, description="For every match, to find it by."
    )

    @model_validator(mode="after")
    def _check_agents(self) -> _PlanBody:
        _refuse_same_names(self.agents)
        if any(agent.name == HUMAN for agent in self.agents):
            raise ValueError("nobody moves for a human in an evaluation")
        return self

    @property
    def players(self) -> tuple[PlayerSettings, ...]:
        """The agents, as matches take them."""
        return tuple(agent.settings() for agent in self.agents)

    @property
    def whole_budget(self) -> Budget:
        """What all model calls of the evaluation may cost."""
        return self.budget.settings()


class _GamesPlan(_PlanBody):
    """What plans have in which games are played."""

    openings: _Openings = OpeningsBody()
    white_advantage: Annotated[float, Field(ge=-400, le=400, allow_inf_nan=False)] = Field(
        default=0.0, description="What having White is worth, in Elo."
    )
    analysis: ReviewBody = ReviewBody()


class LadderPlan(_GamesPlan):
    """Agents against anchors, each until its rating is known well enough."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "ladder",
                    "name": "the default team",
                    "agents": ["team:default"],
                    "control": True,
                    "margin": 100,
                    "budget": {"usd": 20},
                }
            ]
        }
    )

    kind: Literal["ladder"]
    anchors: list[AnchorItem] = Field(
        default=[],
        max_length=200,
        description="Opponents of known rating; all that were calibrated, if not given.",
    )
    adaptive: bool = Field(
        default=True,
        description="Whether the next anchor is the one that tells most; else each in its turn.",
    )
    margin: float = Field(
        default=100.0,
        ge=5,
        le=1_000,
        description="Half the 95 % interval at which an agent is done.",
    )
    games: int = Field(
        default=200,
        ge=2,
        le=MOST_GAMES,
        multiple_of=2,
        description="The most games of an agent, if it is not done.",
    )
    control: bool = Field(
        default=False, description="Whether every `team:NAME` is measured beside its `solo:NAME`."
    )

    @model_validator(mode="after")
    def _add_controls(self) -> LadderPlan:
        if not self.control:
            return self
        names = {agent.name for agent in self.agents}
        solos = [f"solo:{name.removeprefix('team:')}" for name in names if name.startswith("team:")]
        missing = [
            PlayerBody.model_validate({"name": solo}) for solo in sorted(solos) if solo not in names
        ]
        # It is said once, and then part of the plan, so that a plan read again is the same.
        object.__setattr__(self, "agents", [*self.agents, *missing])
        if len(self.agents) > MOST_AGENTS:
            raise ValueError(f"with their controls there are more than {MOST_AGENTS} agents")
        _refuse_same_names(self.agents)
        return self


class DuelPlan(_GamesPlan):
    """Two agents against each other, in pairs of games, until it is decided or over."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "duel",
                    "agents": ["team:default", "solo:default"],
                    "games": 400,
                    "sprt": {"bounds": [0, 50]},
                }
            ]
        }
    )

    kind: Literal["duel"]
    agents: list[Player] = Field(min_length=2, max_length=2)
    games: int = Field(
        default=100,
        ge=2,
        le=MOST_GAMES,
        multiple_of=2,
        description="The most there may be, with SPRT.",
    )
    sprt: SprtBody | None = Field(default=None, description="Fixed games, if not given.")


class PoolPlan(_GamesPlan):
    """Everybody against everybody; anchors, if there are any, fix the scale."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "pool",
                    "agents": ["classical", "random"],
                    "anchors": ["stockfish:1", "stockfish:5"],
                    "rounds": 3,
                }
            ]
        }
    )

    kind: Literal["pool"]
    anchors: list[AnchorItem] = Field(default=[], max_length=MOST_AGENTS)
    rounds: int = Field(
        default=1, ge=1, le=10_000, description="How many pairs of games every two players play."
    )

    @model_validator(mode="after")
    def _check_players(self) -> PoolPlan:
        if len(self.agents) + len(self.anchors) < 2:
            raise ValueError("a pool needs at least two players")
        return self


class PositionsPlan(_PlanBody):
    """Agents are asked for the best move in positions: cheaper than games."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"kind": "positions", "agents": ["classical"], "suite": "kibitz"},
                {
                    "kind": "positions",
                    "agents": ["classical"],
                    "positions": ['6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id "back rank";'],
                },
            ]
        }
    )

    kind: Literal["positions"]
    suite: Text | None = Field(
        default=None,
        description="The name of a suite that is installed; with positions, what they are called.",
    )
    positions: list[_EpdLine] = Field(
        default=[], max_length=MOST_POSITIONS, description="Lines of EPD, each with `bm`."
    )

    @model_validator(mode="after")
    def _check_positions(self) -> PositionsPlan:
        if self.suite is None and not self.positions:
            raise ValueError("it needs a suite, or positions")
        return self


Plan: TypeAlias = LadderPlan | DuelPlan | PoolPlan | PositionsPlan
#: How a plan comes over HTTP, or from a file.
PlanItem = Annotated[Plan, Field(discriminator="kind")]
_PLAN: TypeAdapter[Plan] = TypeAdapter(PlanItem)
_KINDS = "ladder, duel, pool or positions"


def read_plan(data: object) -> Plan:
    """Return the plan that plain data describe, or raise `InvalidPlan`."""
    try:
        return _PLAN.validate_json(json.dumps(data, allow_nan=False, default=str))
    except PydanticError as error:
        raise _invalid(error) from None
    except (ValueError, RecursionError) as error:
        raise InvalidPlan(str(error) or type(error).__name__) from None


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain data, defaults and all, from which `read_plan` makes it again."""
    data: dict[str, Any] = plan.model_dump(mode="json")
    return data


def load_plan(path: Path) -> Plan:
    """Read a plan from a file, TOML or JSON, or raise `InvalidPlan`."""
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        reason = getattr(error, "strerror", None) or "it has no proper name"
        raise InvalidPlan(f"{shown(str(path))} cannot be read: {reason}") from None
    return parse_plan(raw, shown(str(path)), is_json=path.suffix.lower() == ".json")


def parse_plan(raw: bytes, name: str, *, is_json: bool = False) -> Plan:
    """Return the plan of a file that goes by a name, TOML or JSON, or raise `InvalidPlan`."""
    is_json |= raw.lstrip().startswith(b"{")  # as no TOML does
    try:
        text = raw.decode("utf-8-sig")
        data = json.loads(text) if is_json else tomllib.loads(text)
    except UnicodeDecodeError:
        raise InvalidPlan(f"{name} is not text") from None
    except (ValueError, RecursionError) as error:
        raise InvalidPlan(f"{name} is not {'JSON' if is_json else 'TOML'}: {error}") from None
    return read_plan(data)


def _invalid(error: PydanticError) -> InvalidPlan:
    found: list[Any] = error.errors(include_url=False, include_input=False)
    # What is misspelt is missing as well, which says less.
    first = min(found, key=lambda each: each["type"] != "extra_forbidden")
    if first["type"] == "union_tag_not_found":
        return InvalidPlan(f"it needs a kind: {_KINDS}")
    if first["type"] == "union_tag_invalid":
        return InvalidPlan(f"{shown(first['ctx']['tag'])} is no kind of plan; it may be {_KINDS}")
    # Within a union, the place begins with the kind that was tried.
    where = ".".join(str(part) for part in first["loc"][1:])
    more = error.error_count() - 1
    others = f" (and {more} more)" if more else ""
    reason = first["msg"].removeprefix("Value error, ")
    return InvalidPlan(f"{reason}{others}", where if where.isprintable() else ascii(where)[1:-1])
