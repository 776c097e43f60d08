"""`kibitz doctor`: whether all is there that Kibitz needs, and what to do where it is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.completion.values import complete_player
from app.cli.db import Url
from app.cli.processes.running import run
from app.cli.progress import progress_bar
from app.errors import AppError

if TYPE_CHECKING:
    from app.doctor.examination import Check
    from app.doctor.findings import Finding

EXAMPLES = (
    "Examples: [bold]kibitz doctor[/bold] | "
    "[bold]kibitz doctor --ask[/bold] | "
    "[bold]kibitz doctor --ask team:default[/bold] | "
    "[bold]kibitz doctor --ask ollama/llama3.2[/bold] | "
    "[bold]kibitz doctor --json[/bold]"
)

_COLOURS = {"ok": "green", "note": "cyan", "warn": "yellow", "FAIL": "bold red"}
#: Where there is less room beside a subject, the text goes below it, so far from the edge.
_NARROWEST, _STEP = 30, 4
#: What a file or another program gets has no ends of lines but its own.
_UNBOUNDED = 1_000_000


class NotAsked(AppError):
    """A model was named, and nobody said that it is to be asked."""


def doctor(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Whom to --ask: a player, or a model as provider/model; the model of the settings "
            "if not given.",
            metavar="NAME",
            show_default=False,
            autocompletion=complete_player,
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask",
            help="Send one short question to the model, and tell what it cost. "
            "Without this, nothing is sent to any model.",
        ),
    ] = False,
    database: Url = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """See whether everything is there that Kibitz needs.

    Where it is not, it says what to do. It looks at Python, the settings, the data folder and its
    disk, the database and its tables, Stockfish and other UCI engines, teams, models and their
    keys, the service, the terminal, and the browser for tests. Nothing is made or changed, and no
    key or password is shown.

    ok is well; note is worth knowing; warn is something that one may do without; FAIL is to be
    mended. The exit code is 1 if anything failed.
    """
    if name is not None and not ask:
        named = name if name.isprintable() else "NAME"
        raise NotAsked(f"say `--ask {named}` to have it asked; that costs as much as a short call")
    findings = run(_examined(name or "" if ask else None, database))
    if as_json:
        typer.echo(json.dumps(_to_json(findings)))
    else:
        _print(findings)
    if _count(findings, "FAIL"):
        raise typer.Exit(1)


async def _examined(ask: str | None, database: str | None) -> list[Finding]:
    """Look at everything, and show meanwhile what is still being looked at."""
    from app.doctor.checkup import Wish, check_up

    open_: list[str] = []
    with progress_bar() as bar:
        task = bar.add_task("Reading the settings", total=None)

        def begun(checks: Sequence[Check]) -> None:
            open_.extend(check.subject for check in checks)
            bar.update(task, total=len(checks), description=_looking(open_))

        def done(check: Check) -> None:
            open_.remove(check.subject)
            bar.update(task, advance=1, description=_looking(open_))

        return await check_up(begun, done, Wish(database, ask))


def _looking(subjects: Sequence[str]) -> str:
    if not subjects:
        return "Done"
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return f"Looking at {subjects[0]}{more}"


def _to_json(findings: Sequence[Finding]) -> dict[str, object]:
    from importlib.metadata import version

    return {
        "kibitz": version("kibitz"),
        "is_well": not _count(findings, "FAIL"),
        "findings": [finding.to_json() for finding in findings],
    }


def _print(findings: Sequence[Finding]) -> None:
    """Print every finding beside its sign and subject, or below them in a narrow window."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    width = console.width if console.is_terminal else _UNBOUNDED
    arrow = "→" if console.encoding.lower().startswith("utf") else "->"
    subjects = max(len(finding.subject) for finding in findings)
    for finding in findings:
        head = Text.assemble(
            (f"{finding.sign:<4}", _COLOURS[finding.sign]), f"  {finding.subject:<{subjects}}  "
        )
        indent = len(head)
        if width - indent < _NARROWEST:
            head.rstrip()
            console.print(head, soft_wrap=True)
            indent, head = _STEP, Text()
        texts = [Text(finding.case)]
        if finding.advice:
            texts.append(Text(f"{arrow} {finding.advice}", "bold"))
        for text in texts:
            for line in text.wrap(console, max(width - indent, 1)):
                line.rstrip()
                console.print(head or Text(" " * indent), line, sep="", soft_wrap=True)
                head = Text()
    console.print(f"\n{_summary(findings)}", soft_wrap=not console.is_terminal)


def _summary(findings: Sequence[Finding]) -> str:
    failed, warned = (_count(findings, sign) for sign in ("FAIL", "warn"))
    if failed:
        others = f", and {_things(warned)} may be" if warned else ""
        return f"{_things(failed).capitalize()} failed and should be mended{others}."
    if warned:
        return f"Kibitz can be used; {_things(warned)} cannot, until mended."
    return "All is well."


def _things(number: int) -> str:
    return "one thing" if number == 1 else f"{number} things"


def _count(findings: Sequence[Finding], sign: str) -> int:
    return sum(finding.sign == sign for finding in findings)
