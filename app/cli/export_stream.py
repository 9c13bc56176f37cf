"""`tailrace export`: writes the entries of a stream to a file. It owns the options and the summary line."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from tailrace.app.cli.client_command import INTERRUPTED, connected, fail, on_server, place
from tailrace.app.cli.completions import complete_stream
from tailrace.app.cli.output import note, say
from tailrace.app.cli.server import Server, ServerProblem, stream_path
from tailrace.app.cli.transfer.exporting import (
    CsvRecords,
    EntryWriter,
    Export,
    ExportPlan,
    ExportState,
    FieldsAlone,
    WholeEntries,
    exported_parts,
    names_of,
)
from tailrace.app.cli.transfer.files import STANDARD, BadFile, FileFormat, Target, format_of
from tailrace.app.cli.transfer.progress import metered
from tailrace.app.cli.transfer.state import StateFile, differences, state_path
from tailrace.app.reasons import reason


@on_server
def export_stream(  # noqa: PLR0913 - one parameter an option
    stream: Annotated[
        str,
        typer.Argument(metavar="KEY", help="The stream.", autocompletion=complete_stream, show_default=False),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file; - is standard output.", show_default=False)
    ] = STANDARD,
    *,
    format_: Annotated[
        FileFormat, typer.Option("--format", help="`auto`: by the suffix of the name; NDJSON by default.")
    ] = FileFormat.AUTO,
    shape: Annotated[
        Literal["entry", "fields"],
        typer.Option(help="NDJSON: whole entries with their ids, or the fields alone."),
    ] = "entry",
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="CSV: the fields to write. Default: all; the stream is then read twice.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str, typer.Option(metavar="NAME", help="CSV: the column for ids. An empty name leaves the ids out.")
    ] = "id",
    start: Annotated[str, typer.Option(metavar="ID", help="The first id, or its time.")] = "-",
    end: Annotated[str, typer.Option(metavar="ID", help="The last id, or its time.")] = "+",
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Write only entries that match, such as 'fields.rider == \"Castilla\"' (docs/filters.md).",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an export into OUT that stopped.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite OUT if it exists.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file for the progress of the export. Default: a hidden file in the folder of OUT.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the entries of a stream to a file, NDJSON or CSV.

    Files named .gz or .zst are compressed. The export ends with the entry that
    is the last one when the export begins. With --resume an interrupted
    export continues after the last complete line, and a finished export
    continues with the entries appended since.

    Exit status: 0 if everything is written; 1 if not; 2 for wrong arguments;
    130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace export race:france race.ndjson.zst

      tailrace export race:france riders.csv --columns rider,speed

      tailrace export race:france | jq .fields.rider

      tailrace export race:france fast.ndjson --filter 'double(fields.speed) > 30'
    """
    format_ = format_of(out, format_)
    wanted_columns = [] if columns is None else columns.split(",")
    state_file = None
    if out != STANDARD:
        state_file = StateFile(state or state_path(out, "export", place().url, stream), ExportState)
    try:
        with connected() as server:
            plan = ExportPlan(
                server.url, stream, format_, shape, wanted_columns, id_column, start, end, filter_
            )
            found = state_file.load() if state_file is not None and resume else None
            _check_target(out, overwrite=overwrite, resume=resume, found=found)
            _export(server, out, plan, found, state_file)
    except BadFile as error:
        fail(str(error))


def _check_target(out: Path, *, overwrite: bool, resume: bool, found: ExportState | None) -> None:
    if out == STANDARD or overwrite or not out.exists():
        if resume and found is not None and not out.exists():
            fail(f"cannot continue: {out} does not exist")
        return
    if not resume:
        fail(f"{out} exists: use --resume to continue it, or --overwrite; nothing was written")
    if found is None:
        fail(f"cannot continue {out}: it has no state file; use --state, or --overwrite; nothing was written")


def _export(
    server: Server,
    out: Path,
    plan: ExportPlan,
    found: ExportState | None,
    state_file: StateFile[ExportState] | None,
) -> None:
    info = server.request("GET", stream_path(os.fsencode(plan.stream))).json()
    end = info["last_id"] if plan.end == "+" else plan.end
    begin = found or ExportState(plan, _columns(server, plan, end))
    if different := differences(begin.plan, plan):
        fail(f"the export began with other settings: {different}")
    writer = _writer(plan, begin.columns)
    try:
        target = Target(out, begin.length)
    except OSError as error:
        fail(f"cannot write {out}: {reason(error)}")
    is_whole = (plan.start, plan.end) == ("-", "+")
    problem, status = None, 1
    with closing(target), metered(None, begin.rows, rows_total=info["length"] if is_whole else None) as meter:
        task = Export(server, target, begin, state_file)
        try:
            task.run(writer, end, meter)
        except (BadFile, ServerProblem) as error:
            problem = str(error)
        except KeyboardInterrupt:
            problem, status = _interrupted(state_file), INTERRUPTED
    say(f"{plan.stream}: {meter.summary}", err=True)
    if problem is not None:
        note(problem)
        raise typer.Exit(status)


def _interrupted(state_file: StateFile[ExportState] | None) -> str:
    if state_file is None:
        return "interrupted"
    return f"interrupted, continue with --resume; the progress is in {state_file.path}"


def _columns(server: Server, plan: ExportPlan, end: str) -> list[str]:
    """Return the columns of a CSV file: the chosen columns, or all fields of the entries."""
    if plan.format != FileFormat.CSV or plan.columns:
        return plan.columns
    return names_of(exported_parts(server, plan.stream, plan.start, end, plan.filter))


def _writer(plan: ExportPlan, columns: list[str]) -> EntryWriter:
    if plan.format == FileFormat.CSV:
        return CsvRecords(columns, plan.id_column, is_choice=bool(plan.columns))
    return FieldsAlone() if plan.shape == "fields" else WholeEntries()
