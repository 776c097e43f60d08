"""Definition: a team as data, read from TOML. A misspelt name in it is an error."""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from agents.models.budget import Budget
from agents.team.errors import InvalidTeam

#: Stands for the model that the operator has set for all who name no other.
THE_DEFAULT = "default"
SELECTOR = "selector"
SOLO = "solo"


def _model_name(name: str) -> str:
    if not re.fullmatch(r"default|[A-Za-z0-9._-]+/\S{1,200}", name):
        raise ValueError(
            "a model is named `provider/model`, such as openai/gpt-5-mini, or `default`"
        )
    return name


def _amount(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError("Input should be a valid number")
    return value


MemberName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
#: A file name and no path: prompts lie beside the team, or are those that are shipped.
PromptFile = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.md$")]
ModelName = Annotated[str, AfterValidator(_model_name)]
#: Both as texts where a definition is written down, such as for a report.
_Dollars = Annotated[Decimal, BeforeValidator(_amount), Field(ge=0), PlainSerializer(str)]
_Seconds = Annotated[StrictFloat, Field(gt=0, le=3600)]


class Mode(StrEnum):
    """How the members of a team work together."""

    #: All specialists are asked at the same time, then the selector.
    CONCURRENT = "concurrent"
    #: One after another; each sees what was said before.
    SEQUENTIAL = "sequential"
    #: One call in quiet positions, and the whole team in critical ones.
    ESCALATING = "escalating"
    #: One model is asked several times, and the majority decides.
    VOTE = "vote"
    #: One model, one call.
    SOLO = "solo"


class Fallback(StrEnum):
    """What a team does when its selector's provider does not answer."""

    #: The turn is tried again; after some tries the match is paused.
    RETRY = "retry"
    #: The candidate that most specialists put first is played.
    CANDIDATE = "candidate"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MemberDefinition(_Table):
    """A specialist or a selector: who is asked, and how."""

    name: MemberName
    prompt: PromptFile
    model: ModelName = THE_DEFAULT
    temperature: StrictFloat | None = Field(default=None, ge=0, le=2)
    effort: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,20}$")] | None = None
    #: The most that it may write, hidden reasoning included.
    max_tokens: StrictInt = Field(default=2000, ge=16, le=1_000_000)
    #: In seconds, for one call.
    timeout: _Seconds = 120
    #: In seconds, for all tries of a call together: then a specialist is taken to abstain.
    patience: _Seconds = 300
    #: The most characters of its reasoning, for servers whose schemas can say so.
    reasoning_limit: StrictInt | None = Field(default=None, ge=1, le=100_000)

    @property
    def call_timeout(self) -> timedelta:
        """How long one call may take."""
        return timedelta(seconds=self.timeout)


class _SelectorTable(MemberDefinition):
    name: MemberName = SELECTOR
    prompt: PromptFile = "selector.md"


class _BudgetTable(_Table):
    usd: _Dollars | None = None
    tokens: StrictInt | None = Field(default=None, ge=0)
    calls: StrictInt | None = Field(default=None, ge=0)


class TeamDefinition(_Table):
    """A team, as it is written in TOML."""

    title: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=500)
    mode: Mode = Mode.CONCURRENT
    specialists: tuple[MemberDefinition, ...] = Field(default=(), max_length=16)
    selector: MemberDefinition = Field(default_factory=lambda: _SelectorTable())
    #: The prompt of whoever plays alone: in mode `solo`, `vote` and `escalating`.
    solo_prompt: PromptFile = "solo.md"
    #: How often a model is asked in mode `vote`.
    samples: StrictInt = Field(default=3, ge=1, le=32)
    #: How many candidates a specialist may name.
    candidates: StrictInt = Field(default=3, ge=1, le=10)
    #: Whether members are told what the rules engine sees.
    facts: StrictBool = True
    #: Whether members are given the list of legal moves.
    legal_moves: StrictBool = True
    #: Whether members are told how the game went so far.
    history: StrictBool = True
    #: Whether a move without an alternative is played without a call.
    plays_forced: StrictBool = True
    #: Whether the seed of the match goes to the model.
    seeded: StrictBool = False
    #: How often a call is tried again after a fault of the provider.
    retries: StrictInt = Field(default=4, ge=0, le=20)
    fallback: Fallback = Fallback.RETRY
    #: What the team may cost in one match.
    budget_table: _BudgetTable = Field(default_factory=_BudgetTable, alias="budget")

    @model_validator(mode="before")
    @classmethod
    def _name_selector(cls, data: Any) -> Any:  # noqa: ANN401 - whatever TOML holds
        if isinstance(data, dict) and isinstance(data.get("selector"), dict):
            usual = {"name": SELECTOR, "prompt": "selector.md"}
            return {**data, "selector": {**usual, **data["selector"]}}
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [member.name for member in (*self.specialists, self.selector)]
        if len(set(names)) < len(names):
            raise ValueError("two members have the same name")
        needs = self.mode not in (Mode.SOLO, Mode.VOTE)
        if needs and not self.specialists:
            raise ValueError(f"a team of mode {self.mode.value} needs specialists")
        if not needs and self.specialists:
            raise ValueError(f"in mode {self.mode.value} nobody would ask the specialists")
        if self.mode is not Mode.VOTE and "samples" in self.model_fields_set:
            raise ValueError(f"samples are for mode vote, and not for {self.mode.value}")
        return self

    @property
    def budget(self) -> Budget:
        """What the team may cost in one match."""
        table = self.budget_table
        return Budget(table.usd, table.tokens, table.calls)

    @property
    def members(self) -> tuple[MemberDefinition, ...]:
        """Everybody who is asked, the selector last."""
        return (*self.specialists, self.selector)

    @property
    def solo(self) -> MemberDefinition:
        """The selector, playing alone."""
        return self.selector.model_copy(update={"name": SOLO, "prompt": self.solo_prompt})

    def control(self) -> TeamDefinition:
        """Return the control that the team must beat: one call with all its tokens.

        The same model as the selector's, told the same, that may write as much in one call as the
        whole team may in all of its calls, for as long as they would take together.
        """
        calls = [self.solo] * self.samples if self.mode is Mode.VOTE else list(self.members)
        limits = [each.reasoning_limit for each in calls if each.reasoning_limit is not None]
        selector = self.selector.model_copy(
            update={
                "max_tokens": sum(each.max_tokens for each in calls),
                "reasoning_limit": sum(limits) if len(limits) == len(calls) else None,
                "timeout": min(3600.0, sum(each.timeout for each in calls)),
            }
        )
        return self.model_copy(
            update={
                "title": f"{self.title}: one call",
                "description": f"The equal-token control of the team: {self.title}.",
                "mode": Mode.SOLO,
                "specialists": (),
                "selector": selector,
            }
        )


def read_definition(name: str, text: str) -> TeamDefinition:
    """Return the team that TOML describes, or raise `InvalidTeam`."""
    try:
        return TeamDefinition.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidTeam(name, f"it is not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise InvalidTeam(name, f"{where}: {message}" if where else message) from None
    except ValueError as error:  # a number of thousands of digits
        raise InvalidTeam(name, f"it is not TOML: {error}") from None
