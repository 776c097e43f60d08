"""The look of a report: one stylesheet, light or dark as the reader has it, and light on paper."""

from __future__ import annotations

import base64
import hashlib

from app.evaluations.reports.palette import DARK, LIGHT

_RULES = """
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
header { border-bottom: 2px solid var(--ink); margin-bottom: 1.5rem; padding-bottom: 1rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.6rem 0 .8rem; }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.kind { color: var(--muted); font-size: .82rem; font-weight: 600; letter-spacing: .08em;
  margin: 0 0 .35rem; text-transform: uppercase; }
.facts { color: var(--muted); margin: 0; max-width: none; }
.headline { font-size: 1.2rem; margin: 1rem 0 0; }
.notes { background: var(--panel); border-left: 4px solid var(--series-5);
  margin: 1.5rem 0; padding: .7rem 1.2rem .9rem; }
.notes h2 { font-size: 1.02rem; margin: 0 0 .3rem; }
ul { margin: .3rem 0; max-width: 50rem; padding-left: 1.2rem; }
li { margin: .25rem 0; overflow-wrap: anywhere; }
.figures { display: grid; gap: 1.4rem 2rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.figures > figure:only-child { grid-column: 1 / -1; max-width: 36rem; }
figure { margin: .4rem 0 .8rem; }
figcaption { color: var(--muted); font-size: .85rem; line-height: 1.45; margin-top: .3rem;
  overflow-wrap: anywhere; }
figcaption strong { color: var(--ink); }
.plot { display: block; height: auto; max-width: 100%; width: 100%; }
.scroll { margin: .8rem 0 1.2rem; max-width: 100%; overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--series-1); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums;
  min-width: 26rem; }
caption { color: var(--muted); font-size: .85rem; padding: 0 0 .4rem; text-align: left; }
th, td { border-bottom: 1px solid var(--grid); padding: .34rem .9rem .34rem 0; text-align: left;
  vertical-align: baseline; }
thead th { border-bottom: 1.5px solid var(--muted); font-size: .85rem; font-weight: 600;
  vertical-align: bottom; }
tbody th { font-weight: 500; max-width: 18rem; min-width: 8rem; overflow-wrap: anywhere; }
tbody tr:last-child > *, th[scope="rowgroup"] { border-bottom: 1.5px solid var(--muted); }
.number { padding-left: .5rem; text-align: right; white-space: nowrap; }
thead .number { min-width: 4.5rem; white-space: normal; }
details { margin: .6rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--panel); font: .82rem/1.5 ui-monospace, "SF Mono", Menlo, monospace;
  overflow-wrap: anywhere; padding: .8rem 1rem; white-space: pre-wrap; }
footer { border-top: 1px solid var(--grid); color: var(--muted); font-size: .85rem;
  margin-top: 3rem; padding-top: .8rem; }
@media (max-width: 46rem) {
  body { padding: 1.2rem .9rem 3rem; }
  h1 { font-size: 1.5rem; }
  .figures { grid-template-columns: minmax(0, 1fr); }
}
@media print {
  body { font-size: 9.5pt; max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  figure, tr, .notes, .scroll { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { min-width: 0; }
  details::details-content { block-size: auto; content-visibility: visible; }
}
@page { margin: 18mm 16mm; }
"""


def _variables(colors: dict[str, str]) -> str:
    return "".join(f"--{name}: {color}; " for name, color in colors.items())


def _plot_rules() -> str:
    """Let a page's colours stand in for those that plots are drawn with.

    Not only within a plot: what `use` shows is styled as if it stood alone.
    """
    return "\n".join(
        f'[{what}="{color}"] {{ {what}: var(--{name}); }}'
        for name, color in LIGHT.items()
        for what in ("fill", "stroke")
    )


#: The whole stylesheet, as it stands between the tags.
STYLE = (
    f"\n:root {{ {_variables(LIGHT)}}}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)}}} }}"
    f"{_RULES}{_plot_rules()}\n"
)
#: The page needs nothing but this stylesheet: no script, no font, no picture, no connection.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    f"{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
