"""ErrorAnswer: what a provider says instead of a reply, and the typed error that it means."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from agents.models.errors import (
    BrokenReply,
    ModelError,
    RateLimited,
    RequestRefused,
    ServerFault,
)
from agents.models.providers import Provider

_LONGEST_WAIT = timedelta(minutes=10)
_MAX_DETAIL = 300
#: Faults of the server although the number says that they are ours: they pass.
_PASSING = (408, 409, 425)
#: Why a 429 does not pass by waiting.
_OUT_OF_MONEY = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
#: Why a request is refused however it is written.
_FINAL = _OUT_OF_MONEY | {
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "invalid_api_key",
    "model_not_found",
}
#: A key that the provider has masked itself, but for its ends.
_MASKED = re.compile(r"\S*\*{3,}\S*")


@dataclass(eq=False)
class ErrorAnswer(Exception):
    """An answer that is an error, over HTTP or inside of a stream."""

    #: None where it came inside of a stream without a number.
    status: int | None
    message: str = ""
    #: The name that the provider has for what is wrong.
    code: str = ""
    #: The parameter at which the provider points.
    param: str = ""
    retry_after: timedelta | None = None
    #: All that was said, to look for names in it.
    text: str = ""

    def __str__(self) -> str:
        return f"answered {self.status}"

    @classmethod
    def over_http(cls, status: int, headers: Mapping[str, str], body: bytes) -> ErrorAnswer:
        """Return the error that an HTTP answer is."""
        text = body.decode("utf-8", "replace")
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            told = None  # a page of a proxy, perhaps
        answer = cls._read(told, text)
        answer.status = status
        answer.retry_after = retry_after(headers)
        return answer

    @classmethod
    def in_stream(cls, told: object) -> ErrorAnswer:
        """Return the error that an object within a stream tells of."""
        answer = cls._read(told, json.dumps(told)[:_MAX_DETAIL])
        error = _inner(told)
        for number in (error.get("code"), error.get("status"), error.get("status_code")):
            if isinstance(number, int | str) and re.fullmatch(r"[45]\d\d", str(number)):
                answer.status = int(number)
                break
        return answer

    @classmethod
    def _read(cls, told: object, text: str) -> ErrorAnswer:
        error = _inner(told)
        message = error.get("message") or error.get("detail") or error.get("error")
        metadata = error.get("metadata")  # where OpenRouter puts what the model's own server said
        raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
        if isinstance(message, str) and isinstance(raw, str):
            message = f"{message}: {raw}"
        if not isinstance(message, str):
            message = json.dumps(message) if message else ""
        codes = [str(error[name]) for name in ("code", "type") if error.get(name)]
        known = [code for code in codes if code in _FINAL]
        return cls(
            None,
            message[:2000],
            (known or codes or [""])[0],
            error["param"] if isinstance(error.get("param"), str) else "",
            text=text if not error else f"{message} {' '.join(codes)}",
        )

    @property
    def is_final(self) -> bool:
        """Whether it is of no use to write the request in another way."""
        return self.code in _FINAL

    def names(self, parameter: str) -> bool:
        """Return whether it points at a parameter, or at least speaks of it."""
        if self.param:
            return re.split(r"[.\[]", self.param)[0] == parameter
        return re.search(rf"(?<!\w){re.escape(parameter)}(?!\w)", self.text) is not None

    def error(self, provider: Provider) -> ModelError:
        """Return the typed error that it means."""
        status, name = self.status, provider.name
        if status is None and self.code in _FINAL:
            status = 400
        if status is None:
            return BrokenReply(name, f"an error inside of the reply: {self._detail(provider)}")
        if status == 429 and self.code not in _OUT_OF_MONEY:
            return RateLimited(name, self.retry_after, self._said(provider))
        if status >= 500 or status in _PASSING:
            return ServerFault(name, status, self.retry_after, self._said(provider))
        return RequestRefused(name, status, self._detail(provider))

    def _detail(self, provider: Provider) -> str:
        """Return why a request was refused."""
        if self.status is not None and 300 <= self.status < 400:
            return "it is at another address than its base URL says"
        return self._said(provider) or "it gives no reason"

    def _said(self, provider: Provider) -> str:
        """Return what was said, short, on one line and without secrets."""
        text = _MASKED.sub("***", provider.without_secrets(self.message))
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= _MAX_DETAIL else f"{text[:_MAX_DETAIL]}..."


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Return how long a provider asks us to wait, between nothing and ten minutes."""
    seconds = _number(headers.get("retry-after-ms"), 0.001)
    text = headers.get("retry-after")
    if seconds is None:
        seconds = _number(text, 1)
    if seconds is None and text is not None:
        try:
            date = parsedate_to_datetime(text)
        except ValueError:
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        # The date is by the wall: what the machine says now, and not at the start of the process.
        seconds = (date - datetime.now(UTC)).total_seconds()  # noqa: TID251
    if seconds is None:
        return None
    return timedelta(seconds=min(max(seconds, 0.0), _LONGEST_WAIT.total_seconds()))


def _number(text: str | None, unit: float) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return None if math.isnan(number) else number * unit


def _inner(told: object) -> Mapping[str, Any]:
    """Return the fields of an error, however deep the provider has put them."""
    if isinstance(told, list) and told:
        told = told[0]
    if isinstance(told, Mapping) and isinstance(told.get("error"), Mapping):
        told = told["error"]
    return told if isinstance(told, Mapping) else ({"message": told} if told else {})
