"""The errors of the database, each one sentence, and none with a password in it.

StorageError
├── StorageUnavailable    worth a retry
├── StorageRefused        what was to be stored breaks a rule of the tables
├── LostOwnership         another owner has taken the match
├── LostEvaluation        another process conducts the evaluation, or it does not go on
├── SchemaBehind          the tables are those of an older Kibitz
├── UnusableDatabase      damaged, of another program, or of a newer Kibitz
├── DatabaseInUse         another process serves the file
└── InvalidDatabaseUrl    nobody can read it
"""

from __future__ import annotations

from dataclasses import dataclass

from app.errors import AppError


class StorageError(AppError):
    """The root: what the database could not do."""


class StorageUnavailable(StorageError):
    """The database does not answer just now: busy, out of reach, its disk full. Worth a retry."""


class StorageRefused(StorageError):
    """What was to be stored breaks a rule of the tables, such as a key that is there already."""


@dataclass(eq=False)
class LostOwnership(StorageError):
    """Another owner has taken the match, so the write changed nothing."""

    match_id: str

    def __str__(self) -> str:
        return f"match {self.match_id} has another owner now"


@dataclass(eq=False)
class LostEvaluation(StorageError):
    """Another process conducts the evaluation now, or nobody does, so the write changed nothing."""

    evaluation_id: str

    def __str__(self) -> str:
        return f"evaluation {self.evaluation_id} is not conducted here any more"


@dataclass(eq=False)
class SchemaBehind(StorageError):
    """The tables of a Postgres are not there, or those of an older Kibitz."""

    revision: str | None
    head: str

    def __str__(self) -> str:
        found = f"at revision {self.revision}" if self.revision else "empty"
        return f"the database is {found} and not at {self.head}: run `kibitz db upgrade` first"


class UnusableDatabase(StorageError):
    """The database is damaged, of another program, or of a newer Kibitz: a retry will not help."""


@dataclass(eq=False)
class DatabaseInUse(StorageError):
    """Another process serves the SQLite file, and only one may."""

    path: str

    def __str__(self) -> str:
        return (
            f"another process has {self.path} open; "
            "stop it, or use Postgres, which serves several at a time"
        )


class InvalidDatabaseUrl(StorageError):
    """The URL of a database that cannot be read."""
