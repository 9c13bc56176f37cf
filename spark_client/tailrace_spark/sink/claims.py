"""Find two writes of one batch that would share their idempotency keys.

A key consists of producer, batch, partition and chunk. If a query writes two DataFrames to one stream in one
batch with the same producer, the server takes the second one for a replay of the first one: it drops the
chunks that are equal and refuses the others. This module finds that before anything is sent.

This module remembers only writes of its own process, and sends no requests. A restarted query has another
session, so its replay of a batch does not count as a second write. A second call with the same DataFrame does
not count either.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

from pyspark.sql import DataFrame

from tailrace_spark.errors import BadOption

CLAIMS_KEPT: Final = 1_000
"""More streams than one process writes to at a time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the idempotency keys of a batch depend on, apart from the rows. `stream`: None if each row names
    its stream."""

    urls: Sequence[str]
    stream: str | None
    producer_id: str


@dataclass(frozen=True, slots=True)
class _Written:
    """The batch that was written last. `run`: the session that a query has from its start to its end.
    `rows`: a number that is equal for DataFrames with the same plan."""

    run: str
    batch_id: int
    rows: int


_last: Final[OrderedDict[Claim, _Written]] = OrderedDict()
_lock: Final = Lock()


def claim(keys: Claim, frame: DataFrame, batch_id: int) -> None:
    """Note that this batch of a query writes `frame`. Raises `BadOption` if the same batch already wrote
    another DataFrame with the same keys."""
    session = frame.sparkSession._jsparkSession  # noqa: SLF001 - Python has no other name for it
    written = _Written(session.sessionUUID(), batch_id, frame.semanticHash())
    with _lock:
        before = _last.get(keys)
        if before is not None and _is_another_write(before, written):
            raise BadOption(
                f"producer_id: batch {batch_id} writes two DataFrames to the stream {keys.stream!r} as one "
                f"producer, {keys.producer_id}. Give each of these writes a sink with its own producer_id; "
                "the server would take the second write for a replay of the first one"
            )
        _last[keys] = written
        _last.move_to_end(keys)
        while len(_last) > CLAIMS_KEPT:
            _last.popitem(last=False)


def _is_another_write(before: _Written, now: _Written) -> bool:
    return (before.run, before.batch_id) == (now.run, now.batch_id) and before.rows != now.rows
