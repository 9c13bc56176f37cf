"""The data source's reader as Spark's driver calls it, without Spark: a batch takes milliseconds.

It owns how a query keeps its offset, and how tasks read their parts. Each test fills its own streams.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadLimit

from tailrace_client import Tailrace
from tailrace_spark.source.batch_reader import TailraceReader
from tailrace_spark.source.checkpoint import UNPINNED, Offset
from tailrace_spark.source.columns import SCHEMA, Columns
from tailrace_spark.source.options import ReadOptions, read_options
from tailrace_spark.source.stream_reader import TailraceStreamReader


class Query:
    """A streaming query: `offset` is what its checkpoint has. Starting another one at the same offset is a
    restart."""

    def __init__(
        self,
        url: str,
        offset: Offset = UNPINNED,
        clock: Callable[[], float] = lambda: 0.0,
        **options: object,
    ) -> None:
        self.offset = offset
        self.options = options_for(url, **options)
        self.reader = TailraceStreamReader(self.options, columns_for(self.options), clock)

    def plan(self, limit: ReadLimit | None = None) -> Offset:
        """The offset that the next batch ends at, as Spark stores it."""
        found = self.reader.latestOffset(self.offset, limit or self.reader.getDefaultReadLimit())
        stored: Offset = json.loads(json.dumps(found))
        return stored

    def run(self, end: Offset) -> list[list[str]]:
        """Run the batch that ends there: the ids that each part read."""
        parts = self.reader.partitions(self.offset, end)
        return [ids_in(self.reader.read(part)) for part in parts]

    def step(self) -> list[list[str]]:
        """Plan a batch, run it and commit it."""
        end = self.plan()
        read = self.run(end)
        self.offset = end
        return read

    def ids(self) -> list[str]:
        """The ids that the next batch reads, of all parts."""
        return [entry_id for part in self.step() for entry_id in part]


def options_for(url: str, **options: object) -> ReadOptions:
    """The options of a read. It does not wait, and a request is not repeated, unless they say so."""
    given = {"pollTimeoutMs": "0", "retryDeadlineMs": "0", **options}
    return read_options({"url": url, **{name: str(value) for name, value in given.items()}})


def columns_for(options: ReadOptions) -> Columns:
    return Columns(SCHEMA, ", ".join(options.streams), options.mode, options.corrupt_record)


def batch_parts(url: str, **options: object) -> tuple[TailraceReader, Sequence[InputPartition]]:
    """A batch read, planned."""
    given = options_for(url, **options)
    reader = TailraceReader(given, columns_for(given))
    return reader, reader.partitions()


def ids_in(batches: Any) -> list[str]:
    return [entry_id for batch in batches for entry_id in batch["_id"].to_pylist()]


def add(url: str, stream: str, *ids: str) -> None:
    """Append an entry with each of the ids."""
    with Tailrace(url) as tailrace:
        for entry_id in ids:
            tailrace.stream(stream).append({"n": entry_id}, id=entry_id)


def trim(url: str, stream: str, min_id: str) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream(stream).trim(min_id=min_id, approximate=False)


def delete(url: str, stream: str, *ids: str) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream(stream).delete_entries(*ids)


def drop(url: str, stream: str) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream(stream).delete()
