"""Connection faults: why a service cannot be reached, in words for a person."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import httpx

from app.cli.boards.talk import printable

_MOST_WORDS = 200


def why(error: Exception) -> str:
    """Return why a request failed, as a part of a sentence."""
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return f"its certificate is not to be trusted ({printable(cause.verify_message)})"
            case ssl.SSLError():
                return f"it does not speak TLS ({printable(str(cause.reason))})"
            case socket.gaierror():
                return "no host of that name is known"
            case ConnectionRefusedError():
                return "nobody listens there"
            case OSError() if cause.strerror:
                return printable(cause.strerror)
            case httpx.TimeoutException():
                return "it does not answer in time"
            case httpx.TooManyRedirects():
                return "it sends us from one address to the next"
    return printable(str(error))[:_MOST_WORDS] or type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Give what an error comes from, the first cause first, and then the error itself."""
    inner = error.__cause__ or error.__context__
    if inner is not None:
        yield from _causes(inner)
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    yield error
