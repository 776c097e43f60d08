"""Keeping the garbage collector from stopping everyone: while we start, and for ever after."""

from __future__ import annotations

import gc

#: An event for a thousand watchers makes a few thousand objects, which soon go by themselves. At
#: the usual 700 they start one collection after another, and now and then a full one. That took 0.2
#: to 0.5 s on two busy cores, in which no watcher is served and no move is played.
_FIRST = 20_000


def postpone() -> None:
    """Collect nothing until `settle`: for a process that starts, and makes things that stay."""
    gc.disable()


def ease() -> None:
    """Look less often: for a process that is soon over, and mostly makes modules, which stay."""
    gc.set_threshold(_FIRST, *gc.get_threshold()[1:])


def settle() -> None:
    """Leave alone from now on what is there, and look less often: for a process that has started.

    What is there now, mostly modules and routes, stays for as long as the process does.
    """
    gc.freeze()
    ease()
    gc.enable()
