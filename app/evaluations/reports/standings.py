"""Standings: the leaderboard of a database, made of what each evaluation adds to it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection

from app.errors import AppError
from app.evaluations.manifest import program_of
from app.evaluations.reports.gathering import Gathered, gather, understood
from app.evaluations.reports.leaderboard import Leaderboard, leaderboard
from app.evaluations.reports.measured import EvaluationResults, results_of
from app.persistence.database import Database
from app.persistence.evaluations import find_evaluation, revisions_of

_log = structlog.get_logger(__name__)

#: What tells how a player plays, in a manifest. Prices may change, and what it is called.
_OTHER_KEYS = ("label", "models")
_DIGITS = 12


class Standings:
    """Knows everybody who was ever measured.

    What an evaluation adds is kept in memory until it changes, so that only the first question
    takes long.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        #: By evaluation.
        self._known: dict[str, _Known] = {}
        self._asking = asyncio.Lock()  # or several would read the same

    async def leaderboard(self, variant: str) -> Leaderboard:
        """Return everybody's rating by all that was played until now in a variant."""
        async with self._asking:
            revisions = await self._database.read(revisions_of)
            for evaluation_id, revision in revisions.items():
                known = self._known.get(evaluation_id)
                if known is None or known.revision != revision:
                    await self._read(evaluation_id)
            known_in = (each for each in self._known.values() if each.variant == variant)
            results = [each.results for each in known_in if each.results is not None]
            return await asyncio.to_thread(leaderboard, results)

    async def _read(self, evaluation_id: str) -> None:
        def query(connection: Connection) -> Gathered | None:
            record = find_evaluation(connection, evaluation_id)
            return None if record is None else gather(connection, record)

        gathered = await self._database.read(query)
        if gathered is None:
            return
        try:
            results = await asyncio.to_thread(_results, gathered)
        except AppError as error:  # such as a plan of another version: the others count
            _log.warning("evaluation left out", evaluation_id=evaluation_id, error=str(error))
            results = None
        variant = json.loads(gathered.record.plan).get("variant", "")
        self._known[evaluation_id] = _Known(gathered.record.revision, variant, results)


@dataclass(frozen=True, slots=True)
class _Known:
    """What an evaluation added when it had changed that often."""

    revision: int
    variant: str
    #: None if it cannot be read.
    results: EvaluationResults | None


def _results(gathered: Gathered) -> EvaluationResults:
    return results_of(understood(gathered), identities_of(json.loads(gathered.record.manifest)))


def identities_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return by label what tells players apart that are called the same: how they play."""
    digests = {each["name"]: each.get("digest") for each in manifest["engines"]}
    return {each["label"]: _identity(each, digests) for each in manifest["players"]}


def _identity(player: Mapping[str, Any], digests: Mapping[str, Any]) -> str:
    how = {key: value for key, value in player.items() if key not in _OTHER_KEYS}
    how["models"] = sorted(player.get("models", ()))
    how["engine"] = digests.get(program_of(player["name"]))
    text = json.dumps(how, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
