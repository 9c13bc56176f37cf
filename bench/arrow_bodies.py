"""Arrow instead of NDJSON as the body of imports and exports: the processor time of client and server.

It runs the conversions of both sides in one process, without HTTP: those of the sink, of the data source and
of the server, and the ones that Arrow bodies would need instead. A million entries of five fields, about 110
bytes each. The rows have no goals: docs/decisions.md tells what follows from them. Run it with ``python -m
bench.arrow_bodies``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

import pyarrow as pa
from pyspark.sql.types import DoubleType, LongType, StringType, StructType, TimestampType

from bench.rows import Effort, Row, command, in_turns
from tailrace.api.wire.ndjson import LineForm
from tailrace.core.log.entry_json import FieldChoice, Shape, wire_ndjson
from tailrace.core.log.entry_lines import fragments_from_ndjson
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS
from tailrace_spark.sink.entry_form import entry_form
from tailrace_spark.sink.lines import row_lines
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.source.line_parser import entries_of
from tailrace_spark.values.texts import body_of

ENTRIES: Final = 1_000_000
CHUNK_ROWS: Final = 5_000
PAGE_ENTRIES: Final = 10_000
ROUNDS: Final = 3
FIRST_MS: Final = 1_767_225_600_000
MICROSECONDS: Final = 1e6
SCHEMA: Final = (
    StructType()
    .add("reading", LongType())
    .add("rider", StringType())
    .add("speed", DoubleType())
    .add("position", LongType())
    .add("at", TimestampType())
)
FORM: Final = entry_form(SCHEMA, SinkOptions())
CHOICE: Final = FieldChoice(["rider"])

T = TypeVar("T")
R = TypeVar("R")


def measure(effort: Effort) -> Iterator[Row]:
    """One row for each conversion: NDJSON in the column of ours, Arrow in that of the peer."""
    chunks = [rows_from(first) for first in range(0, effort.count(ENTRIES), CHUNK_ROWS)]
    bodies, tables = list(map(ndjson_body, chunks)), list(map(arrow_body, chunks))
    fragments = [fragment for body in bodies for fragment in fragments_from_ndjson(body)]
    pages = [
        Entries(range(FIRST_MS << SEQ_BITS, (FIRST_MS << SEQ_BITS) + len(page)), page)
        for page in (fragments[at : at + PAGE_ENTRIES] for at in range(0, len(fragments), PAGE_ENTRIES))
    ]
    lines, columns = list(map(wire_ndjson, pages)), list(map(arrow_page, pages))
    compare = Comparison(effort, len(fragments))
    yield compare.row("import, the client writes the body", (ndjson_body, chunks), (arrow_body, chunks))
    yield compare.row(
        "import, the server reads the body", (fragments_from_ndjson, bodies), (fragments_from_arrow, tables)
    )
    yield compare.row("export, the server writes the body", (wire_ndjson, pages), (arrow_page, pages))
    yield compare.row("export, the client reads the body", (entries_of, lines), (arrow_table, columns))
    yield compare.row(
        "export of one field of five, the server writes the body", (one_field, pages), (arrow_page, pages)
    )


class Comparison:
    """Compares two conversions by processor time for each of `count` entries."""

    def __init__(self, effort: Effort, count: int) -> None:
        self._rounds = effort.rounds(ROUNDS)
        self._count = count

    def row(
        self,
        what: str,
        ours: tuple[Callable[[T], object], Iterable[T]],
        theirs: tuple[Callable[[R], object], Iterable[R]],
    ) -> Row:
        """The medians of both sides, in turns."""
        ndjson_us, arrow_us = in_turns(
            self._rounds, lambda: self._taken_us(*ours), lambda: self._taken_us(*theirs)
        )
        shown = f"{ndjson_us:.2f} us an entry", f"{arrow_us:.2f} us an entry"
        ratio = ndjson_us / arrow_us
        return Row(None, f"{what}; beside Arrow", "none", *shown, ratio, "", None)

    def _taken_us(self, convert: Callable[[T], object], inputs: Iterable[T]) -> float:
        began_s = time.process_time()
        for each in inputs:
            convert(each)
        return (time.process_time() - began_s) / self._count * MICROSECONDS


def rows_from(first: int) -> pa.RecordBatch:
    """A chunk of rows, as the sink's tasks receive them."""
    numbers = range(first, first + CHUNK_ROWS)
    return pa.RecordBatch.from_pydict(
        {
            "reading": pa.array(numbers, pa.int64()),
            "rider": [f"rider-{number % 9973}" for number in numbers],
            "speed": [(number % 613) / 10 for number in numbers],
            "position": [number % 200 for number in numbers],
            "at": pa.array([(FIRST_MS + number) * 1000 for number in numbers], pa.timestamp("us", "UTC")),
        }
    )


def ndjson_body(rows: pa.RecordBatch) -> bytes:
    """What the sink sends."""
    return bytes(body_of(row_lines(rows, FORM)))


def arrow_body(rows: pa.RecordBatch) -> bytes:
    """The rows as an Arrow stream, in their own types."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    body: bytes = sink.getvalue().to_pybytes()
    return body


def fragments_from_arrow(body: bytes) -> list[bytes]:
    """The stored form of the rows of an Arrow stream, by the fastest way that the sink knows."""
    fragments: list[bytes] = []
    for rows in pa.ipc.open_stream(body):
        fragments += ndjson_body(rows).splitlines()
    return fragments


def arrow_page(page: Entries) -> bytes:
    """A page of entries as an Arrow stream, by the fastest way that the data source knows."""
    entries = entries_of(wire_ndjson(page))
    return arrow_body(pa.RecordBatch.from_arrays([entries.ids, entries.fields], names=["_id", "fields"]))


def arrow_table(body: bytes) -> pa.Table:
    """What a task would receive."""
    return pa.ipc.open_stream(body).read_all()


def one_field(page: Entries) -> bytes:
    """A page as NDJSON with one field of each entry."""
    return LineForm(Shape.NATURAL, choice=CHOICE).lines(page)


if __name__ == "__main__":
    command(measure, __doc__)
