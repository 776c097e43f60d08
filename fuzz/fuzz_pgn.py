"""Fuzzes the reading of PGN, as bytes and as text: `python -m fuzz.fuzz_pgn -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["engine"]):
    from fuzz.promises import check_pgn

from fuzz.harness import fuzz, text_of
from fuzz.seeds import PGNS


def check(raw: bytes) -> None:
    check_pgn(raw)
    check_pgn(text_of(raw))


if __name__ == "__main__":
    fuzz(check, PGNS)
