"""The web page: one shell for every address in it, and the files that the shell asks for.

The files lie in `app/web` as they are written; there is no build step. They are served under a name
with a digest of all of them, so that browsers may keep them for good, and never mix two versions.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, Request, Response

from app.evaluations.reports.palette import DARK, LIGHT
from app.http.errors import NOT_FOUND, Refusal
from engine.drawing import piece_outlines
from engine.errors import Illegality

_MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_SHELL = "index.html"
_FOREVER = "public, max-age=31536000, immutable"
#: Nothing of another origin, nothing inline, and no text that becomes markup.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_SHELL_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ASSET_HEADERS = {
    "Cache-Control": _FOREVER,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MAIN = "main.js"
#: Every address of the page, and the module of the view that the browser shows there.
PAGES = {
    "/": "lobby/lobby_view.js",
    "/new": "lobby/start_match_view.js",
    "/matches/{match_id}": "match/match_view.js",
    "/evaluations": "evaluations/evaluations_view.js",
    "/evaluations/new": "evaluations/start_evaluation_view.js",
    "/evaluations/{evaluation_id}": "evaluations/evaluation_view.js",
    "/leaderboard": "evaluations/leaderboard_view.js",
    "/compare": "evaluations/compare_view.js",
}
#: What a module imports at once, as we write it; views are imported when they are shown.
_IMPORT = re.compile(r'^(?:import|export)\s(?:[^"]*\sfrom\s)?"([^"]+)";', re.MULTILINE)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class _Asset:
    """A file as it is sent, also compressed."""

    media_type: str
    content: bytes
    compressed: bytes

    @classmethod
    def of(cls, path: str, content: bytes) -> _Asset:
        media_type = f"{_MEDIA_TYPES[path.rpartition('.')[2]]}; charset=utf-8"
        return cls(media_type, content, gzip.compress(content, mtime=0))

    def response(self, request: Request, headers: Mapping[str, str], status: int = 200) -> Response:
        """Return it, compressed if the client takes that."""
        content, said = self.content, {**headers, "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            content, said["Content-Encoding"] = self.compressed, "gzip"
        return Response(content, status, said, self.media_type)


class _Page:
    """All files of the page, read once."""

    def __init__(self) -> None:
        texts = dict(_texts(files("app") / "web"))
        texts["board/outlines.js"] = _module("OUTLINES", piece_outlines())
        texts["match/illegality.js"] = _module("REASONS", _reasons())
        texts["evaluations/palette.js"] = _module("PALETTE", {"light": LIGHT, "dark": DARK})
        shell = texts.pop(_SHELL)
        digest = hashlib.sha256()
        for path, text in sorted((*texts.items(), (_SHELL, shell))):
            digest.update(f"{path}\0{text}\0".encode())
        self.version = digest.hexdigest()[:16]
        self.assets = {path: _Asset.of(path, text.encode()) for path, text in texts.items()}
        #: By the module of the view.
        self.shells = {
            view: _Asset.of(_SHELL, self._filled(shell, _needed(texts, _MAIN, view)).encode())
            for view in PAGES.values()
        }
        #: Where there is no view.
        self.empty_shell = _Asset.of(_SHELL, self._filled(shell, _needed(texts, _MAIN)).encode())

    def _filled(self, shell: str, modules: set[str]) -> str:
        """Return the shell with the address of its files, and what to fetch without being asked."""
        base = f"/assets/{self.version}"

        def links(kind: str, paths: Iterable[str]) -> str:
            found = (f'<link rel="{kind}" href="{base}/{path}">' for path in sorted(paths))
            return "\n    ".join(found)

        styles = (path for path in self.assets if path.endswith(".css"))
        filled = shell.replace("{styles}", links("stylesheet", styles))
        filled = filled.replace("{modules}", links("modulepreload", modules))
        return filled.replace("{assets}", base)


def _texts(folder: Traversable, prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for each in folder.iterdir():
        if each.is_dir():
            found += _texts(each, f"{prefix}{each.name}/")
        elif each.name.rpartition(".")[2] in _MEDIA_TYPES:
            found.append((prefix + each.name, each.read_text("utf-8")))
    return found


def _needed(texts: Mapping[str, str], *modules: str) -> set[str]:
    """Return some modules, and all that they import, whoever imports it.

    The browser fetches them side by side; else it would find out one after the other.
    """
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            folder = posixpath.dirname(path)
            imported = _IMPORT.findall(texts[path])
            waiting += (posixpath.normpath(posixpath.join(folder, each)) for each in imported)
    return found


def _module(name: str, value: object) -> str:
    """Return what Python knows as a module: the page draws and words it as the service does."""
    return f"export const {name} = {json.dumps(value, indent=2)};\n"


def _reasons() -> dict[str, str]:
    """Return why moves are illegal, by the words of `reason`."""
    return {each.name.lower(): each.value for each in Illegality}


_page = _Page()


def _shown(view: str) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers with the shell of a view."""

    async def show(request: Request) -> Response:
        return _page.shells[view].response(request, _SHELL_HEADERS)

    return show


for _address, _view in PAGES.items():
    router.add_api_route(_address, _shown(_view), methods=["GET", "HEAD"])


def nothing_here(request: Request) -> Response | None:
    """Return the page that says so, for somebody who went to an address where there is nothing."""
    is_browsing = request.method in ("GET", "HEAD") and "text/html" in request.headers.get(
        "accept", ""
    )
    if not is_browsing or request.url.path.startswith(("/api/", "/assets/")):
        return None
    return _page.empty_shell.response(request, _SHELL_HEADERS, 404)


@router.api_route("/assets/{version}/{path:path}", methods=["GET", "HEAD"])
async def asset(request: Request, version: str, path: str) -> Response:
    """Return a file of the page. Of another version there is none: the shell names this one."""
    found = _page.assets.get(path) if version == _page.version else None
    if found is None:
        raise Refusal(NOT_FOUND, "the page has no such file")
    return found.response(request, _ASSET_HEADERS)
