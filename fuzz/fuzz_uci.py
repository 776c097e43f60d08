"""Fuzzes the reading of what UCI engines print: `python -m fuzz.fuzz_uci -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["agents", "engine"]):
    from fuzz.uci_promises import check_uci

from fuzz.harness import fuzz
from fuzz.uci_seeds import OUTPUTS

if __name__ == "__main__":
    fuzz(check_uci, OUTPUTS)
