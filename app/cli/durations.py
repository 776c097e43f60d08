"""Durations on the command line: numbers that are really numbers, and not too large."""

from __future__ import annotations

from datetime import timedelta

import typer


def duration(number: float, unit: timedelta, most: timedelta = timedelta(days=7)) -> timedelta:
    """Return so many units of time; raise `BadParameter` unless it is from 1 ms to `most`."""
    least = timedelta(milliseconds=1)
    if not least / unit <= number <= most / unit:  # false for what is no number, too
        raise typer.BadParameter(f"a time must be from {least / unit:.2g} to {most / unit:g}")
    return number * unit
