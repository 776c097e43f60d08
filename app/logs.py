"""Logs: a line on standard error for each thing worth telling, as JSON or for people.

What others log through the standard library comes out in the same way. Secrets are removed as a
line is written, so that nobody has to think of it: by the names they go by, by how they look, and
those that the operator has set wherever they occur, also in the texts of exceptions.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping
from json import dumps
from typing import Any, TextIO
from urllib.parse import quote

if "rich" not in sys.modules:
    # structlog would import rich, which takes longer than all the rest of it, to draw tracebacks
    # with the values of all variables. Some may be secrets, so it is better off without.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        del sys.modules["rich"]
else:
    import structlog

from structlog.typing import EventDict, Processor, WrappedLogger

REMOVED = "***"
#: Operators' secrets that are shorter are looked for by name only: they may be common words.
SHORTEST_SECRET = 8

#: What comes first in a line.
_FIRST = ("timestamp", "level", "event", "logger", "match_id")
#: What may come beside a message of the standard library; others of its extras are not for us.
_EXTRAS = ("match_id", "request_id", "status", "duration_ms")
#: Of longer texts, what is in the middle is left out.
_LONGEST = 20_000
#: What lies deeper in lists and mappings is left out.
_DEEPEST = 8

#: Those who would tell every statement, whoever asks for it; SQLAlchemy with the values.
_SILENT = ("sqlalchemy", "httpcore")
#: Those who tell every request, or every part that is loaded.
_SILENT_UNLESS_DEBUGGING = ("uvicorn.access", "httpx", "alembic.runtime.plugins")

_NAMES = (
    r"(?:api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|auth(?:orization)?|tokens?|passw(?:or)?d"
    r"|passphrase|pwd|secrets?|credentials?|cookie)"
)
_SECRET_NAME = re.compile(rf"(?:.*[_\-.\s])?{_NAMES}(?:_hash)?", re.IGNORECASE | re.DOTALL)
_URL_PASSWORD = re.compile(
    r"\b([a-z][a-z0-9+.-]{0,30}://[^\s/:@'\"]{0,200}):[^\s'\"]{0,500}@", re.IGNORECASE
)
_BEARER = re.compile(r"\b(bearer)\s+[a-z0-9._~+/=-]{6,}", re.IGNORECASE)
#: `token=...`, `"api_key": "..."`, `X-Seat-Token: ...`, `(b'cookie', b'...')`; counts may stay.
_NAMED = re.compile(
    rf"({_NAMES}(?:['\"]\s?[=:,]|\s?[=:])\s{{0,3}}(?:b(?=['\"]))?)"
    r"(?!\d{1,12}(?![\w.~+/=-]))"
    r"(?:\"(?:[^\"\\]|\\.){0,2000}\"|'(?:[^'\\]|\\.){0,2000}'"
    r"|['\"]?(?:(?:bearer|basic|token)\s+)?[^\s,;&'\"(){}\[\]<>]+)",
    re.IGNORECASE | re.DOTALL,
)
_MODEL_KEY = re.compile(r"\b(?:sk-|gsk_|xai-|hf_|ghp_)[A-Za-z0-9_-]{16,}")
#: What SQLAlchemy was about to store; to the end of the text, if it does not end as it should.
_PARAMETERS = re.compile(r"\[parameters: (?:.*?\](?=\s*(?:\n|$))|.*)", re.DOTALL)
#: What may have line breaks where people read.
_OF_LINES = ("exception", "stack")
#: What a terminal might obey.
_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"
}


def configure(
    level: str = "info",
    json: bool | None = None,
    *,
    secrets: Iterable[str] = (),
    filters: Iterable[logging.Filter] = (),
) -> None:
    """Have lines of a level, and of those above it, written to standard error.

    Without `json`, people get text on a terminal, and programs JSON. `secrets` are removed wherever
    they occur. `filters` see every line first, and may add to it. It may be called again.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    as_json = not _is_terminal(sys.stderr) if json is None else json
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        # Loggers of modules then follow when this is called again; a line costs 10 µs more.
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            _add_extras,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            SecretRemover(secrets),
            *_rendering(as_json),
        ],
    )
    handler = _Handler(formatter)
    for each in filters:
        handler.addFilter(each)
    _set_up_standard_library(number, handler)


class SecretRemover:
    """A processor that removes secrets from all that a line tells, and makes plain data of it."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {each for each in secrets if len(each) >= SHORTEST_SECRET}
        known |= {quote(each, safe="") for each in known}
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the line without secrets, what matters most first."""
        ordered = {name: event[name] for name in _FIRST if name in event}
        return self._mapping(ordered | dict(event), 0)

    def clean(self, text: str) -> str:
        """Return a text without secrets, and no longer than bearable."""
        if self._known is not None:
            text = self._known.sub(REMOVED, text)
        text = _URL_PASSWORD.sub(rf"\1:{REMOVED}@", text)
        text = _BEARER.sub(rf"\1 {REMOVED}", text)
        text = _NAMED.sub(rf"\1{REMOVED}", text)
        text = _MODEL_KEY.sub(REMOVED, text)
        text = _PARAMETERS.sub(f"[parameters: {REMOVED}]", text)
        if len(text) > _LONGEST:
            half = _LONGEST // 2
            text = f"{text[:half]} [{len(text) - _LONGEST} characters left out] {text[-half:]}"
        return text

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        return {
            self.clean(_text(name)): self._named(name, value, depth)
            for name, value in mapping.items()
        }

    def _named(self, name: object, value: object, depth: int) -> object:
        if _is_number(value) or not _SECRET_NAME.fullmatch(_text(name)):
            return self._value(value, depth)
        return REMOVED

    def _value(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self.clean(str(value))
        if _is_number(value):
            return value
        if depth >= _DEEPEST:
            return "..."
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        if isinstance(value, list | tuple | set | frozenset):
            return [self._value(each, depth + 1) for each in value]
        return self.clean(_text(value))


def _is_number(value: object) -> bool:
    """Return whether it is a number that JSON has, a truth or nothing: none of them a secret."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "backslashreplace")
    try:
        return str(value)
    except Exception:  # a line about something broken must not break
        return f"<{type(value).__name__}>"


# --- what comes out ---


def _add_extras(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add what the standard library's way to log, or a filter, has put beside the message."""
    record = event["_record"]
    for name in _EXTRAS:
        if hasattr(record, name):
            event.setdefault(name, getattr(record, name))
    return event


def _rendering(as_json: bool) -> tuple[Processor, ...]:
    if as_json:
        return (structlog.processors.JSONRenderer(),)
    colors = _is_terminal(sys.stderr) and not os.environ.get("NO_COLOR")
    renderer = structlog.dev.ConsoleRenderer(
        colors=colors, exception_formatter=structlog.dev.plain_traceback
    )
    return _tame, renderer


def _tame(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Return a line with nothing in it that a terminal obeys; only tracebacks have line breaks."""
    tamed = dict(event)
    for name, value in event.items():
        if isinstance(value, str):
            text = value.translate(_CONTROLS)
            tamed[name] = text if name in _OF_LINES else text.replace("\n", "\\n")
    return tamed


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to what standard error is at the moment.

    When it cannot, it does not print the values of the line, as the standard library would.
    """

    def __init__(self, formatter: logging.Formatter) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(formatter)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name there
        """Tell that a line was lost, if anything can be told."""
        kind = getattr(sys.exc_info()[0], "__name__", "")
        line = {"level": "error", "event": "a line was lost", "logger": record.name, "error": kind}
        try:
            self.stream.write(dumps(line) + "\n")
        except (OSError, ValueError, AttributeError):
            return  # it is closed, or its disk is full: there is nobody to tell


def _set_up_standard_library(level: int, handler: _Handler) -> None:
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(True)
    for name in _SILENT:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _SILENT_UNLESS_DEBUGGING:
        silent = level if level <= logging.DEBUG else max(level, logging.WARNING)
        logging.getLogger(name).setLevel(silent)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
