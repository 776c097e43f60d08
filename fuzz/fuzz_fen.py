"""Fuzzes the reading of FEN: `python -m fuzz.fuzz_fen -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["engine"]):
    from fuzz.promises import check_fen

from fuzz.harness import fuzz, text_of
from fuzz.seeds import FENS

if __name__ == "__main__":
    fuzz(lambda raw: check_fen(text_of(raw)), FENS)
