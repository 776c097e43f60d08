"""Runs a check under atheris: libFuzzer's mutations, guided by the engine's coverage."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

import atheris

#: Seconds for one input, after which it counts as a hang. Inputs are a few kilobytes.
_LIMITS = ("-timeout=10", "-max_len=4096", "-rss_limit_mb=2048")


def fuzz(check: Callable[[bytes], None], seeds: Iterable[str]) -> NoReturn:
    """Search for bytes that break a check, with libFuzzer's options from the command line.

    With files instead, check those. Ends with a status other than zero after a finding.
    """
    options = [*_LIMITS, *sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="kibitz-fuzz-") as corpus:
        if all(option.startswith("-") for option in options):
            for number, seed in enumerate(seeds):
                Path(corpus, str(number)).write_text(seed, "utf-8")
            options.append(corpus)
        searcher = os.fork()  # libFuzzer ends its process at once: nothing there would clean up
        if searcher == 0:
            atheris.Setup([sys.argv[0], *options], check)
            atheris.Fuzz()
        _, status = os.waitpid(searcher, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def text_of(raw: bytes) -> str:
    """Return bytes as text: all text can be had so, and lone surrogates too."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
