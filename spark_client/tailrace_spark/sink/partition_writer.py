"""The code that runs in a task: it converts the rows of one partition to lines, cuts them into chunks, and
stages or appends them.

This module owns the idempotency keys of chunks. A key is made from partition and chunk. The module keeps
nothing between tasks.

It also checks that the task received all its rows (`whole`). Rows reach a Python worker as an Arrow stream
over a socket. If the executor or the driver is killed, or the computation of the rows fails, the socket ends,
and Arrow takes an end between two batches for the end of the stream. The rows so far would look like the
whole partition, and the driver would commit the batch without the others. After a complete stream, Spark
sends a mark that the worker itself reads; after a broken stream nothing follows. So the check looks for
another byte, and leaves it there. The input of the worker is a local variable of Spark's own program
(`infile`, since its first version). The check finds it through the call stack, because Spark passes it to no
one.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import BufferedIOBase
from types import FrameType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import BadOption, SinkError
from tailrace_spark.sink.appender import Appender
from tailrace_spark.sink.entry_form import EntryForm
from tailrace_spark.sink.lines import LINE, chunks_of, row_lines
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.reports import PartitionCounts, report_row
from tailrace_spark.sink.sender import Replay, Sender, Sent, Shape
from tailrace_spark.sink.staging import Chunk, Stager, encoding_of, places_of
from tailrace_spark.values.texts import body_of

STREAM: Final = "stream"
"""The column with the stream of each row, next to the lines of a batch, if rows choose their stream."""


@dataclass(frozen=True, slots=True)
class Job:
    """The information that every task of a batch needs. `form`: what the columns become; the columns arrive
    in the order of its schema."""

    endpoint: Endpoint
    stream: str | None
    form: EntryForm
    options: SinkOptions
    producer_id: str
    batch_id: int

    @property
    def shape(self) -> Shape:
        """Return what each line is."""
        return "entry" if self.form.has_whole_entries else "fields"


def write_partition(job: Job, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Write all rows of the partition of this task. Returns its report, which contains the failure if the
    write failed."""
    context = TaskContext.get()
    assert context is not None
    kind = _AppendingWriter if job.options.commit == "chunk" else _StagingWriter
    writer = kind(job, context.partitionId())
    try:
        writer.write(batches)
    except (SinkError, BadOption) as error:
        return report_row(writer.counts, [], str(error))
    return report_row(writer.counts, writer.staged)


class _PartitionWriter:
    """The steps that both ways to write share."""

    def __init__(self, job: Job, partition: int) -> None:
        self._job = job
        self._partition = partition
        self._sent = Sent()
        self._rows = 0
        self.staged: list[Chunk] = []

    @property
    def counts(self) -> PartitionCounts:
        """Return the counts so far."""
        sent = self._sent
        return PartitionCounts(
            self._rows, sent.bytes, sent.requests, sent.replayed, sent.retries, self._dead_letters()
        )

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the rows of `batches`."""
        options = self._job.options
        chunks = chunks_of(self._lines(batches), options.chunk_rows, options.chunk_bytes)
        for number, chunk in enumerate(chunks):
            for stream, key, lines in self._by_stream(chunk, f"{self._partition}-{number}"):
                self._write(stream, key, b"".join(map(body_of, lines[LINE].chunks)), lines.num_rows)
            self._rows += chunk.num_rows

    def _write(self, stream: str, key: str, body: bytes, rows: int) -> None:
        raise NotImplementedError

    def _dead_letters(self) -> int:
        return 0

    def _lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of lines, with the stream of each row if rows choose it."""
        form = self._job.form
        for batch in batches:
            columns = {LINE: row_lines(batch, form)}
            if form.stream is not None:
                columns[STREAM] = batch.column(form.stream)
            yield pa.RecordBatch.from_pydict(columns)

    def _by_stream(self, chunk: pa.Table, key: str) -> Iterator[tuple[str, str, pa.Table]]:
        """Yield stream, key and lines of each request for the chunk. The rows of a stream keep their
        order."""
        own = self._job.stream or ""
        if self._job.form.stream is None:
            yield own, key, chunk
            return
        streams = chunk[STREAM].fill_null(own)
        for number, name in enumerate(sorted(pc.unique(streams).to_pylist())):
            yield name, f"{key}.{number}", chunk.filter(pc.equal(streams, name))


class _StagingWriter(_PartitionWriter):
    def __init__(self, job: Job, partition: int) -> None:
        super().__init__(job, partition)
        replay = Replay(job.producer_id, job.batch_id, "")
        sender = Sender(job.endpoint, replay, job.options, self._sent, partition)
        places = places_of(job.stream, job.producer_id)
        self._stager = Stager(sender, places, encoding_of(job.options), self.staged)

    def _write(self, stream: str, key: str, body: bytes, rows: int) -> None:
        self._stager.write(stream, key, body, rows)


class _AppendingWriter(_PartitionWriter):
    def __init__(self, job: Job, partition: int) -> None:
        super().__init__(job, partition)
        replay = Replay(job.producer_id, job.batch_id, _layout_of(job.options, job.form.schema))
        self._appender = Appender(job.endpoint, job.stream, job.options, replay, self._sent, partition)

    def _write(self, stream: str, key: str, body: bytes, rows: int) -> None:  # noqa: ARG002
        self._appender.append(stream, key, self._appender.sender.packed(body, self._job.shape))

    def _dead_letters(self) -> int:
        return self._appender.dead_letters


def _layout_of(options: SinkOptions, schema: T.StructType) -> str:
    """Return the text that the server pins with the first chunk of a batch: a replay with other settings is
    refused. The partitions are not in it."""
    columns = ",".join(f"{field.name}:{field.dataType.simpleString()}" for field in schema)
    digest = blake2b(columns.encode(), digest_size=6).hexdigest()
    return (
        f"chunks of {options.chunk_rows} rows, {options.chunk_bytes} bytes; "
        f"compression {options.compression}; columns {digest}"
    )


# --- whether all rows arrived -----------------------------------------------------------------------------


PROGRAMS: Final = ("pyspark.worker", "pyspark.daemon", "__main__")

log: Final = logging.getLogger(__name__)


class InputCutOffError(RuntimeError):
    """The rows of the task ended early. Spark runs the task again, unless Spark itself is dead."""


def whole(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches. Raises `InputCutOffError` at the end if batches are missing."""
    yield from batches
    worker_input = _worker_input()
    if worker_input is None:
        log.warning("this version of Spark does not show whether a task received all its rows")
    elif not worker_input.peek(1):
        raise InputCutOffError("the input of this task ended early: the process that sends its rows is gone")


def _worker_input() -> Any:
    """Return the input of this worker; None if it cannot be found."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - there is no other access to it
    while frame is not None:
        found = frame.f_locals.get("infile")
        if frame.f_globals.get("__name__") in PROGRAMS and isinstance(found, BufferedIOBase):
            return found
        frame = frame.f_back
    return None
