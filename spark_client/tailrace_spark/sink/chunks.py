"""Cut lines into chunks. A chunk is the body of one request, and a retry sends the same bytes again.

A chunk ends at a number of rows, or before the row that would exceed a number of bytes. A row that alone
exceeds that number is a chunk of its own. The cuts depend only on the rows, never on the batches in which
Spark passes them: a replay with another batch size cuts the same chunks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import pyarrow as pa

from tailrace_spark.sink.lines import LINE


def chunks_of(batches: Iterable[pa.RecordBatch], rows_max: int, bytes_max: int) -> Iterator[pa.Table]:
    """Cut batches with the column `LINE` into chunks. Keeps one chunk and one batch in memory."""
    chunk = _Chunk(rows_max, bytes_max)
    for batch in batches:
        rest = batch
        while rest.num_rows:
            rest = chunk.take(rest)
            if rest.num_rows:
                yield chunk.end()
    if chunk.pieces:
        yield chunk.end()


class _Chunk:
    """A chunk that is being filled. `pieces`: slices of batches, without copying."""

    def __init__(self, rows_max: int, bytes_max: int) -> None:
        self._rows_max = rows_max
        self._bytes_max = bytes_max
        self._begin()

    def take(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take the rows that fit, and return the others."""
        lines = batch.column(LINE)
        bounds = memoryview(lines.buffers()[1]).cast("i")[lines.offset :]
        count = self._count_that_fit(bounds, batch.num_rows)
        if count:
            self.pieces.append(batch.slice(0, count))
            self._rows += count
            self._bytes += bounds[count] - bounds[0]
        return batch.slice(count)

    def end(self) -> pa.Table:
        """Return the chunk and begin the next one."""
        table = pa.Table.from_batches(self.pieces)
        self._begin()
        return table

    def _begin(self) -> None:
        self.pieces: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def _count_that_fit(self, bounds: memoryview, rows: int) -> int:
        within_rows = min(rows, self._rows_max - self._rows)
        last_bound = bounds[0] + self._bytes_max - self._bytes
        count = bisect_right(bounds, last_bound, 0, within_rows + 1) - 1
        return max(count, 0 if self.pieces else 1)
