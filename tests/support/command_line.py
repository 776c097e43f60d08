"""Running `kibitz`, in this process by the `main` that the installed program calls, or as one.

A start of the program costs a second, so most tests run it in this process.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import main
from tests.support.processes import HANGS_AFTER

KIBITZ = Path(sys.executable).with_name("kibitz")


def kibitz(
    *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `kibitz` in this process, with streams and an environment of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(KIBITZ), *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as end:
            code = end.code
    out.flush()
    err.flush()
    assert code is None or isinstance(code, int)  # Python would print anything else
    printed = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess([str(KIBITZ), *arguments], code or 0, *printed)


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `kibitz` as everybody does."""
    return subprocess.run(
        [str(KIBITZ), *arguments],
        capture_output=True,
        text=True,
        timeout=2 * HANGS_AFTER,
        check=False,
        env=os.environ | environment,
    )
