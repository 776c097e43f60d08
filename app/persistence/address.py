"""Address: which database, read from its URL. It never shows a password."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from app.persistence.errors import InvalidDatabaseUrl

DialectName = Literal["sqlite", "postgresql"]

_EXAMPLES = "write `sqlite:///kibitz.db` or `postgresql://user:password@host/database`"
_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is."""

    dialect: DialectName
    #: As SQLAlchemy wants it, with the driver in its name.
    url: URL = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read a URL, or raise `InvalidDatabaseUrl`."""
        scheme, colon, rest = text.strip().partition("://")
        scheme = scheme.lower()
        if not colon or scheme not in _SQLITE + _POSTGRES:
            # Nothing of the text is shown: it may be a password that got into the wrong place.
            raise InvalidDatabaseUrl(f"that is no URL of a database: {_EXAMPLES}")
        if scheme in _SQLITE:
            return cls("sqlite", _sqlite_url(rest))
        try:
            url = make_url(f"postgresql+psycopg://{rest}")
        except (ArgumentError, ValueError):
            message = f"the URL of the Postgres cannot be read: {_EXAMPLES}"
            raise InvalidDatabaseUrl(message) from None
        if "@" in f"{url.host}{url.database}":  # where a password would be shown
            message = "the URL of the Postgres has an @ too many: one in a password is written %40"
            raise InvalidDatabaseUrl(message)
        if not url.database:
            raise InvalidDatabaseUrl(f"the URL of the Postgres names no database: {_EXAMPLES}")
        return cls("postgresql", url)

    @property
    def path(self) -> Path:
        """The file of an SQLite."""
        return Path(self.url.database or "")

    @property
    def secret(self) -> str | None:
        """The password, which no message may show."""
        if self.url.password:
            return str(self.url.password)
        hidden = self.url.query.get("password")
        return hidden if isinstance(hidden, str) else None

    def __str__(self) -> str:
        if self.dialect == "sqlite":
            return str(self.path)
        user = f"{self.url.username}@" if self.url.username else ""
        host = self.url.host or self.url.query.get("host") or "localhost"
        host = host if isinstance(host, str) else ",".join(host)
        port = f":{self.url.port}" if self.url.port else ""
        return f"postgresql://{user}{host}{port}/{self.url.database}"


def _sqlite_url(rest: str) -> URL:
    """Read what follows `sqlite://`: a slash and a path."""
    path = rest[1:]
    if not rest.startswith("/") or not path or path == ":memory:":
        raise InvalidDatabaseUrl("an SQLite needs the path of a file: write `sqlite:///kibitz.db`")
    if "?" in path:
        raise InvalidDatabaseUrl("the URL of an SQLite has no options, so no `?` either")
    if "\0" in path:
        raise InvalidDatabaseUrl("the path of an SQLite file has no NUL in it")
    return URL.create("sqlite+pysqlite", database=str(Path(path).expanduser()))
