"""The folder into which a report is written, and the files in it."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import typer

from app.cli.files.output_file import OutputFile

if TYPE_CHECKING:
    from app.evaluations.service import EvaluationService


class Format(StrEnum):
    """What a report can be written as."""

    HTML = "html"
    JSON = "json"
    CSV = "csv"
    PGN = "pgn"
    MANIFEST = "manifest"


def file_name(format_: Format, kind: str) -> str:
    """Return what the file of a format is called in the folder."""
    match format_:
        case Format.HTML | Format.JSON:
            return f"report.{format_}"
        case Format.CSV | Format.PGN:
            return f"{'answers' if kind == 'positions' else 'games'}.{format_}"
        case Format.MANIFEST:
            return "manifest.json"


async def written_as(evaluations: EvaluationService, evaluation_id: str, format_: Format) -> str:
    """Return a report as the text of a file; raises `EvaluationNotFound`."""
    match format_:
        case Format.CSV:
            return await _table(evaluations, evaluation_id)
        case Format.PGN:
            return await evaluations.pgn(evaluation_id)
        case Format.HTML:
            from app.evaluations.reports.page import render_html

            report = await evaluations.report(evaluation_id)
            return await asyncio.to_thread(render_html, report)
        case Format.JSON:
            return json_text(await evaluations.report(evaluation_id))
        case Format.MANIFEST:
            return json_text((await evaluations.report(evaluation_id))["manifest"])


async def _table(evaluations: EvaluationService, evaluation_id: str) -> str:
    from app.evaluations.reports.tables import answers_csv, games_csv

    data = await evaluations.data(evaluation_id)
    make = answers_csv if data.kind == "positions" else games_csv
    return await asyncio.to_thread(make, data)


def json_text(data: dict[str, Any]) -> str:
    """Return plain data as people can read it, too."""
    return json.dumps(data, allow_nan=False, indent=2, ensure_ascii=False) + "\n"


async def write_all(
    evaluations: EvaluationService, evaluation_id: str, kind: str, folder: Path
) -> None:
    """Write every file of a report into a folder, or raise `CannotWriteFile`."""
    for each in Format:
        text = await written_as(evaluations, evaluation_id, each)
        write(folder / file_name(each, kind), text)


def write(path: Path, text: str) -> None:
    """Write a file so that there is always a whole one, or raise `CannotWriteFile`."""
    with OutputFile(path, force=True, makes_folder=True) as file:
        file.write(text)


def require_folder(folder: Path) -> None:
    """Find out now, and not after hours, that nothing can be written into a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror
        raise typer.BadParameter(f"{folder} cannot be written into: {reason}") from None
