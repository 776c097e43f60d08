"""Fuzzes the reading of moves: `python -m fuzz.fuzz_move -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["engine"]):
    from fuzz.promises import check_move

from fuzz.harness import fuzz, text_of
from fuzz.seeds import MOVES

if __name__ == "__main__":
    fuzz(lambda raw: check_move(text_of(raw)), MOVES)
