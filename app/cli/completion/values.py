"""Completion: what a shell may offer for the values of arguments and options.

Whoever presses Tab wants an answer at once, and no complaint: what cannot be read offers nothing,
nothing is ever made or changed, and only what a question needs is imported.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agents.errors import AgentError
from app.errors import AppError
from engine import VARIANTS, RulesError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agents.catalogue import Catalogue
    from app.persistence.address import Address

#: A value, and a few words on it for shells that show them.
Offer = tuple[str, str]

#: As many as somebody might look through.
_NEWEST = 100
#: In seconds: longer than that nobody waits for a list.
_PATIENCE = 1.0
#: In characters: what a plan begins with.
_LOOKED_AT = 10_000
_KIND = re.compile(r'(?:^|[{,])\s*"?kind"?\s*[=:]\s*"(ladder|duel|pool|positions)"', re.MULTILINE)
_HUMAN = ("human", "whoever moves by hand")
_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
_STATUSES = ("created", "running", "paused", "finished", "cancelled")

#: What offers nothing: settings, files and databases that cannot be read. A complaint would land in
#: the middle of a line that somebody writes; the command itself says what is wrong.
_UNREADABLE = (AppError, AgentError, RulesError, OSError, sqlite3.Error)

_MATCHES = """
SELECT id, white, black, status, result, created_at FROM matches
WHERE substr(id, 1, :length) = :beginning ORDER BY id DESC LIMIT :most
"""
_EVALUATIONS = """
SELECT id, kind, status, name, created_at FROM evaluations
WHERE substr(id, 1, :length) = :beginning ORDER BY id DESC LIMIT :most
"""
#: The tag of a saved game is `save:`, and its name.
_SAVES = """
SELECT substr(tag, 6), white, black, matches.created_at FROM match_tags
JOIN matches ON matches.id = match_tags.match_id
WHERE substr(tag, 1, 5) = 'save:' AND substr(tag, 6, :length) = :beginning
ORDER BY match_tags.match_id DESC LIMIT :most
"""


# --- who plays ---


def complete_player(incomplete: str) -> list[Offer]:
    """Offer every name that can be seated, and say what it lacks."""
    return _beginning(incomplete, _players())


def complete_seat(incomplete: str) -> list[Offer]:
    """Offer every name that can be seated, and `human`."""
    return _beginning(incomplete, [_HUMAN, *_players()])


def complete_engine(incomplete: str) -> list[Offer]:
    """Offer `stockfish`, and every other UCI engine."""
    return [*_beginning(incomplete, [("stockfish", "all it can")]), *complete_other(incomplete)]


def complete_other(incomplete: str) -> list[Offer]:
    """Offer every UCI engine but Stockfish."""
    return [each for each in complete_player(incomplete) if each[0].startswith("uci:")]


def _players() -> list[Offer]:
    from agents.catalogue import Catalogue
    from agents.uci.levels import LEVELS

    try:
        catalogue = _configured()
    except _UNREADABLE:
        catalogue = Catalogue()
    how = {level.name: level.how for level in LEVELS}
    return [
        (
            name,
            f"cannot be seated: {lack}" if (lack := catalogue.lack_of(name)) else _how(name, how),
        )
        for name in catalogue.names
    ]


def _configured() -> Catalogue:
    """Return what `app.services` would make, as far as names go; that takes a second to import."""
    import os

    from agents.catalogue import Catalogue
    from agents.models.access import ModelAccess
    from agents.models.pricing import Prices
    from agents.team.library import load_teams
    from app.settings import load_settings

    settings = load_settings()
    return Catalogue(
        {name: engine.program(name) for name, engine in settings.engines.items()},
        teams=load_teams(settings.teams_folder),
        models=ModelAccess(
            {name: each.provider(name) for name, each in settings.providers.items()},
            os.environ,
            prices=Prices.load(
                extra={name: each.price() for name, each in settings.prices.items()}
            ),
        ),
        default_model=settings.model,
    )


def _how(name: str, levels: Mapping[str, str]) -> str:
    kind = {"team": "a team", "solo": "one model, one call", "uci": "a UCI engine"}
    return levels.get(name) or kind.get(name.partition(":")[0], "")


# --- what there is to choose from ---


def complete_variant(incomplete: str) -> list[Offer]:
    """Offer the variants."""
    return _beginning(incomplete, [(name, "") for name in VARIANTS])


def complete_opening(incomplete: str) -> list[Offer]:
    """Offer the openings by name, and by code once one has begun to write it."""
    from app.matches.openings import OPENINGS

    names = [(each.name, each.eco) for each in OPENINGS]
    if not incomplete:
        return names
    codes = {each.eco: each.name for each in reversed(OPENINGS)}  # a code means the first of them
    return _beginning(incomplete, [*names, *sorted(codes.items())])


def complete_suite(incomplete: str) -> list[Offer]:
    """Offer the suites that come with Kibitz, and files that may be some."""
    from app.evaluations.suites.suite import shipped_suites

    shipped = [(name, "comes with Kibitz") for name in shipped_suites()]
    return [*_beginning(incomplete, shipped), *_files(incomplete, (".epd",))]


def complete_plan(incomplete: str) -> list[Offer]:
    """Offer the files that are plans of evaluations."""
    return [
        (name, kind) for name, _ in _files(incomplete, (".toml", ".json")) if (kind := _kind(name))
    ]


def _files(incomplete: str, endings: tuple[str, ...]) -> list[Offer]:
    """Return files in the folder that somebody writes the name of, and in those within it."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    found: list[Offer] = []
    try:
        for depth in ("*", "*/*"):
            paths = (each for each in folder.glob(depth) if each.suffix in endings)
            found += ((str(each), "") for each in islice(sorted(paths), _NEWEST))
    except _UNREADABLE:
        return found
    return _beginning(incomplete, found)


def _kind(file: str) -> str:
    """Return which kind of evaluation a file describes; nothing, if it is no plan."""
    try:
        with Path(file).open(encoding="utf-8") as plan:
            said = _KIND.search(plan.read(_LOOKED_AT))
    except (OSError, ValueError):
        return ""
    return said[1] if said else ""


def complete_command(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Offer the commands that there are, and those of a command that was named already."""
    command: Any = ctx.find_root().command
    for name in ctx.params.get("command") or ():
        command = getattr(command, "commands", {}).get(name)
    commands = getattr(command, "commands", {}).values()
    return _beginning(incomplete, [(each.name, each.get_short_help_str()) for each in commands])


def complete_log_level(incomplete: str) -> list[Offer]:
    """Offer how much is logged."""
    return _beginning(incomplete, [(level, "") for level in _LOG_LEVELS])


def complete_status(incomplete: str) -> list[Offer]:
    """Offer what an evaluation can be."""
    return _beginning(incomplete, [(status, "") for status in _STATUSES])


# --- what the database keeps ---


def complete_match_id(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Offer the ids of matches, the newest first, with who plays and how it ended."""
    return [
        (str(id_), f"{white} - {black}, {status if result == '*' else result}, {_minute(at)}")
        for id_, white, black, status, result, at in _rows(ctx, _MATCHES, incomplete)
    ]


def complete_evaluation(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Offer the ids of evaluations, the newest first, with what they measure."""
    return [
        (str(id_), f"{kind}, {status}, {_minute(at)}: {name}")
        for id_, kind, status, name, at in _rows(ctx, _EVALUATIONS, incomplete)
    ]


def complete_save(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Offer the names of saved games, the newest first."""
    return [
        (str(name), f"{white} - {black}, {_minute(at)}")
        for name, white, black, at in _rows(ctx, _SAVES, incomplete)
    ]


def _rows(ctx: typer.Context, query: str, incomplete: str) -> Sequence[Sequence[object]]:
    """Ask the database of the command, beside whoever serves it; nothing, if there is none."""
    asked = {"length": len(incomplete), "beginning": incomplete, "most": _NEWEST}
    try:
        return _asked(ctx.params.get("database"), query, asked)
    except _UNREADABLE:
        return ()


def _asked(
    given: str | None, query: str, asked: Mapping[str, object]
) -> Sequence[Sequence[object]]:
    from app.settings import load_settings

    settings = load_settings()
    if (
        given is None and settings.database is None
    ):  # as nearly always, and SQLAlchemy takes a while
        return _asked_sqlite(settings.data_folder / "kibitz.db", query, asked)
    from app.persistence.address import Address

    address = Address.parse(given or settings.database_url)
    if address.dialect == "sqlite":
        return _asked_sqlite(address.path, query, asked)
    return _asked_postgres(address, query, asked)


def _asked_sqlite(
    path: Path, query: str, asked: Mapping[str, object]
) -> Sequence[Sequence[object]]:
    from app.persistence.beside import open_beside

    with open_beside(path, timedelta(seconds=_PATIENCE)) as connection:
        return connection.execute(query, asked).fetchall()


def _asked_postgres(
    address: Address, query: str, asked: Mapping[str, object]
) -> Sequence[Sequence[object]]:
    from sqlalchemy import NullPool, create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    from app.persistence.engines import POSTGRES_OPTIONS
    from app.persistence.silence import limited

    patience = timedelta(seconds=_PATIENCE)
    options = {
        **POSTGRES_OPTIONS,
        "connect_timeout": 2,  # it takes no less
        "options": f"-c default_transaction_read_only=on -c statement_timeout={_PATIENCE:.0f}s",
    }
    engine = create_engine(address.url, poolclass=NullPool, connect_args=options)
    limited(engine, patience)
    try:
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(query), asked)]
    except SQLAlchemyError:
        return ()
    finally:
        engine.dispose()


# --- how it is offered ---


def _beginning(incomplete: str, offers: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in offers if offer[0].startswith(incomplete)]


def _minute(at: object) -> str:
    """Return a time as the database has it, to the minute."""
    return str(at)[:16].replace("T", " ")
