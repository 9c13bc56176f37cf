"""What the settings of groups may make a command do besides, seen before it runs: it moves entries to
dead-letter streams, and takes entries from expired consumers.

Only a group with settings can cause any. This module never runs a command, and never changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tailrace.core import commands as c
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import DEAD_LETTERS_MAX
from tailrace.core.presence import EXPIRED_ENTRIES_MAX

STEPS_PER_MOVE: Final = 10
"""One entry that is moved, in the steps of `core.transaction_work`."""

STEPS_PER_RETURN: Final = 3
"""One entry that a consumer gives back because it expired."""

_DELIVERING: Final = (c.ReadGroup, c.Claim, c.AutoClaim, c.NegativeAcknowledge)


def dead_letter_streams(keyspace: Keyspace, command: c.Command) -> set[bytes]:
    """Return the streams to which the command may move entries. A rename or a copy gives the groups another
    stream, under which later commands may move theirs. O(streams of the command), O(groups) for a rename."""
    settings = [group.settings for group in _groups(keyspace, command) if group.settings is not None]
    return {each.dead_letter_stream for each in settings if each.dead_letter_stream is not None}


def steps_of_moves(keyspace: Keyspace, command: c.Command) -> int:
    """Return an upper bound of the steps that the moves of the command take."""
    if not isinstance(command, _DELIVERING):
        return 0
    steps = 0
    for group in _groups(keyspace, command):
        settings = group.settings
        if settings is not None and settings.max_deliveries is not None:
            steps += STEPS_PER_MOVE * min(group.pending.count, DEAD_LETTERS_MAX)
        if settings is not None and settings.consumer_expiry_ms is not None and keyspace.presence.is_behind:
            steps += STEPS_PER_RETURN * min(group.pending.count, EXPIRED_ENTRIES_MAX)
    return steps


def _groups(keyspace: Keyspace, command: c.Command) -> Iterator[Group]:
    if isinstance(command, c.RenameKey | c.CopyKey):
        stream = keyspace.streams.get(command.key)
        yield from () if stream is None else stream.groups.values()
    elif isinstance(command, _DELIVERING):
        sources = command.streams if isinstance(command, c.ReadGroup) else (command,)
        found = (keyspace.group(source.key, command.group) for source in sources)
        yield from filter(None, found)
