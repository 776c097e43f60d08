"""A report as one page that stands alone: it can be mailed, printed and kept.

No script, and nothing is fetched from anywhere. Everything in it that users wrote is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from app.evaluations.reports import conduct_sections, numerals, strength_sections
from app.evaluations.reports.markup import (
    Html,
    details,
    escaped,
    figure,
    items,
    joined,
    paragraph,
    section,
)
from app.evaluations.reports.style import CONTENT_SECURITY_POLICY, STYLE

Report: TypeAlias = Mapping[str, Any]

_KINDS = {
    "ladder": "Ladder: agents against anchors",
    "duel": "Duel: two agents against each other",
    "pool": "Pool: everybody against everybody",
    "positions": "Positions with one best move",
}


def render_html(report: Report) -> str:
    """Return the page of a report, plots and all. It takes long: not for an event loop."""
    # Only who draws needs it, and it takes long to import.
    from app.evaluations.reports.plots import plots_of

    plots = {plot.key: figure(plot.svg, plot.title, plot.caption) for plot in plots_of(report)}
    title = escaped(f"{report['name']} – Kibitz evaluation")
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            _header(report),
            "<main>",
            _notes(report),
            joined(_sections(report, plots)),
            "</main>",
            _footer(report),
            "</body>",
            "</html>\n",
        )
    )


def _header(report: Report) -> Html:
    counts = report["counts"]
    if report["kind"] == "positions":
        facts = [numerals.many(counts["answers"], "answer")]
    else:
        facts = [numerals.many(counts["games"], "scored game")]
    facts += [report["status"], f"begun {numerals.moment(report['created_at'])}"]
    if report["ended_at"] is not None:
        facts.append(f"ended {numerals.moment(report['ended_at'])}")
    return Html(
        "<header>\n"
        + joined(
            [
                paragraph(_KINDS[report["kind"]], "kind"),
                Html(f"<h1>{escaped(report['name'])}</h1>"),
                paragraph(" · ".join(facts), "facts"),
                _detail(report),
                paragraph(strength_sections.headline(report), "headline"),
            ]
        )
        + "\n</header>"
    )


def _detail(report: Report) -> Html:
    detail = numerals.proper_signs(report["detail"])
    return paragraph(detail, "facts") if detail else Html("")


def _notes(report: Report) -> Html:
    listed = items(numerals.proper_signs(note["text"]) for note in report["notes"])
    if not listed:
        return Html("")
    return Html(f'<aside class="notes">\n<h2>What to keep in mind</h2>\n{listed}\n</aside>')


def _sections(report: Report, plots: Mapping[str, Html]) -> list[Html]:
    strength, conduct = strength_sections, conduct_sections
    return [
        section("Rating", _figures(plots, "rating", "margin"), strength.ratings(report)),
        section("The duel", _figures(plots, "sprt"), strength.duel(report)),
        section("Team against control", strength.controls(report)),
        section("Positions", _figures(plots, "solved"), strength.positions(report)),
        section("Crosstable", strength.crosstable(report)),
        section("Scores", _figures(plots, "score"), strength.scores(report)),
        section("Quality of moves", _figures(plots, "accuracy"), conduct.quality(report)),
        section("Keeping to the rules", _figures(plots, "legality"), conduct.legality(report)),
        section("Time, tokens and money", _figures(plots, "cost"), conduct.usage(report)),
        section(
            "How it was done",
            paragraph("With the plan and the manifest the evaluation can be repeated."),
            details("Plan", _pretty(report["plan"])),
            details("Manifest", _pretty(report["manifest"])),
        ),
    ]


def _figures(plots: Mapping[str, Html], *keys: str) -> Html:
    found = joined(plots[key] for key in keys if key in plots)
    return Html(f'<div class="figures">\n{found}\n</div>') if found else found


def _footer(report: Report) -> Html:
    told = paragraph(f"Kibitz · evaluation {report['id']}")
    return Html(f"<footer>\n{told}\n</footer>")


def _pretty(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, default=str)
