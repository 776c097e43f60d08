"""What FastAPI and Pydantic find wrong with a request, as it is told to clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from engine.errors import shown

#: One of the things that are wrong, as Pydantic has it.
Wrong: TypeAlias = Mapping[str, Any]

_LONGEST_NAME = 200


def told(errors: Sequence[Wrong], discriminator: str | None) -> list[Wrong]:
    """Return what is wrong by places that a client knows.

    Where a field tells of which kind a body is, Pydantic has the kind at the head of every place
    in it, and does not blame the field itself.
    """
    if discriminator is None:
        return list(errors)
    return [_told(each, discriminator) for each in errors]


def _told(error: Wrong, discriminator: str) -> Wrong:
    place, *path = error["loc"]
    match error["type"]:
        case "union_tag_not_found" | "union_tag_invalid":
            return {**error, "loc": (place, discriminator)}
        case "json_invalid":  # whose place is a number of characters
            return error
    return {**error, "loc": (place, *path[1:])} if place == "body" else error


def place_of(error: Wrong) -> str:
    """Return where a wrong value is: `body`, `query`, ..."""
    return str(error["loc"][0])


def field_of(error: Wrong) -> str:
    """Return the dotted path of a wrong value in its place."""
    name = ".".join(str(part) for part in error["loc"][1:])
    return name if name.isprintable() and len(name) <= _LONGEST_NAME else shown(name)[1:-1]


def detail_of(error: Wrong) -> str:
    """Return what is wrong, in a sentence."""
    what = field_of(error) or f"the {place_of(error)}"
    match error["type"]:
        case "missing" | "union_tag_not_found":
            return f"{what} is missing"
        case "union_tag_invalid":
            return f"{what} should be one of {error['ctx']['expected_tags']}"
        case "extra_forbidden":
            return f"{what} is not known here"
        case "model_attributes_type" | "model_type" | "dict_type":
            return f"{what} should be a JSON object"
    return f"{what}: {str(error['msg']).removeprefix('Value error, ')}"
