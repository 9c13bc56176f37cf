"""XGROUP CREATE, SETID and DESTROY, and the look-up of groups, whose errors differ by command."""

from __future__ import annotations

from tailrace.core.commands import CreateGroup, DestroyGroup, Malformed, SetGroupPosition, Special
from tailrace.core.effects import GroupCreated, GroupDestroyed, GroupMoved, HeldForgotten, StreamCreated
from tailrace.core.errors import ErrorCode, Missing, StreamError, key_required, no_group, no_key_or_group
from tailrace.core.execution import Execution, parsed_position
from tailrace.core.group import Group
from tailrace.core.outcome import Signal
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId


def require_group(execution: Execution, key: bytes, name: bytes) -> Group:
    """The group, for XGROUP's subcommands. Raises NO_SUCH_STREAM or NOGROUP."""
    stream = execution.stream(key)
    if stream is None:
        raise key_required(key, name)
    group = stream.groups.get(name)
    if group is None:
        raise no_group(key, name)
    return group


def require_key_and_group(execution: Execution, key: bytes, name: bytes) -> Group:
    """The group, for commands on pending entries. Raises NOGROUP for a missing stream and a missing group."""
    group = execution.keyspace.group(key, name)
    if group is None:
        raise no_key_or_group(key, name, missing_for(execution, key))
    return group


def missing_for(execution: Execution, key: bytes) -> Missing:
    """Which of the two is missing if `key` does not have the group: the stream or the group."""
    return "group" if key in execution.keyspace.streams else "stream"


def create_group(execution: Execution, command: CreateGroup) -> None:
    """XGROUP CREATE: create a group, and with `create_stream` the stream if it is missing. O(log n).

    Raises BUSYGROUP if the group exists, NO_SUCH_STREAM if the stream is missing.
    """
    stream = execution.stream(command.key)
    if stream is None and not command.create_stream:
        raise key_required(command.key, command.group)
    position = _position(stream, command.after)
    if stream is not None and command.group in stream.groups:
        raise StreamError(
            ErrorCode.BUSYGROUP,
            "BUSYGROUP Consumer Group name already exists",
            {"key": command.key, "group": command.group},
        )
    if stream is None:
        execution.do(StreamCreated(command.key))
        stream = execution.keyspace.streams[command.key]
    entries_read = _capped(stream, command.entries_read)
    execution.do(GroupCreated(command.key, command.group, position, entries_read))


def set_group_position(execution: Execution, command: SetGroupPosition) -> None:
    """XGROUP SETID: move the group.

    Without ENTRIESREAD the counter of entries read becomes unknown (rule 56). Raises NO_SUCH_STREAM and
    NOGROUP.
    """
    group = require_group(execution, command.key, command.group)
    stream = execution.keyspace.streams[command.key]
    position = _position(stream, command.after)
    entries_read = _capped(stream, command.entries_read)
    execution.do(GroupMoved(command.key, command.group, position, entries_read))
    if group.held_count:
        # Only the entries after the new position are unread now.
        execution.do(HeldForgotten(command.key, command.group))


def destroy_group(execution: Execution, command: DestroyGroup) -> int:
    """XGROUP DESTROY: return 1 if the group existed, else 0 (rule 55). Raises NO_SUCH_STREAM."""
    stream = execution.stream(command.key)
    if stream is None:
        raise key_required(command.key, command.group)
    if command.group not in stream.groups:
        return 0
    execution.do(GroupDestroyed(command.key, command.group))
    execution.wake(command.key, Signal.GONE, command.group)
    return 1


def _position(stream: Stream | None, after: StreamId | Special | Malformed) -> StreamId:
    position = parsed_position(after)
    if not isinstance(position, Special):
        return position
    return ZERO_ID if stream is None else stream.last_id


def _capped(stream: Stream, entries_read: int | None) -> int | None:
    return None if entries_read is None else min(entries_read, stream.entries_added)
