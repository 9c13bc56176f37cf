"""Faults that occur during a task: not at some time, but once some of its rows are staged.

Each fault is a function for `mapInArrow` that hands rows on, and strikes in the first attempt of the first
partition of the first batch only.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Final

import httpx
import pyarrow as pa
from pyspark import TaskContext

from tailrace_spark.sink.staging import places_of
from tests.spark.queries import CHUNK_ROWS, next_page, wait_for_number

Batches = Iterator[pa.RecordBatch]
Fault = Callable[[str, str, Batches], Batches]

HANDED_ON_ROWS: Final = 3 * CHUNK_ROWS
"""Of a partition's six chunks: the first is staged then, whatever is held in buffers on the way."""
KILLED_WITHIN_S: Final = 300


def kill_worker(base_url: str, stream: str, batches: Batches) -> Batches:
    """The Python worker that runs this is killed once its first chunk is staged, and before its last is."""
    if not _is_first_attempt():
        yield from batches
        return
    yield from _until_the_first_is_staged(base_url, stream, batches)
    os.kill(os.getpid(), signal.SIGKILL)


def kill_executor(base_url: str, stream: str, batches: Batches) -> Batches:
    """The executor is killed once the first chunk of this task is staged, and before its last row is read."""
    if not _is_first_attempt():
        yield from batches
        return
    yield from _until_the_first_is_staged(base_url, stream, batches)
    os.kill(_parent_of(os.getppid()), signal.SIGKILL)


def linger(base_url: str, stream: str, batches: Batches) -> Batches:
    """The task reads no further once its first chunk is staged, and waits for its driver to be killed.
    The driver that comes after it is spared."""
    if not _is_first_attempt() or _has_entries(base_url, attempts_stream(stream)):
        yield from batches
        return
    yield from _until_the_first_is_staged(base_url, stream, batches)
    Event().wait(KILLED_WITHIN_S)
    raise AssertionError("nobody killed the driver")


def dawdle(base_url: str, stream: str, batches: Batches) -> Batches:
    """The task does not end before another copy of it has written its last row."""
    _note_attempt(base_url, stream)
    held = list(batches)
    yield from held
    if _is_first_attempt():
        wait_for_number(base_url, stream, held[-1]["n"][-1].as_py())


FAULTS: Final[Mapping[str, Fault]] = {
    "kill_executor": kill_executor,
    "linger": linger,
    "dawdle": dawdle,
}


def attempts_stream(stream: str) -> str:
    """Where a fault notes each attempt that it struck, and `dawdle` each attempt."""
    return f"{stream}:attempts"


def attempts_at(base_url: str, stream: str) -> list[tuple[str, str]]:
    """Partition and number of each attempt that was noted."""
    noted = httpx.get(f"{base_url}/v1/streams/{attempts_stream(stream)}/entries").json()["entries"]
    return [(entry["fields"]["partition"], entry["fields"]["attempt"]) for entry in noted]


def _until_the_first_is_staged(base_url: str, stream: str, batches: Batches) -> Batches:
    """Hand some rows on, and come back once a chunk is staged: the moment to strike, noted."""
    yield from _some(batches)
    context = TaskContext.get()
    assert context
    query_id = context.getLocalProperty("sql.streaming.queryId")
    assert query_id
    next_page(base_url, places_of(stream, query_id).chunks)
    _note_attempt(base_url, stream)


def _some(batches: Batches) -> Batches:
    """Hand rows on, but not all."""
    count = 0
    while count < HANDED_ON_ROWS:
        batch = next(batches)
        yield batch
        count += batch.num_rows


def _is_first_attempt() -> bool:
    context = TaskContext.get()
    assert context
    is_first_batch = context.getLocalProperty("streaming.sql.batchId") == "0"
    return is_first_batch and context.partitionId() == 0 and context.attemptNumber() == 0


def _has_entries(base_url: str, stream: str) -> bool:
    return httpx.head(f"{base_url}/v1/streams/{stream}").is_success


def _note_attempt(base_url: str, stream: str) -> None:
    context = TaskContext.get()
    assert context
    fields = {"partition": str(context.partitionId()), "attempt": str(context.attemptNumber())}
    url = f"{base_url}/v1/streams/{attempts_stream(stream)}/entries"
    httpx.post(url, json={"fields": fields}).raise_for_status()


def _parent_of(pid: int) -> int:
    """The parent of the daemon that forks Python workers: the executor's JVM."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))
