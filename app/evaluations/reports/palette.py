"""The palette of reports: the colours that plots are drawn with, and what they are in the dark.

The series are Okabe and Ito's, which people tell apart who do not see all colours; on a dark screen
they are lighter.
"""

from __future__ import annotations

#: By the names that the stylesheet knows them by; no two are the same.
LIGHT = {
    "paper": "#ffffff",
    "panel": "#f6f8fa",
    "ink": "#1f2328",
    "muted": "#59636e",
    "grid": "#d8dee4",
    "series-1": "#0072b2",
    "series-2": "#d55e00",
    "series-3": "#009e73",
    "series-4": "#cc79a7",
    "series-5": "#e69f00",
    "series-6": "#56b4e9",
}
DARK = {
    "paper": "#0d1117",
    "panel": "#161b22",
    "ink": "#e6edf3",
    "muted": "#9198a1",
    "grid": "#30363d",
    "series-1": "#58b0e8",
    "series-2": "#ff8c42",
    "series-3": "#3fcf9f",
    "series-4": "#e39ac4",
    "series-5": "#f2c14e",
    "series-6": "#a5d8f5",
}
