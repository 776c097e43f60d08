"""Keeping the garbage collector from stopping everyone while a thousand watchers are served."""

from __future__ import annotations

import gc

#: An event for a thousand watchers makes a few thousand objects, which soon go by themselves. At
#: the usual 700 each event starts a collection, and every twentieth or so a full one: 0.2 s and
#: more, in which no watcher is served and no move is played.
_FIRST = 20_000


def settle() -> None:
    """Leave alone from now on what is there, and look less often: for a process that has started.

    What is there now, mostly modules and routes, stays for as long as the process does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_FIRST, *gc.get_threshold()[1:])
