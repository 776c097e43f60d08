"""Checks of the machine: Python, the data folder and its disk, the terminal, a browser."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.doctor.findings import Finding, failure, fine, note, warning

FOLDER, DISK = "Data folder", "Disk"
LEAST_PYTHON = (3, 11)
#: In bytes: below the first nothing can be kept for long, below the second not much.
LEAST_ROOM, LITTLE_ROOM = 100_000_000, 1_000_000_000
_NARROW, _LOW = 60, 24

_CHROMIUM_VARIABLE = "KIBITZ_CHROMIUM"
#: As in scripts/install-chromium.
_CHROMIUMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
_APPLICATIONS = tuple(
    Path(f"/Applications/{name}.app/Contents/MacOS/{name}")
    for name in ("Google Chrome", "Chromium")
)
_PLACES = "/usr/bin:/usr/local/bin:/snap/bin:/opt/homebrew/bin"


def look_at_python(running: tuple[int, int] = sys.version_info[:2]) -> Sequence[Finding]:
    """Say which Python runs which Kibitz."""
    kibitz, python = version("kibitz"), platform.python_version()
    case = f"{python} ({platform.python_implementation()}), Kibitz {kibitz}"
    if running < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        advice = f"install Python {least} or newer, and Kibitz with it"
        return [failure("Python", case, advice, python=python, kibitz=kibitz)]
    return [fine("Python", case, python=python, kibitz=kibitz)]


def look_at_data_folder(folder: Path) -> Sequence[Finding]:
    """Say whether something can be kept, and for how much there is room."""
    advice = "free some room there, or set data_folder to another disk"
    return [_folder(folder), look_at_disk(folder, advice)]


def _folder(folder: Path) -> Finding:
    subject, there = FOLDER, nearest(folder)
    if folder.parts[:1] == ("~",):
        advice = "set HOME, or data_folder in kibitz.toml to a whole path"
        return failure(subject, f"nobody knows where your home is, as {folder} wants it", advice)
    advice = f"let yourself write there: chmod u+rwx {there}; or set data_folder to another one"
    if not there.is_dir():
        advice = "set data_folder in kibitz.toml, or KIBITZ_DATA_FOLDER, to a folder"
        return failure(subject, f"{there} is no folder", advice)
    if not may(there, os.R_OK | os.W_OK | os.X_OK):
        return failure(subject, f"{there} cannot be written", advice)
    if there != folder:
        return fine(subject, f"{folder} can be made, once something is kept", exists=False)
    return fine(subject, f"{folder} can be written", exists=True)


def look_at_disk(path: Path, advice: str) -> Finding:
    """Say how much room there is where a path is, or would be."""
    there = nearest(path)
    free = shutil.disk_usage(there).free
    files = os.statvfs(there)
    case = f"{_size(free)} free at {there}"
    if files.f_files and not files.f_favail:
        return failure(DISK, f"{there} has no room for another file", advice, free_bytes=free)
    if free < LEAST_ROOM:
        return failure(DISK, case, advice, free_bytes=free)
    if free < LITTLE_ROOM:
        return warning(DISK, case, advice, free_bytes=free)
    return fine(DISK, case, free_bytes=free)


def nearest(path: Path) -> Path:
    """Return the path, or the nearest one above that exists."""
    there = path.absolute()
    while not is_there(there) and there != there.parent:
        there = there.parent
    return there


def is_there(path: Path) -> bool:
    """Return whether there is something, as far as we may look."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def may(path: Path, what: int) -> bool:
    """Return whether we may read, write or enter something: `os.R_OK` and its like."""
    return os.access(path, what, effective_ids=os.access in os.supports_effective_ids)


def look_at_terminal(environment: Mapping[str, str] = os.environ) -> Sequence[Finding]:
    """Say what the terminal can show."""
    from rich.console import Console

    if sys.stdout is None or not sys.stdout.isatty():
        return [note("Terminal", "the output is no terminal, so it has no colours and no board")]
    console = Console()
    width, height = console.size
    colors = {None: "no colours", "standard": "16 colours", "256": "256 colours"}.get(
        console.color_system, "all colours"
    )
    if console.no_color:
        colors = "no colours, as NO_COLOR asks"
    encoding = console.encoding
    case = f"{width} x {height}, {colors}, {encoding}, TERM={environment.get('TERM', '')}"
    figures = {"width": width, "height": height, "colors": colors, "encoding": encoding}
    advice = []
    if encoding.lower().replace("-", "") != "utf8":
        advice.append("for pieces instead of letters, choose UTF-8: export LC_ALL=C.UTF-8")
    if width < _NARROW or height < _LOW:
        advice.append(f"for boards with advice beside them, make it {_NARROW} x {_LOW} or larger")
    return [note("Terminal", case, "; ".join(advice), **figures)]


def look_at_browser(environment: Mapping[str, str] = os.environ) -> Sequence[Finding]:
    """Say whether the tests of the page can be run. Nothing else needs a browser of ours."""
    subject, only = "Browser", "only the tests of the page need it"
    try:
        playwright = version("playwright")
    except PackageNotFoundError:
        return [note(subject, f"Playwright is not installed; {only}", "make setup")]
    named = environment.get(_CHROMIUM_VARIABLE)
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return [note(subject, f"{named}, driven by Playwright {playwright}; {only}")]
        advice = f"unset {_CHROMIUM_VARIABLE}, or let it name one"
        case = f"{_CHROMIUM_VARIABLE} names {named}, which is no program; {only}"
        return [warning(subject, case, advice)]
    places = f"{_PLACES}:{environment.get('PATH', '')}"
    found = next(filter(None, (shutil.which(name, path=places) for name in _CHROMIUMS)), None)
    found = found or next((str(path) for path in _APPLICATIONS if os.access(path, os.X_OK)), None)
    if found is None:
        return [note(subject, f"no Chromium is installed; {only}", "make chromium")]
    return [note(subject, f"{found}, driven by Playwright {playwright}; {only}")]


def _size(number: int) -> str:
    return f"{number / 1e9:,.1f} GB" if number >= LITTLE_ROOM else f"{number / 1e6:,.0f} MB"
