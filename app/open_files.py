"""Divides the system's limit of open files between the server's own files and its connections.

    own files | connections being rejected | connections accepted but not yet handled | connections

The server reserves its own files, so connections can never use the descriptors that the store, the listener
and the tokens file need. It owns this division; it never opens a file.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import Final, NamedTuple

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
