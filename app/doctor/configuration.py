"""Check of the settings: the file, the variables, and what in them means nothing."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from app.doctor.findings import Finding, failure, fine, warning
from app.doctor.machine import is_there
from app.model_settings import PriceSettings, ProviderSettings
from app.settings import (
    CONFIG_VARIABLE,
    EngineSettings,
    InvalidSettings,
    Settings,
    config_file,
    load_settings,
)

_PREFIX = "KIBITZ_"
#: Variables of this name that are no settings: of `kibitz watch`, of the tests, and of
#: whoever works on Kibitz.
_OTHERS = frozenset(
    {
        CONFIG_VARIABLE,
        "KIBITZ_CHROMIUM",
        "KIBITZ_CRASH_SEED",
        "KIBITZ_FUZZ_SECONDS",
        "KIBITZ_SERVER",
        "KIBITZ_TEST_POSTGRES_URL",
        "KIBITZ_TOKEN",
    }
)
#: Tables of tables: what each of theirs may set.
_TABLES: Mapping[str, Collection[str]] = {
    "engines": EngineSettings.model_fields,
    "providers": ProviderSettings.model_fields,
    "prices": PriceSettings.model_fields,
}
#: What may hold a secret, in the file.
_SECRETS = ("api_tokens", "database")
_ALL = "docs/reference/settings.md has all settings"
SUBJECT = "Settings"


def read_settings(
    given: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> tuple[Settings | None, Sequence[Finding]]:
    """Return the settings, if they can be read, and what is to be said of them.

    What is `given` wins over the file and the variables.
    """
    path = config_file()
    strangers = list(_strange_variables(environment))
    try:
        settings = load_settings(**given)
    except InvalidSettings as error:
        found = list(_strange_names(path)) or [failure(SUBJECT, str(error), _mend(path))]
        return None, [*found, *strangers]
    except OSError as error:  # of a folder that we may not look into
        unreadable = f"{path} cannot be read: {error.strerror}"
        return None, [failure(SUBJECT, unreadable, _mend(path)), *strangers]
    names, variables = sorted(_table(path)), sorted(_set_variables(environment))
    told = [f"{path.absolute()} sets {', '.join(names) or 'nothing'}"] if path.is_file() else []
    if variables:
        told.append(f"the environment sets {', '.join(variables)}")
    case = "; ".join(told) or f"there is no {path}, so everything is as it comes"
    figures = {
        "file": str(path.absolute()) if path.is_file() else None,
        "in_file": names,
        "in_environment": variables,
    }
    return settings, [fine(SUBJECT, case, **figures), *_open_secrets(path, names), *strangers]


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}  # why it cannot be read is said by whoever reads the settings


def _set_variables(environment: Mapping[str, str]) -> list[str]:
    return [
        name
        for name, value in environment.items()
        if value and name.upper().startswith(_PREFIX) and _setting(name) in Settings.model_fields
    ]


def _strange_variables(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Say which variables look like settings, and are none."""
    for name in sorted(environment):
        is_ours = name.startswith(_PREFIX) and name not in _OTHERS
        if is_ours and environment[name] and _setting(name) not in Settings.model_fields:
            meant = _nearest(_setting(name), Settings.model_fields)
            advice = f"did you mean {_PREFIX}{meant.upper()}?" if meant else f"unset it; {_ALL}"
            yield warning(SUBJECT, f"the variable {name} is no setting", advice)


def _strange_names(path: Path) -> Iterator[Finding]:
    """Say which names in the file are no settings."""
    for name, value in _table(path).items():
        if name not in Settings.model_fields:
            yield _stranger(path, name, Settings.model_fields)
        if name not in _TABLES or not isinstance(value, dict):
            continue
        for inner, table in value.items():
            for key in table if isinstance(table, dict) else ():
                if key not in _TABLES[name]:
                    yield _stranger(path, key, _TABLES[name], f" in [{name}.{inner}]")


def _stranger(path: Path, name: str, known: Collection[str], where: str = "") -> Finding:
    meant = _nearest(_setting(name), known)
    others = f"there are {', '.join(known)}" if where else _ALL
    advice = f"did you mean {meant}?" if meant else f"take it away; {others}"
    return failure(SUBJECT, f"{path} sets {name!r}{where}, which is no setting", advice)


def _nearest(name: str, known: Collection[str]) -> str | None:
    return next(iter(get_close_matches(name, known, n=1)), None)


def _setting(name: str) -> str:
    return name.lower().removeprefix(_PREFIX.lower())


def _mend(path: Path) -> str:
    if os.environ.get(CONFIG_VARIABLE) and not (is_there(path) and path.is_file()):
        return f"let {CONFIG_VARIABLE} name a file, or unset it"
    return f"mend {path} or the variable; {_ALL}"


def _open_secrets(path: Path, names: Sequence[str]) -> Iterator[Finding]:
    """Say whether a file with secrets can be read by others."""
    held = " and ".join(name for name in _SECRETS if name in names)
    if held and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        case = f"others on this machine can read {path}, which sets {held}"
        yield warning(SUBJECT, case, f"chmod 600 {path}")
