"""`kibitz eval`: how strong somebody is, measured by games or positions, with intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import amounts
from app.cli.completion.values import complete_plan, complete_player
from app.cli.db import Url
from app.cli.evaluations import examples
from app.cli.evaluations.archive import (
    AsJson,
    Id,
    ask,
    folder_of,
    list_evaluations,
    ratings,
    report,
    settings_with,
    show,
)
from app.cli.group import Group

if TYPE_CHECKING:
    from app.cli.evaluations.conducting import Begin, Conducted
    from app.evaluations.contest import Contest
    from app.evaluations.plan import Plan
    from app.evaluations.service import EvaluationService
    from app.persistence.evaluations import EvaluationRecord
    from app.settings import Settings

#: The exit code of an evaluation that has not come to its end by itself: it pauses, or somebody
#: has cancelled it.
NOT_FINISHED = 3
#: Whose evaluations they are that a terminal starts.
_CLIENT = "terminal"

evaluate = Group(
    name="eval",
    help="Measure how strong players are, and report on it.",
    epilog=examples.ALL,
)

Output = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder for the report; by default one in your data folder.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what it will likely cost, and play nothing.")
]
ReportJson = Annotated[
    bool, typer.Option("--json", help="Print the report, or the estimate, as one JSON object.")
]
Usd = Annotated[float | None, amounts.dollars("The budget of the whole evaluation, in dollars.")]
Games = Annotated[int | None, typer.Option(min=2, help="The most games.")]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Openings and dice depend on it; 1, if not given.")
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, max=256, help="Games at a time; 2, if not given.")
]


Nodes = Annotated[
    int | None,
    typer.Option(
        "--analysis",
        metavar="NODES",
        min=0,
        help="How far Stockfish looks at each position afterwards, to tell how accurate moves "
        "were; 20000, if not given, and 0 leaves it out.",
    ),
]


@evaluate.command(epilog=examples.RUN)
def run(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN",
            help="A file of TOML or JSON, or - for standard input.",
            autocompletion=complete_plan,
        ),
    ],
    dry_run: DryRun = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with an unfinished evaluation of the same plan, if there is one.",
        ),
    ] = False,
    output: Output = None,
    as_json: ReportJson = False,
    database: Url = None,
) -> None:
    """Run the evaluation that a plan describes, and write its report.

    Ctrl-C pauses it: games under way are kept, and `kibitz eval resume` goes on with them; a second
    one leaves at once, and it can be resumed nevertheless. The exit code is 0 if it has finished, 1
    if the report cannot be written, 2 if the plan is wrong, 3 if it pauses by itself and says why,
    130 after Ctrl-C and 143 after SIGTERM.
    """
    from app.cli.evaluations.plans import read_plan_file

    settings, wanted = settings_with(database), read_plan_file(plan)
    run_plan(wanted, settings, dry_run=dry_run, resumes=resume, output=output, as_json=as_json)


@evaluate.command(epilog=examples.LADDER)
def ladder(
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT",
            help="Who is measured: NAME, or NAME@nodes=2000.",
            autocompletion=complete_player,
        ),
    ],
    margin: Annotated[
        float | None,
        typer.Option(
            min=5,
            max=1_000,
            help="Half the 95 % interval at which an agent is done; 100, if not given.",
        ),
    ] = None,
    games: Games = None,
    control: Annotated[
        bool, typer.Option("--control", help="Measure every team:NAME beside its solo:NAME.")
    ] = False,
    usd: Usd = None,
    analysis: Nodes = None,
    seed: Seed = None,
    concurrency: Concurrency = None,
    dry_run: DryRun = False,
    output: Output = None,
    as_json: ReportJson = False,
    database: Url = None,
) -> None:
    """Rate agents against the calibrated levels of Stockfish.

    No plan has to be written for it. Each plays whom it can learn most from, until its rating is
    known to ± the margin. All else is as in `kibitz eval run`.
    """
    from app.cli.evaluations.plans import budget_of, plan_of

    wanted = plan_of(
        "ladder",
        agents,
        name=f"ladder of {', '.join(agents)}"[:200],
        margin=margin,
        games=games,
        control=control,
        budget=budget_of(usd),
        analysis=None if analysis is None else {"nodes": analysis},
        seed=seed,
        concurrency=concurrency,
    )
    run_plan(wanted, settings_with(database), dry_run=dry_run, output=output, as_json=as_json)


@evaluate.command(epilog=examples.DUEL)
def duel(
    first: Annotated[
        str,
        typer.Argument(help="Whose strength is in question.", autocompletion=complete_player),
    ],
    second: Annotated[
        str, typer.Argument(help="Whom it has to beat.", autocompletion=complete_player)
    ],
    games: Games = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="Stop as soon as a sequential test decides between these differences in Elo.",
        ),
    ] = None,
    usd: Usd = None,
    analysis: Nodes = None,
    seed: Seed = None,
    concurrency: Concurrency = None,
    dry_run: DryRun = False,
    output: Output = None,
    as_json: ReportJson = False,
    database: Url = None,
) -> None:
    """Let two agents play each other, to see who is stronger.

    They play pairs of games with colours swapped. No plan has to be written for it; all else is as
    in `kibitz eval run`.
    """
    from app.cli.evaluations.plans import budget_of, plan_of

    wanted = plan_of(
        "duel",
        (first, second),
        name=f"{first} against {second}"[:200],
        games=games,
        sprt=None if sprt is None else {"bounds": _bounds(sprt)},
        budget=budget_of(usd),
        analysis=None if analysis is None else {"nodes": analysis},
        seed=seed,
        concurrency=concurrency,
    )
    run_plan(wanted, settings_with(database), dry_run=dry_run, output=output, as_json=as_json)


@evaluate.command(epilog=examples.RESUME)
def resume(
    evaluation_id: Id,
    usd: Annotated[
        float | None, amounts.dollars("Another budget in dollars; what was spent counts.")
    ] = None,
    tokens: Annotated[int | None, amounts.tokens("Another budget of tokens.")] = None,
    calls: Annotated[int | None, amounts.calls("Another budget of calls.")] = None,
    output: Output = None,
    as_json: ReportJson = False,
    database: Url = None,
) -> None:
    """Go on with an evaluation that paused or was killed.

    Games that were under way go on where they stood. With a larger budget, one that ended since its
    budget was spent goes on, too. All else is as in `kibitz eval run`.
    """
    from app.cli.evaluations.plans import budget_of

    settings, budget = settings_with(database), budget_of(usd, tokens, calls)
    whole_id = _id_of(settings, evaluation_id, has_budget=budget is not None)
    begin = _resumption(whole_id, budget)
    _conduct(settings, whole_id, begin, output, as_json=as_json)


@evaluate.command(epilog=examples.CANCEL)
def cancel(evaluation_id: Id, as_json: AsJson = False, database: Url = None) -> None:
    """End an evaluation for good.

    Games under way are aborted, those that were played are kept.
    """
    from app.cli.processes.running import run as run_to_the_end
    from app.evaluations.service import state_of
    from app.logs import configure

    settings = settings_with(database)
    whole_id = _id_of(settings, evaluation_id)
    configure("error")
    state = state_of(run_to_the_end(_cancel(settings, whole_id)))
    if as_json:
        typer.echo(json.dumps(state, allow_nan=False))
    else:
        typer.echo(f"Evaluation {whole_id} is cancelled; what was played is kept.")


evaluate.command(name="list", epilog=examples.LIST)(list_evaluations)
evaluate.command(epilog=examples.SHOW)(show)
evaluate.command(epilog=examples.REPORT)(report)
evaluate.command(epilog=examples.RATINGS)(ratings)


# --- starting ---


def run_plan(
    plan: Plan,
    settings: Settings,
    *,
    dry_run: bool = False,
    resumes: bool = False,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run an evaluation to its end, or say what it would cost; raises `Exit` unless it finished."""
    contest = _prepare(plan, settings, dry_run=dry_run, as_json=as_json)
    if dry_run:
        return
    same = _unfinished(settings, contest) if resumes else None
    if same is not None:
        budget = contest.plan.budget.model_dump(mode="json")
        is_new = json.loads(same.plan)["budget"] != budget
        begin = _resumption(same.id, budget if is_new else None)
        _conduct(settings, same.id, begin, output, as_json=as_json)
        return
    from uuid_utils.compat import uuid7

    evaluation_id = str(uuid7())

    async def begin_anew(evaluations: EvaluationService) -> EvaluationRecord:
        started = await evaluations.create(plan, client=_CLIENT, evaluation_id=evaluation_id)
        return started.record

    _conduct(settings, evaluation_id, begin_anew, output, as_json=as_json)


def _prepare(plan: Plan, settings: Settings, *, dry_run: bool, as_json: bool) -> Contest:
    """Return what a plan comes to; tell what it will cost, if that is all that is wanted."""
    from app.catalogue import make_catalogue
    from app.cli.evaluations.texts import print_estimate
    from app.evaluations.estimate import estimate_plan
    from app.evaluations.preparation import prepare
    from app.logs import configure

    configure("error")
    # Nothing of it is started, so there is nothing to close.
    catalogue = make_catalogue(settings)
    contest = prepare(plan, catalogue, may_lack=dry_run)
    if dry_run:
        estimate = estimate_plan(contest, catalogue)
        budget = plan.budget.model_dump(mode="json")
        if as_json:
            told = {"name": plan.name, "kind": plan.kind, **estimate.to_json(), "budget": budget}
            typer.echo(json.dumps(told, allow_nan=False))
        else:
            print_estimate(plan.name, estimate, budget)
    return contest


def _unfinished(settings: Settings, contest: Contest) -> EvaluationRecord | None:
    """Return the newest unfinished evaluation of a plan, whatever its budget, if there is one."""
    from app.evaluations.plan import plan_json
    from app.persistence.evaluations import OPEN

    wanted = plan_json(contest.plan) | {"budget": None}

    async def find(evaluations: EvaluationService) -> EvaluationRecord | None:
        found = [record for status in OPEN for record in await evaluations.list(status, None, 1000)]
        same = [each for each in found if json.loads(each.plan) | {"budget": None} == wanted]
        return max(same, key=lambda each: each.id, default=None)

    return ask(settings, find)


def _resumption(evaluation_id: str, budget: Mapping[str, Any] | None) -> Begin:
    """Return what goes on with an evaluation, perhaps with another budget."""

    async def begin(evaluations: EvaluationService) -> EvaluationRecord:
        from app.evaluations.plan import read_plan

        record = await evaluations.find(evaluation_id)
        plan = json.loads(record.plan)
        new = None
        if budget is not None:
            new = read_plan(plan | {"budget": plan["budget"] | dict(budget)}).budget
        if record.status in ("created", "running"):
            if new is None:
                return record  # whoever conducted it is dead, and we take it up
            await evaluations.pause(evaluation_id)
        return await evaluations.resume(evaluation_id, new)

    return begin


def _conduct(
    settings: Settings, evaluation_id: str, begin: Begin, output: Path | None, *, as_json: bool
) -> None:
    """Conduct an evaluation, and tell what came of it; raises `Exit` unless it has finished."""
    from app.cli.evaluations.conducting import conduct
    from app.cli.evaluations.texts import print_summary
    from app.cli.files.output_file import CannotWriteFile
    from app.cli.files.report_folder import require_folder

    folder = output or folder_of(settings, evaluation_id)
    require_folder(folder if output else folder.parent)
    try:
        conducted = conduct(settings, evaluation_id, begin, folder)
    except CannotWriteFile as error:
        again = f"`kibitz eval report {evaluation_id}` writes it again"
        typer.echo(f"kibitz: {error}; {again}", err=True)
        raise typer.Exit(1) from None
    if conducted.report is None:
        raise typer.Exit(_farewell(conducted, evaluation_id))
    if as_json:
        typer.echo(json.dumps(conducted.report, allow_nan=False))
    else:
        print_summary(conducted.report)
        typer.echo(f"Written to {folder}: report.html and what it is made of.")
    if conducted.state is None or conducted.state["status"] != "finished":
        typer.echo(_how_to_go_on(conducted, evaluation_id), err=True)
        raise typer.Exit(NOT_FINISHED)


def _farewell(conducted: Conducted, evaluation_id: str) -> int:
    """Say how to go on with what was interrupted, and return the exit code."""
    by = conducted.interrupted_by or Signals.SIGINT
    if conducted.state is not None and by is not Signals.SIGHUP:  # then nobody is there to read
        typer.echo(_how_to_go_on(conducted, evaluation_id), err=True)
    return 128 + by


def _how_to_go_on(conducted: Conducted, evaluation_id: str) -> str:
    from app.cli.evaluations.texts import games_text

    state = conducted.state or {}
    if state.get("status") == "cancelled":
        return "kibitz: somebody has cancelled the evaluation"
    played = f" after {games_text(state['progress'])}" if state.get("progress") else ""
    why = f" ({state['detail']})" if state.get("detail") else ""
    stands = f"is paused{played}{why}" if state.get("status") == "paused" else "was left as it is"
    return f"kibitz: the evaluation {stands}; go on with: kibitz eval resume {evaluation_id}"


async def _cancel(settings: Settings, evaluation_id: str) -> EvaluationRecord:
    from app.cli.evaluations.conducting import with_services

    return await with_services(
        settings, (), lambda services: services.evaluations.cancel(evaluation_id)
    )


def _id_of(settings: Settings, beginning: str, *, has_budget: bool = False) -> str:
    """Return the id of the evaluation that begins so, which can go on.

    Raises `EvaluationNotFound`, `UnknownId` or `NothingToResume` before anything is started.
    """
    from app.cli.evaluations.conducting import NothingToResume
    from app.evaluations.errors import EvaluationNotFound
    from app.persistence.evaluations import FINISHED, OPEN

    async def find(evaluations: EvaluationService) -> EvaluationRecord:
        return await evaluations.find(await evaluations.id_of(beginning))

    record = ask(settings, find)
    if record is None:
        raise EvaluationNotFound(beginning)
    if record.status not in ((*OPEN, FINISHED) if has_budget else OPEN):
        raise NothingToResume(record.id, record.status)
    return record.id


def _bounds(text: str) -> list[float]:
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise typer.BadParameter("--sprt takes two numbers, as in 0,50") from None
    return [low, high]
