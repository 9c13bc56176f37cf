"""Check that a task received all its rows, and that the process that sends them did not die.

Why. Rows reach a Python worker as an Arrow stream over a socket. If the executor or the driver is killed, or
the computation of the rows fails, the socket ends, and Arrow takes an end between two batches for the end of
the stream. The rows so far would look like the whole partition, and the driver would commit the batch without
the others.

How. After a complete stream, Spark sends a mark that the worker itself reads; after a broken stream nothing
follows. So this module checks that there is another byte, and leaves it there. The input of the worker is a
local variable of Spark's own program (`infile`, since its first version). This module finds it through the
call stack, because Spark passes it to no one.
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
