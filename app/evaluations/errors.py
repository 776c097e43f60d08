"""What keeps an evaluation from being started or commanded, as types.

EvaluationError
├── InvalidPlan           the plan cannot be read, or a field of it is wrong
├── UnplayablePlan        what it asks for cannot be played
├── EvaluationNotFound    there is none with that id
├── EvaluationIsOver      nothing can happen in it any more
├── CannotCommand         that makes no sense as it stands
└── TooManyEvaluations    the client has as many open ones as it may
"""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AppError


class EvaluationError(AppError):
    """The root of all errors of evaluations."""


@dataclass(eq=False)
class InvalidPlan(EvaluationError):
    """A plan that cannot be read."""

    reason: str
    #: The field at fault, as a dotted path, if there is one.
    field: str = ""

    def __str__(self) -> str:
        where = f"the plan's {self.field} is wrong" if self.field else "the plan is wrong"
        return f"{where}: {self.reason}"


@dataclass(eq=False)
class UnplayablePlan(EvaluationError):
    """A plan that is well written, and asks for what cannot be played."""

    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


@dataclass(eq=False)
class EvaluationNotFound(EvaluationError):
    """No evaluation has that id."""

    evaluation_id: str

    def __str__(self) -> str:
        return f"there is no evaluation {self.evaluation_id}"


@dataclass(eq=False)
class EvaluationIsOver(EvaluationError):
    """Nothing can happen in it any more."""

    evaluation_id: str
    status: str

    def __str__(self) -> str:
        return f"evaluation {self.evaluation_id} is {self.status}"


@dataclass(eq=False)
class CannotCommand(EvaluationError):
    """Something that makes no sense as the evaluation stands."""

    what: str
    status: str

    def __str__(self) -> str:
        return f"it makes no sense {self.what}: the evaluation is {self.status}"


@dataclass(eq=False)
class TooManyEvaluations(EvaluationError):
    """A client has as many open evaluations as it may."""

    most: int

    def __str__(self) -> str:
        return f"{self.most} of your evaluations are open, and not more may be"
