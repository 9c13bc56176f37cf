"""The settings of the process: the garbage collector, the interpreter's switch interval, and open files.

The long-lived objects of the server (blocks, pending entries, indexes) have no reference cycles, so reference
counting frees them. A full collection would examine all of them and free nothing, while every client waits:
half a second for 100 000 streams. So the collector ignores the objects that exist at the start, and those
that have survived a full collection: each object is examined in one full collection, and a full collection
examines only the objects that are new since the last one. Only exceptions and tasks create cycles, and they
are short-lived; a cycle that is alive while its objects begin to be ignored is never freed.

The system's limit of open files is divided between the server's own files and its connections:

    own files | connections being rejected | connections accepted but not yet handled | connections

The server reserves its own files, so connections can never use the descriptors that the store, the listener
and the tokens file need. This module never opens a file and never starts a thread.
"""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

YOUNG_OBJECTS: Final = 1_000
"""Allocations minus deallocations that start a young collection: a low number makes each one short. With
20 000 the share of wake-ups within 2 ms fell from 99.9 to 99.6 %."""

MIDDLE_ROUNDS: Final = 20
OLD_ROUNDS: Final = 10
"""The number of young collections before a middle one, and of middle collections before a full one. So a full
collection examines about 200 000 new objects, which takes about 30 ms."""

IGNORED_FROM: Final = 100_000
"""So many objects that survive a full collection are ignored from then on. With fewer, the next full
collection examines them again, and finds cycles among them."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collector while modules are imported, and ignore their objects from then on.

    Imports create about 150 000 objects that live as long as the process. The collections that this would
    start take 30 ms and free nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def tune_garbage_collector() -> None:
    """Call this once, after all objects of the start exist. O(1): they are ignored without being examined.

    A collection at this moment would take 50 ms, and longer with stored streams, and free nothing.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, MIDDLE_ROUNDS, OLD_ROUNDS)
    gc.callbacks.append(_ignore_survivors)


def _ignore_survivors(phase: str, info: dict[str, int]) -> None:
    oldest = 2
    if phase == "stop" and info["generation"] == oldest and len(gc.get_objects(oldest)) >= IGNORED_FROM:
        gc.freeze()


SWITCH_INTERVAL_S: Final = 0.0002
"""A thread that waits for the interpreter asks for it after this time; Python's default is 5 ms."""


def tune_thread_switches() -> None:
    """Let the writer thread commit while the loop does long work in slices.

    A commit takes the interpreter about ten times, once for each call of SQLite. Between two slices the loop
    gives the interpreter up for a moment and takes it back, before the waiting thread has woken; then the
    waiting time of the thread begins again. With an interval longer than a slice, the thread therefore never
    asks, and a commit takes as long as all slices together.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)


OWN_FILES: Final = 32
"""The database and its log (6), the event loop (6), standard streams, listener, tokens, and a reserve."""

OPEN_FILES_MIN: Final = OWN_FILES + 16
"""The server does not start with a lower limit."""

REFUSED_MAX: Final = 64
"""Connections above the limit that get the response 503 at the same time."""

BURST_MAX: Final = 128
"""Connections that the event loop may accept in one turn, before it handles the first of them."""

BACKLOG: Final = 2048
"""Connections that the system may queue; Linux allows at most 4096 by default."""

_SHARE: Final = 4


class FileBudget(NamedTuple):
    """How many connections may be open, be rejected, and be queued by the system at the same time."""

    connections_max: int
    refused_max: int
    backlog: int


def budget_of(open_files_max: int, wanted: int) -> FileBudget:
    """Return the budget for a limit of `open_files_max`, at least `OPEN_FILES_MIN`.

    `wanted`: the setting `connections_max`.
    """
    spare = open_files_max - OWN_FILES
    refused_max, burst_max = (min(most, spare // _SHARE) for most in (REFUSED_MAX, BURST_MAX))
    room = spare - refused_max - burst_max
    # With many spare files, a queue of the usual length cannot use all of them.
    backlog = BACKLOG if spare >= wanted + refused_max + BACKLOG else burst_max
    return FileBudget(min(wanted, room), refused_max, backlog)


def raise_open_files_max() -> int:
    """Raise the soft limit of open files to the hard limit; return the new soft limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
