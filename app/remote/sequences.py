"""The order of commands that run one after another: which of them may be under way at the same time.

The link keeps the order of calls on one way to a node. So most commands are sent without waiting for the
answers to those before. This module finds the commands for which this order is not enough. It sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tailrace.app.remote.jobs import JOBS
from tailrace.app.remote.keys.registry import fields_of
from tailrace.core.command_table import READ_ONLY
from tailrace.core.commands import Command, InfoStream, Range, Read, ReadGroup


def in_order(commands: Sequence[Command], *, are_confirmed: bool) -> Iterator[Sequence[Command]]:
    """Divide commands, which keep their order, into runs. The commands of a run may be under way together;
    the next run begins after the last answer. O(commands).

    `are_confirmed`: whether replicas must confirm the writes. Then writes and reads go different ways to a
    node, and could overtake each other.
    """
    start = 0
    for end in range(1, len(commands) + 1):
        if end == len(commands) or _are_apart(*commands[end - 1 : end + 1], are_confirmed=are_confirmed):
            yield commands[start:end]
            start = end


def _are_apart(first: Command, second: Command, *, are_confirmed: bool) -> bool:
    if _has_steps(first) or _has_steps(second):
        return True
    return are_confirmed and (type(first) in READ_ONLY) != (type(second) in READ_ONLY)


def _has_steps(command: Command) -> bool:
    """Return whether a command can take several calls, one after another."""
    if isinstance(command, Range):
        return command.with_incarnation
    if isinstance(command, Read | ReadGroup | InfoStream):
        return True
    return type(command) in JOBS or bool(fields_of(command))
