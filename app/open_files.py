"""How many connections the system's bound on open files leaves room for. It owns the shares of that bound.

    own files | connections being refused | connections accepted and not looked at yet | connections

The server needs its own files to go on while all other places are taken: so it never accepts so many
connections that the store, the listener or the tokens file find none left.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import Final, NamedTuple

OWN_FILES: Final = 32
"""The data and its log (6), the event loop (6), standard streams, the listener, tokens, and room to spare."""

OPEN_FILES_MIN: Final = OWN_FILES + 16
"""With fewer the server does not start."""

REFUSED_MAX: Final = 64
"""Connections above the limit that are being answered with 503."""

BURST_MAX: Final = 128
"""Connections that the event loop may accept at once before it looks at the first of them."""

BACKLOG: Final = 2048
"""Connections the system may queue for us; more than Linux's default of 4096 would not be granted."""

_SHARE: Final = 4


class FileBudget(NamedTuple):
    """Places for connections: served, being refused, and queued by the system at a time."""

    connections_max: int
    refused_max: int
    backlog: int


def budget_of(open_files_max: int, wanted: int) -> FileBudget:
    """The places that `open_files_max`, at least `OPEN_FILES_MIN`, leaves; `wanted`: the setting."""
    spare = open_files_max - OWN_FILES
    refused_max, burst_max = (min(most, spare // _SHARE) for most in (REFUSED_MAX, BURST_MAX))
    room = spare - refused_max - burst_max
    # Where files are plenty, a queue of the usual length cannot use them up.
    backlog = BACKLOG if spare >= wanted + refused_max + BACKLOG else burst_max
    return FileBudget(min(wanted, room), refused_max, backlog)


def raise_open_files_max() -> int:
    """Have the system allow this process as many open files as it may ask for; how many those are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
