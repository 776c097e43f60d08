"""Fuzzes the reading of what GUIs write to us: `python -m fuzz.fuzz_uci_gui -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["app.uci", "agents.uci", "engine"]):
    from fuzz.uci_gui_promises import check_commands

from fuzz.harness import fuzz
from fuzz.uci_seeds import INPUTS

if __name__ == "__main__":
    fuzz(check_commands, INPUTS)
