"""`tailrace import`: appends the rows of a file to a stream. It owns the options and the summary line."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from tailrace.app.cli.client_command import INTERRUPTED, connected, fail, on_server, place
from tailrace.app.cli.completions import complete_stream
from tailrace.app.cli.output import note, say
from tailrace.app.cli.server import ServerProblem
from tailrace.app.cli.transfer.files import STANDARD, BadFile, FileFormat, Source, format_of
from tailrace.app.cli.transfer.importing import Import, ImportPlan, ImportState, begun
from tailrace.app.cli.transfer.progress import Meter, metered
from tailrace.app.cli.transfer.rows import BadRow, CsvRows, NdjsonRows, RowReader
from tailrace.app.cli.transfer.state import Imports, StateFile, differences, state_path
from tailrace.core.limits import BATCH_ENTRIES_MAX

CHUNK_ROWS_DEFAULT: Final = 10_000


@on_server
def import_file(  # noqa: PLR0913 - one parameter an option
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file; - is standard input.", show_default=False)
    ],
    stream: Annotated[
        str,
        typer.Option(
            metavar="KEY", help="The stream to append to.", autocompletion=complete_stream, show_default=False
        ),
    ],
    *,
    format_: Annotated[
        FileFormat, typer.Option("--format", help="`auto`: by the suffix of the name; NDJSON by default.")
    ] = FileFormat.AUTO,
    shape: Annotated[
        Literal["auto", "fields", "entry"],
        typer.Option(
            help="NDJSON: a line has the fields alone, or a whole entry. `auto`: like the first line."
        ),
    ] = "auto",
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="CSV: the columns to import. Default: all.", show_default=False),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="CSV: the column with the entry ids.", show_default=False),
    ] = None,
    chunk: Annotated[
        int,
        typer.Option(
            min=1, max=BATCH_ENTRIES_MAX, metavar="ROWS", help="Rows that are appended together, all or none."
        ),
    ] = CHUNK_ROWS_DEFAULT,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an import of this file that stopped.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Append rows a second time without asking.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file for the progress of the import. Default: a hidden file in the folder of FILE.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Append the rows of a file, NDJSON or CSV, to a stream.

    Files named .gz or .zst are decompressed. The first row of a CSV file has
    the names of the fields. If a row is invalid, the error has its line and
    column, and nothing of its chunk is appended.

    An interrupted import continues with --resume and appends nothing twice,
    even if the file has grown since. A file with rows that were imported into
    the stream before is appended again only after a question, or with
    --again.

    Exit status: 0 if all rows are appended; 1 if not; 2 for wrong arguments;
    130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace import riders.csv --stream race:france

      tailrace import race.ndjson.zst --stream race:france --chunk 50000

      tailrace import riders.csv --stream race:france --resume

      zcat old.csv.gz | tailrace import - --format csv --stream race:france
    """
    if resume and again:
        raise typer.BadParameter("--resume and --again exclude each other")
    format_ = format_of(file, format_)
    if format_ is FileFormat.NDJSON and (columns is not None or id_column is not None):
        raise typer.BadParameter("--columns and --id-column are for CSV only; an NDJSON entry has its own id")
    wanted_columns = [] if columns is None else columns.split(",")
    state_file = _state_file(file, state, place().url, stream)
    try:
        with connected() as server, closing(Source(file)) as source:
            reader = _reader(source, format_, shape, wanted_columns, id_column)
            plan = ImportPlan(server.url, stream, format_, reader.shape, wanted_columns, id_column, chunk)
            found = None if state_file is None else state_file.load()
            begin = _where_to_begin(plan, found, resume=resume, again=again)
            imports = Imports(server, stream)
            if not again and not resume:
                _ask_before_doubling(imports, file, stream)
            task = Import(server, source.name, begin, state_file, is_continued=found is not None and resume)
            _run(task, reader, source, state_file)
            if task.state.rows:
                _remember(imports, source.name, task.state)
    except BadFile as error:
        fail(str(error))


def _state_file(file: Path, state: Path | None, url: str, stream: str) -> StateFile[ImportState] | None:
    """Return the state file; None for standard input without --state."""
    if state is None and file == STANDARD:
        return None
    return StateFile(state or state_path(file, "import", url, stream), ImportState)


def _reader(
    source: Source, format_: FileFormat, shape: str, columns: list[str], id_column: str | None
) -> RowReader:
    if format_ is FileFormat.CSV:
        try:
            return CsvRows(source, columns, id_column)
        except BadRow as error:
            fail(f"{error}; nothing was appended")
    return NdjsonRows(source, shape)


def _where_to_begin(plan: ImportPlan, found: ImportState | None, *, resume: bool, again: bool) -> ImportState:
    if found is None or again or (found.is_finished and not resume):
        return begun(plan)
    if not resume:
        fail(
            f"an import of this file stopped after {found.rows:,} rows: continue it with --resume, or append "
            "these rows a second time with --again; nothing was appended"
        )
    if different := differences(found.plan, plan):
        fail(f"the import began with other settings: {different}")
    return found


def _ask_before_doubling(imports: Imports, file: Path, stream: str) -> None:
    """Ask on a terminal whether to append rows that were imported before. Elsewhere it needs `--again`."""
    if file == STANDARD or (found := imports.found_in(file)) is None:
        return
    at = datetime.fromtimestamp(found.at_ms // 1_000, UTC).astimezone()
    sentence = (
        f"{file} begins with the {found.rows:,} rows that were imported into {stream} from {found.file} "
        f"on {at:%Y-%m-%d at %H:%M}"
    )
    if not sys.stdin.isatty():
        fail(f"{sentence}: use --again to append them a second time; nothing was appended")
    say(f"{sentence}.", err=True)
    if not typer.confirm("Append them a second time?", err=True):
        fail("nothing was appended")


def _remember(imports: Imports, name: str, state: ImportState) -> None:
    try:
        imports.remember(name, state.rows, state.position)
    except (BadFile, ServerProblem) as error:
        # All rows are appended: the import has succeeded.
        note(f"a repetition of this import will not be noticed: {error}")


def _run(task: Import, reader: RowReader, source: Source, state_file: StateFile[ImportState] | None) -> None:
    """Run the import, and print its summary when the progress bar is gone."""
    problem, status = None, 1
    with metered(source.bytes_total, task.state.rows) as meter:
        try:
            task.run(reader, meter)
        except BadRow as error:
            problem = f"{error}; nothing of its chunk was appended"
        except (BadFile, ServerProblem) as error:
            problem = str(error)
        except KeyboardInterrupt:
            problem, status = _interrupted(task, state_file), INTERRUPTED
    _print_summary(task, meter)
    if problem is not None:
        note(problem)
        raise typer.Exit(status)


def _interrupted(task: Import, state_file: StateFile[ImportState] | None) -> str:
    if not task.has_progress:
        return "interrupted; nothing was appended"
    if state_file is None:
        return "interrupted; standard input cannot be continued without --state"
    return f"interrupted, continue with --resume; the progress is in {state_file.path}"


def _print_summary(task: Import, meter: Meter) -> None:
    continued = task.state.rows - meter.rows
    before = f"; {continued:,} rows were imported before" if continued else ""
    say(f"{task.state.plan.stream}: {meter.summary}{before}")
