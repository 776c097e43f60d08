"""The server's side of a connection that can be broken off.

ASGI has no way to close a connection. When an application gives up, the server closes politely: it
waits until the client has read everything, and a client that reads nothing holds its connection,
its buffers and the end of the service for ever.
"""

from __future__ import annotations

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_EXTENSION = "kibitz.abort"


class AbortableProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, with an extension of the scope by which `abort` works.

    For `uvicorn.Config(http=AbortableProtocol)`.
    """

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope["extensions"] = {_EXTENSION: {"abort": self.transport.abort}}


def abort(scope: Scope) -> bool:
    """Break off the connection of a request; return False if the server does not let us."""
    extension = (scope.get("extensions") or {}).get(_EXTENSION)
    if extension is None:
        return False
    extension["abort"]()
    return True
