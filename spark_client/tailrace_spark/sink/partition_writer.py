"""The code that runs in a task: it converts the rows of one partition to lines, cuts them into chunks and
sends them.

This module owns the idempotency keys. A key is made from partition and chunk, because a retried task cuts the
same chunks from the same rows. The module keeps nothing between tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from tailrace_client import TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import BadOption, SinkError
from tailrace_spark.sink.chunks import chunks_of
from tailrace_spark.sink.dead_letters import DeadLetters, Rows
from tailrace_spark.sink.entry_form import EntryForm
from tailrace_spark.sink.layout import short_digest
from tailrace_spark.sink.lines import LINE
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.reports import PartitionCounts, report_row
from tailrace_spark.sink.row_lines import row_lines
from tailrace_spark.sink.run_sender import Checked, RunSender
from tailrace_spark.sink.sender import Replay, Sender, Sent, Shape
from tailrace_spark.values.escapes import body_of

STREAM: Final = "stream"
"""The column with the stream of each row, next to the lines of a batch, if rows choose their stream."""

NO_STREAM: Final = TailraceError(
    "NO_STREAM", "the row names no stream, and the sink has no stream of its own"
)


@dataclass(frozen=True, slots=True)
class Job:
    """The information that every task of a batch needs. `form`: what the columns become; the columns arrive
    in the order of its schema."""

    endpoint: Endpoint
    stream: str | None
    form: EntryForm
    options: SinkOptions
    replay: Replay


def write_partition(job: Job, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Write all rows of the partition of this task. Returns its report, which contains the failure if the
    write failed."""
    return write_or_check(job, batches)[0]


def write_or_check(job: Job, batches: Iterable[pa.RecordBatch]) -> tuple[pa.RecordBatch, Checked]:
    """Write the partition as `write_partition` does. If the job names its run, and an earlier run began the
    batch, check the chunks and return what is known of them."""
    context = TaskContext.get()
    assert context is not None
    writer = _PartitionWriter(job, context.partitionId())
    try:
        writer.write(batches)
    except (SinkError, BadOption) as error:
        return report_row(writer.counts, str(error)), Checked()
    return report_row(writer.counts), writer.checked


class _PartitionWriter:
    def __init__(self, job: Job, partition: int) -> None:
        self._job = job
        self._partition = partition
        self.checked = Checked()
        self._sent = Sent()
        self._rows = 0
        self._shape: Shape = "entry" if job.form.has_whole_entries else "fields"
        self._sender = self._sender_of(job.replay)
        self._dead = DeadLetters(
            self._sender,
            self._sender_of(_replay_of_dead_letters(job)),
            job.options.dead_letter_stream,
            job.options.dead_letters_max,
        )

    @property
    def counts(self) -> PartitionCounts:
        """Return the counts so far."""
        sent = self._sent
        return PartitionCounts(
            self._rows, sent.bytes, sent.requests, sent.replayed, sent.retries, self._dead.count
        )

    def write(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Write the rows of `batches`."""
        options = self._job.options
        chunks = chunks_of(self._lines(batches), options.chunk_rows, options.chunk_bytes)
        for number, chunk in enumerate(chunks):
            for stream, key, body in self._by_stream(chunk, f"{self._partition}-{number}"):
                self._write(stream, key, body)
            self._rows += chunk.num_rows

    def _lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of lines, with the stream of each row if rows choose it."""
        form = self._job.form
        for batch in batches:
            columns = {LINE: row_lines(batch, form)}
            if form.stream is not None:
                columns[STREAM] = batch.column(form.stream)
            yield pa.RecordBatch.from_pydict(columns)

    def _by_stream(self, chunk: pa.Table, key: str) -> Iterator[tuple[str, str, bytes]]:
        """Yield stream, key and body of each request for the chunk. The rows of a stream keep their order."""
        own = self._job.stream or ""
        if self._job.form.stream is None:
            yield own, key, _body(chunk)
            return
        streams = chunk[STREAM].fill_null(own)
        for number, name in enumerate(sorted(pc.unique(streams).to_pylist())):
            yield name, f"{key}.{number}", _body(chunk.filter(pc.equal(streams, name)))

    def _write(self, stream: str, key: str, body: bytes) -> None:
        if not stream:
            self._dead.set_aside(Rows(stream, key, _lines_of(body), self._shape), NO_STREAM)
            return
        try:
            self._sender.send(stream, body, key, self._shape)
        except TailraceError as error:
            self._dead.divide(Rows(stream, key, _lines_of(body), self._shape), error)

    def _sender_of(self, replay: Replay) -> Sender:
        arguments = (self._job.endpoint, replay, self._job.options, self._sent, self._partition)
        return RunSender(*arguments, self.checked) if replay.run else Sender(*arguments)


def _body(chunk: pa.Table) -> bytes:
    return b"".join(map(body_of, chunk[LINE].chunks))


def _lines_of(body: bytes) -> list[bytes]:
    return body.splitlines(keepends=True)


def _replay_of_dead_letters(job: Job) -> Replay:
    """Return the producer for dead letters. Two sinks of one query can share a stream for dead letters, so
    each sink is a producer of its own there."""
    sink = short_digest(job.stream or "")
    return replace(job.replay, producer_id=f"{job.replay.producer_id}:dead:{sink}")
