"""Score lines: what happens in a match, told in lines for whoever has no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.cli.boards.picture import score
from app.cli.boards.scene import Scene, SeenPly, Told, kind_of
from app.cli.boards.talk import Said, refusal
from app.matches.events import Event
from engine import Color, format_clock

#: A longer line nobody reads.
_MOST = 500


def told_lines(scene: Scene, event: Told) -> Iterator[str]:
    """Give the lines that an event is worth, with the scene as it is after it."""
    for line in _told(scene, kind_of(event), event):
        yield line if len(line) <= _MOST else f"{line[: _MOST - 4]} ..."


def _told(scene: Scene, kind: str, event: Told) -> Iterator[str]:
    ply = scene.last_ply
    match kind:
        case "ply.played" if ply is not None:
            yield _ply(ply)
        case "advice.given" if scene.talk.said:
            yield _said(scene.talk.said[-1])
        case "attempt.rejected":
            yield f"     refused: {refusal(*scene.talk.refused[-1])}"
        case "draw.offered" | "draw.declined" | "takeback.asked" | "takeback.declined":
            yield f"     {_color(event)} {_DEEDS[kind]}"
        case "takeback.taken":
            yield f"     taken back, up to {ply.title if ply else 'the first move'}"
        case "match.paused":
            yield f"     paused: {scene.paused}"
        case "match.resumed":
            yield "     resumed"
        case "match.ended":
            yield f"\n{scene.ending}"


_DEEDS = {
    "draw.offered": "offers a draw",
    "draw.declined": "declines the draw",
    "takeback.asked": "asks to take back",
    "takeback.declined": "does not let it be taken back",
}


def _ply(ply: SeenPly) -> str:
    """Return a move with what stood on its clock after it, what it is worth, and why."""
    left = None if ply.clocks is None else ply.clocks[ply.color]
    worth = "" if ply.evaluation is None else score(ply.evaluation)
    if worth.lstrip("+-") in ply.reason:  # engines give it as their reason
        worth = ""
    told = ("" if left is None else format_clock(left), worth, ply.reason)
    dots = "." if ply.color is Color.WHITE else "..."
    return f"{ply.number:3}{dots:3} {ply.san:8}{' '.join(filter(None, told))}".rstrip()


def _said(said: Said) -> str:
    if said.abstained:
        return f"     {said.by} says nothing: {said.abstained}"
    moves = "; ".join(f"{move}: {why}" if why else move for move, why in said.candidates)
    return f"     {said.by}: {moves or said.words}"


def _color(event: Told) -> str:
    data: Any = event.fields if isinstance(event, Event) else event
    return Color(data["color"]).value.capitalize()
