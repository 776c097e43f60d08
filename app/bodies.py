"""Bodies: what comes from outside as JSON or TOML, and which texts it may hold.

Requests over HTTP and plans of evaluations are made of them.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)

from engine import VARIANTS
from engine.variant import find_variant

_HALF_PAIR = re.compile("[\ud800-\udfff]")


class Body(BaseModel):
    """Data from outside. A misspelt name is an error, and `"5"` is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @field_validator("*")
    @classmethod
    def _storable(cls, value: object) -> object:
        return storable(value)


def storable(value: object) -> object:
    """Return a value if all text in it can be stored and sent; else raise a ValueError.

    JSON can name half a surrogate pair, which UTF-8 cannot write, and NUL, which Postgres refuses.
    """
    if isinstance(value, str):
        if "\0" in value or (not value.isascii() and _HALF_PAIR.search(value)):
            raise ValueError("text should have no NUL and no half of a surrogate pair in it")
    elif isinstance(value, list | tuple):
        for each in value:
            storable(each)
    elif isinstance(value, dict):
        for item in value.items():
            storable(item)
    return value


def _variant(name: str) -> str:
    return find_variant(name).name


#: Raises `UnknownVariant`, so that it gets its own kind of problem.
VariantName = Annotated[
    str,
    StringConstraints(max_length=50),
    AfterValidator(_variant),
    WithJsonSchema({"type": "string", "enum": list(VARIANTS)}),
]
FenText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MoveText = Annotated[str, StringConstraints(min_length=1, max_length=20)]
