"""Whether a task has been given all of its rows, or whoever fed it has died.

Why. Rows come to a Python worker as an Arrow stream over a socket. Where the executor or the driver is
killed, or what computes the rows fails, that socket ends, and Arrow takes the end between two batches for the
end of the stream. The rows so far would look like the whole partition, and its last chunk, which is shorter
than it should be, would be written under the key of the whole one: a replay would be refused for ever.

How. Behind a stream that has ended well, Spark writes a mark for the worker itself to read; behind one that
was cut off nothing comes. So one looks whether there is another byte, and leaves it there. The worker's
input is a local variable of Spark's own program (`infile`, since its first version), found by the call stack:
Spark hands it to nobody.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from types import FrameType
from typing import Any, Final

import pyarrow as pa

PROGRAMS: Final = ("pyspark.worker", "pyspark.daemon", "__main__")

log: Final = logging.getLogger(__name__)


class InputCutOffError(RuntimeError):
    """The task's rows ended before their end. Spark runs it again, or is dead itself."""


def whole(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches. Raises `InputCutOffError` in place of ending where they are not all."""
    yield from batches
    worker_input = _worker_input()
    if worker_input is None:
        log.warning("this version of Spark does not show whether a task was given all its rows")
    elif not worker_input.peek(1):
        raise InputCutOffError("what feeds this task is gone: its rows are not all here")


def _worker_input() -> Any:
    """What Spark feeds this worker by; None where it is not to be found."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - no other way leads there
    while frame is not None:
        found = frame.f_locals.get("infile")
        if frame.f_globals.get("__name__") in PROGRAMS and isinstance(found, BufferedIOBase):
            return found
        frame = frame.f_back
    return None
