"""Manifest: what an evaluation was made with, so that it can be repeated and doubted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from agents.catalogue import Catalogue, is_uci
from agents.errors import AgentError
from agents.models.pricing import Price
from agents.uci.levels import LEVELS, STOCKFISH
from app.evaluations.contest import Contest
from app.evaluations.plan import OpeningsBody, label_of, plan_json
from app.matches.openings import OPENINGS
from app.matches.settings import PlayerSettings

_log = structlog.get_logger(__name__)


async def make_manifest(contest: Contest, catalogue: Catalogue) -> dict[str, Any]:
    """Return versions, players, prompts, models, engines, openings, seeds and anchors."""
    plan = contest.plan
    names = {player.name for player in contest.players}
    # Stockfish judges openings and games, too.
    programs = {program_of(name) for name in names if is_uci(name)} | {STOCKFISH}
    ratings = catalogue.ratings
    manifest: dict[str, Any] = {
        "kibitz": version("kibitz"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "plan_digest": _digest(json.dumps(plan_json(plan), sort_keys=True).encode()),
        "seed": plan.seed,
        "players": [_player(player, catalogue, plan.variant) for player in contest.players],
        "engines": [await _engine(name, catalogue) for name in sorted(programs)],
        "anchors": [
            {"label": each.label, "elo": each.elo, "elo_se": each.se} for each in contest.anchors
        ],
        "calibration": {
            "engine": ratings.engine,
            "measured_at": ratings.measured_at.isoformat(),
            "scale": dict(ratings.anchors),
        },
    }
    openings = getattr(plan, "openings", None)
    if openings is not None:
        manifest["openings"] = _openings(openings)
    if contest.suite is not None:
        suite = contest.suite
        manifest["suite"] = {
            "name": suite.name,
            "positions": len(suite.positions),
            "digest": suite.digest,
        }
    return manifest


def _openings(openings: OpeningsBody) -> dict[str, Any]:
    """Return where games start from: the table's digest, or how openings are generated."""
    match openings.source:
        case "table":
            lines = (f"{each.name}\t{each.eco}\t{' '.join(each.moves)}\n" for each in OPENINGS)
            return {
                "source": "table",
                "lines": len(OPENINGS),
                "digest": _digest("".join(lines).encode()),
            }
        case "balanced":
            return openings.model_dump(mode="json")
        case "none":
            return {"source": "none"}


def _player(player: PlayerSettings, catalogue: Catalogue, variant: str) -> dict[str, Any]:
    """Return how a player plays."""
    told: dict[str, Any] = {"label": label_of(player), "name": player.name}
    limits = {"depth": player.depth, "nodes": player.nodes, "time_ms": player.time_ms}
    told |= {name: limit for name, limit in limits.items() if limit is not None}
    how = {level.name: level.how for level in LEVELS}
    if player.name in how:
        told["how"] = how[player.name]
    team = catalogue.team(player.name)
    if team is None:
        return told
    definition = team.definition
    told["definition"] = definition.model_dump(mode="json", by_alias=True)
    told["prompts"] = {
        file: team.prompt(file, variant).digest
        for file in sorted({*(m.prompt for m in definition.members), definition.solo_prompt})
        if file in team.texts
    }
    models = catalogue.models_of(player.name)
    told["models"] = {
        model: None if (price := catalogue.prices.of(model)) is None else _price(price)
        for model in models
    }
    return told


def _price(price: Price) -> dict[str, str | None]:
    """Return USD per million tokens."""
    return {
        "input": str(price.input),
        "output": str(price.output),
        "cached_input": None if price.cached_input is None else str(price.cached_input),
    }


def program_of(name: str) -> str:
    """Return the UCI engine behind a player: all levels are one Stockfish."""
    return STOCKFISH if name.startswith(f"{STOCKFISH}:") else name


async def _engine(name: str, catalogue: Catalogue) -> dict[str, Any]:
    """Return what a UCI engine calls itself, its options, and the digest of its program."""
    try:
        pool = catalogue.pool(name)
        async with pool.lease() as process:
            title = process.name
    except AgentError as error:
        _log.warning("engine not in the manifest", engine=name, error=str(error))
        return {"name": name, "error": str(error)}
    program = pool.program
    return {
        "name": name,
        "title": title,
        "options": dict(program.options),
        "digest": await asyncio.to_thread(_file_digest, program.command[0]),
    }


def _file_digest(command: str) -> str | None:
    """Return the digest of a program; None if it cannot be read."""
    found = shutil.which(command)
    try:
        return None if found is None else _digest(Path(found).read_bytes())
    except OSError:
        return None


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
