"""Secrets: what no finding may show, whoever says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from agents.models.providers import KNOWN_PROVIDERS

if TYPE_CHECKING:
    from app.settings import Settings

#: Variables that hold one, by what people call them: whole words, since an AUTHOR is no secret.
_TELLING = re.compile(
    r"((KEY|TOKEN|SECRET|CREDENTIAL|LICEN[CS]E|PASS|PASSWORD|PASSWD|PASSPHRASE)S?|AUTH"
    r"|AUTHORIZATION|_PWD)\d*(_|$)",
    re.IGNORECASE,
)
#: Those that hold an address in which there may be a password.
_ADDRESSES = re.compile(r"(DATABASE|PROXY|URL|URI|DSN)$", re.IGNORECASE)
#: Shorter ones are no secrets, and to take them out would make a text unreadable.
_SHORTEST = 6


def secrets_of(
    environment: Mapping[str, str], settings: Settings | None = None, database: str | None = None
) -> frozenset[str]:
    """Return every secret that the environment, the settings, and the URL of a database hold."""
    found = {*_of_variables(environment), *_of_url(database or "")}
    if settings is not None:
        found |= set(_of_settings(settings, environment))
    return frozenset(each for each in map(str.strip, found) if len(each) >= _SHORTEST)


def _of_variables(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if _TELLING.search(name):
            yield value
            for part in value.split(","):  # as `read:SECRET,write:SECRET`
                yield part
                yield part.strip().partition(":")[2]
        elif _ADDRESSES.search(name):
            yield from _of_url(value)


def _of_settings(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    yield from (token.secret.get_secret_value() for token in settings.api_tokens)
    yield from _of_url(settings.database_url)
    for engine in settings.engines.values():
        yield from _of_variables(engine.environment)
    variables = [each.api_key_env for each in settings.providers.values()]
    for known in KNOWN_PROVIDERS.values():
        variables += [known.key_variable, *known.header_variables.values()]
    yield from (environment.get(name, "") for name in variables if name)


def _of_url(url: str) -> Iterator[str]:
    """Return the password of a URL, as it is written and as it is meant."""
    try:
        parts = urlsplit(url.strip())
        password = parts.password or ""
    except ValueError:
        yield url  # nobody can read it, so nobody knows what of it is secret
        return
    asked = re.findall(r"[?&]password=([^&]*)", url)
    for each in (password, *asked):
        yield each
        yield unquote(each)
