"""`kibitz suite run`: who finds the best moves of a suite."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.completion.values import complete_player, complete_suite
from app.cli.db import Url
from app.cli.evaluate import Concurrency, DryRun, Output, ReportJson, Seed, Usd, run_plan
from app.cli.evaluations.archive import settings_with


def run(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE",
            help="An EPD file, or a suite that comes with Kibitz.",
            autocompletion=complete_suite,
        ),
    ],
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT",
            help="Who is asked: NAME, or NAME@nodes=2000.",
            autocompletion=complete_player,
        ),
    ],
    usd: Usd = None,
    seed: Seed = None,
    concurrency: Concurrency = None,
    dry_run: DryRun = False,
    output: Output = None,
    as_json: ReportJson = False,
    database: Url = None,
) -> None:
    """Ask agents for the best move in every position of a suite.

    They are rated by that. It costs one turn a position, and so far less than games. All else is as
    in `kibitz eval run`: Ctrl-C pauses, `kibitz eval resume` goes on.
    """
    from app.cli.evaluations.plans import budget_of, plan_of
    from app.evaluations.suites.suite import find_suite

    found = find_suite(suite)
    wanted = plan_of(
        "positions",
        agents,
        name=f"{found.name}: {', '.join(agents)}"[:200],
        suite=found.name[:200],
        positions=found.text().splitlines(),
        budget=budget_of(usd),
        seed=seed,
        concurrency=concurrency,
    )
    run_plan(wanted, settings_with(database), dry_run=dry_run, output=output, as_json=as_json)
