"""The garbage collector, in a process that has started."""

from __future__ import annotations

import gc

from app.garbage import settle


def test_what_is_there_is_left_alone():
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        settle()
        assert gc.get_freeze_count() > frozen
        assert gc.get_threshold() == (20_000, *before[1:])
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
        gc.collect()
        gc.freeze()  # as for all tests
