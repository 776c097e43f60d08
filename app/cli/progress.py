"""The bar that shows how far a long command has got."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


def progress_bar() -> Progress:
    """Return a bar on standard error, which is seen only on a terminal and goes away at the end."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(
        console=console,
        transient=True,
        disable=not console.is_terminal,  # where it would leave an empty line
        # Else Rich would print to its console, which is standard error, what is meant for a file.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )
