"""Prints entries as they arrive, and notices when the reader of our output has exited.

It owns standard output while a command prints entries. `entries` formats them.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Iterable

from tailrace.app.cli.following.entries import Line, Written


def print_lines(lines: Iterable[Line], written: Written) -> dict[bytes, str]:
    """Print the entries; return the last printed id of each stream."""
    _check_reader()
    last_ids = {}
    for line in lines:
        sys.stdout.buffer.write(written(line).encode("utf-8", "surrogateescape") + b"\n")
        last_ids[line.key] = line.id
    sys.stdout.buffer.flush()
    return last_ids


def _check_reader() -> None:
    """Raise `BrokenPipeError` if the reader of our output has exited. Without new output, no write would
    detect that."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(what & select.POLLERR for _, what in poll.poll(0)):
        raise BrokenPipeError
