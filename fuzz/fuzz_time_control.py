"""Fuzzes the reading of time controls: `python -m fuzz.fuzz_time_control -max_total_time=60`."""

from __future__ import annotations

import atheris

with atheris.instrument_imports(include=["engine"]):
    from fuzz.promises import check_time_control

from fuzz.harness import fuzz, text_of
from fuzz.seeds import TIME_CONTROLS

if __name__ == "__main__":
    fuzz(lambda raw: check_time_control(text_of(raw)), TIME_CONTROLS)
