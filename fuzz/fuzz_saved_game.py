"""Fuzzes the loading of saved games: `python -m fuzz.fuzz_saved_game -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["engine"]):
    from fuzz.promises import check_saved_game

from fuzz.harness import fuzz, text_of
from fuzz.seeds import SAVED_GAMES

if __name__ == "__main__":
    fuzz(lambda raw: check_saved_game(text_of(raw)), SAVED_GAMES)
