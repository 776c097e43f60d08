"""Checkup: everything that is looked at, in the order in which it is told."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from agents.errors import AgentError
from agents.team.errors import InvalidTeam, TeamsUnreadable
from agents.uci.program import INSTALL_STOCKFISH, find_well_known
from app.doctor import asking, configuration, machine, models, service, storage, teams
from app.doctor.engines import (
    RATINGS,
    STOCKFISH,
    look_at_engine,
    look_at_ratings,
    look_at_stockfish,
)
from app.doctor.examination import Check, Looks, examine, in_thread
from app.doctor.findings import Finding, failure, note
from app.doctor.secrets import secrets_of
from app.errors import AppError

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from app.settings import Settings

_REPORT = "report it, with what `kibitz doctor --json` prints"


@dataclass(frozen=True)
class Patience:
    """How long answers are waited for."""

    #: For one answer of a disk, a database, an engine or a service.
    answer: timedelta = timedelta(seconds=10)
    #: For that of a model, which a server may have to load first.
    model: timedelta = timedelta(seconds=60)

    @property
    def whole(self) -> timedelta:
        """For everything that one check waits for."""
        return 4 * self.answer


@dataclass(frozen=True)
class Wish:
    """What somebody wants to know."""

    #: The URL of a database instead of that of the settings.
    database: str | None = None
    #: The player or the model that is to be asked; empty is the default one, None is nobody.
    ask: str | None = None


_PATIENT = Patience()
_NO_WISH = Wish()


async def check_up(
    begun: Callable[[Sequence[Check]], None],
    done: Callable[[Check], None],
    wish: Wish = _NO_WISH,
    patience: Patience = _PATIENT,
) -> list[Finding]:
    """Return what all checks have found, without secrets; `begun` and `done` are told of them.

    Raises `InvalidDatabaseUrl`, `UnknownPlayer` or `AsksNoModel` for a wish that has no sense.
    """
    if wish.database is not None:
        storage.refuse_unreadable(wish.database)
    given = {} if wish.database is None else {"database": wish.database}
    settings, told = await in_thread(lambda: configuration.read_settings(given))
    url = wish.database or (settings.database_url if settings else None)
    checks = [
        Check("Python", _said(machine.look_at_python()), _REPORT, patience.answer),
        Check(configuration.SUBJECT, _said(told), _REPORT, patience.answer),
        *_of_storage(settings, url, patience),
        *_of_engines(settings, patience),
        *await _of_players(settings, wish, patience),
        *_of_surroundings(settings, patience),
    ]
    begun(checks)
    findings = await examine(checks, done)
    secrets = secrets_of(os.environ, settings, wish.database)
    return [finding.legible(secrets) for finding in findings]


def _of_storage(settings: Settings | None, url: str | None, patience: Patience) -> Iterator[Check]:
    """Yield the checks of what keeps things: the data folder, its disk, and the database."""
    if settings is None:
        yield _not_looked_at(machine.FOLDER, patience)
    else:
        look = partial(machine.look_at_data_folder, settings.data_folder)
        advice = "set data_folder to a folder on a disk that answers"
        yield Check(machine.FOLDER, partial(in_thread, look), advice, patience.answer)
    if url is None:
        yield _not_looked_at(storage.DATABASE, patience)
    else:
        folder = None if settings is None else settings.data_folder
        look = partial(storage.look_at_its_disk, url, folder)
        yield Check(machine.DISK, partial(in_thread, look), storage.ANOTHER_DISK, patience.answer)
        look = partial(storage.look_at_database, url, patience.answer / 2)
        yield Check(storage.DATABASE, partial(in_thread, look), storage.ADVICE, patience.whole)


def _of_engines(settings: Settings | None, patience: Patience) -> Iterator[Check]:
    """Yield the checks of Stockfish, and of all other UCI engines that can be seated."""
    options = settings.stockfish_options if settings else {}
    look = partial(look_at_stockfish, options, patience.answer)
    yield Check(STOCKFISH, look, INSTALL_STOCKFISH, patience.whole)
    configured = settings.engines if settings else {}
    own = {name: engine.program(name) for name, engine in configured.items()}
    for name, program in {**find_well_known(), **own}.items():
        see = partial(look_at_engine, name, program, patience.answer, is_ours=name in own)
        advice = f"mend [engines.{name}] in the settings, or do without it"
        yield Check(f"uci:{name}", see, advice, patience.whole)


async def _of_players(settings: Settings | None, wish: Wish, patience: Patience) -> Sequence[Check]:
    """Return the checks of whoever asks models, and of the models."""
    asked = () if wish.ask is None else (asking.SUBJECT,)
    if settings is None:
        subjects = (teams.SUBJECT, models.SUBJECT, *asked)
        return [_not_looked_at(each, patience) for each in subjects]
    look = partial(teams.look_at_teams, settings)
    checks = [Check(teams.SUBJECT, partial(in_thread, look), teams.ADVICE, patience.answer)]
    try:
        async with asyncio.timeout(patience.answer.total_seconds()):
            catalogue = await in_thread(lambda: _catalogue(settings))
    except (AgentError, AppError, OSError) as error:
        found = _unseated(error)
        nobody = note(asking.SUBJECT, "nobody is asked before that is mended")
        checks.append(Check(models.SUBJECT, _said([found]), "", patience.answer))
        return [*checks, *(Check(each, _said([nobody]), "", patience.answer) for each in asked)]
    rate = partial(look_at_ratings, catalogue)
    advice = f"kibitz calibrate, or take {settings.ratings_file} away"
    checks.append(Check(RATINGS, partial(in_thread, rate), advice, patience.answer))
    see = partial(models.look_at_models, settings, catalogue)
    checks.append(Check(models.SUBJECT, partial(in_thread, see), models.ADVICE, patience.answer))
    if wish.ask is not None:
        for model in asking.models_to_ask(wish.ask, settings, catalogue):
            ask = partial(asking.ask_model, model, settings, catalogue, patience.model)
            checks.append(Check(asking.SUBJECT, ask, models.ADVICE, 2 * patience.model))
    return checks


def _catalogue(settings: Settings) -> Catalogue:
    """Return what the service would seat players by; nothing is made for it."""
    from app.catalogue import make_catalogue

    # To open a recording for writing would make it, and to read one is the models' check.
    return make_catalogue(settings.model_copy(update={"record_file": None, "replay_file": None}))


def _unseated(error: AgentError | AppError | OSError) -> Finding:
    if isinstance(error, InvalidTeam | TeamsUnreadable | TimeoutError):
        return note(models.SUBJECT, "not looked at, since the teams cannot be read")
    return failure(models.SUBJECT, str(error), models.ADVICE)


def _of_surroundings(settings: Settings | None, patience: Patience) -> Iterator[Check]:
    """Yield the checks of the service, the terminal and the browser."""
    if settings is None:
        yield _not_looked_at(service.SUBJECT, patience)
    else:
        see = partial(service.look_at_service, settings, patience.answer / 3)
        yield Check(service.SUBJECT, see, service.ADVICE, patience.answer)
    for subject, look in (
        ("Terminal", machine.look_at_terminal),
        ("Browser", machine.look_at_browser),
    ):
        yield Check(subject, partial(in_thread, look), _REPORT, patience.answer)


def _not_looked_at(subject: str, patience: Patience) -> Check:
    case = "not looked at, since it depends on the settings"
    return Check(subject, _said([note(subject, case)]), "", patience.answer)


def _said(findings: Sequence[Finding]) -> Looks:
    """Return a look at what is known already."""

    async def look() -> Sequence[Finding]:
        return findings

    return look
