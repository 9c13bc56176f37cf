"""Predicts whether the replies of a transaction fit, before the transaction changes anything.

This module first runs the reads whose reply must be complete, on the current streams, and adds what the
transaction itself appends before each read; those ids are known, because a transaction runs at one instant.
It does not predict reads of a stream that the transaction trims, deletes from, renames, copies to or appends
to with a condition. If the reply to such a read does not fit, that read alone is refused. Reads that can be
cut are cut. So a transaction is refused only if its replies are certain not to fit.

If the transaction does not change the stream before a read, the reply is kept, and the read is not run again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.possible_moves import dead_letter_streams
from tailrace.core.stream_id import SEQ_BITS, ZERO_ID, StreamId

Handlers: TypeAlias = Mapping[type[c.Command], Callable[[Execution, Any], Any]]

_EXACT: Final = (
    c.Range,
    c.InfoStream,
    c.InfoGroups,
    c.InfoConsumers,
    c.PendingSummary,
    c.PendingRange,
    c.MatchKeys,
    c.ListStreams,
)
"""Reads whose reply is never cut."""

_OF_GROUPS: Final = (c.InfoGroups, c.InfoConsumers, c.PendingSummary, c.PendingRange)

_REMOVING: Final = (
    c.TrimStream,
    c.DeleteEntries,
    c.DeleteEntriesByPolicy,
    c.AcknowledgeAndDelete,
    c.SetStreamPosition,
    c.DeleteKeys,
    c.RenameKey,
    c.CopyKey,
    c.Flush,
)
"""Commands after which the entries and the next id of their stream are not known in advance."""


class KeptReply(NamedTuple):
    """The reply to a read, which the transaction cannot change, and the room that the reply takes."""

    reply: Any
    size_bytes: int


def foreseen_replies(
    execution: Execution, commands: Sequence[c.Command], handlers: Handlers
) -> dict[int, KeptReply]:
    """Return the replies that are known before the transaction, by the index of their command.

    Raises REPLY_TOO_LARGE if the replies of `commands` together are certain not to fit. Changes nothing.
    Costs as much as the exact reads among the commands.
    """
    kept: dict[int, KeptReply] = {}
    if any(isinstance(command, _EXACT) for command in commands):
        foreseen = _Foreseen(execution, handlers)
        for number, command in enumerate(commands):
            reply = foreseen.look_at(command)
            if reply is not None:
                kept[number] = reply
    return kept


class _Foreseen:
    """The predicted state of the streams before each command of a transaction. `_appended`: ids and fragments
    that the transaction appends, by key. `_unknown`: keys whose entries cannot be predicted. `_changed`: keys
    whose groups the transaction changes."""

    def __init__(self, execution: Execution, handlers: Handlers) -> None:
        self._execution = Execution(execution.keyspace, execution.now_ms, reply_room=ReplyRoom())
        self._handlers = handlers
        self._appended: defaultdict[bytes, list[tuple[StreamId, bytes]]] = defaultdict(list)
        self._unknown: set[bytes] = set()
        self._changed: set[bytes] = set()
        self._all_unknown = False

    def look_at(self, command: c.Command) -> KeptReply | None:
        """Charge the reply of an exact read, or record what another command changes. Return the reply of a
        read that the transaction cannot change."""
        self._unknown |= dead_letter_streams(self._execution.keyspace, command)
        if isinstance(command, _EXACT):
            if self._is_untouched(command):
                return self._keep(command)
            if not self._is_unknown(command):
                self._charge(command)
        elif isinstance(command, c.Append):
            self._append(command)
        elif isinstance(command, _REMOVING):
            self._forget(command)
        elif isinstance(command, c.ReadGroup):
            self._changed.update(source.key for source in command.streams)
        else:
            self._changed.add(getattr(command, "key", b""))
        return None

    def _is_untouched(self, command: c.Command) -> bool:
        """Return whether the command reads one stream that no earlier command of the transaction uses."""
        key = getattr(command, "key", None)
        touched = key in self._appended or key in self._changed or key in self._unknown
        return key is not None and not touched and not self._all_unknown

    def _keep(self, command: c.Command) -> KeptReply | None:
        room = self._execution.room()
        before_bytes = room.left_bytes
        reply = self._carry_out(command)
        return None if reply is None else KeptReply(reply, before_bytes - room.left_bytes)

    def _forget(self, command: Any) -> None:
        if isinstance(command, c.Flush):
            self._all_unknown = True
        elif isinstance(command, c.RenameKey):
            self._unknown.update((command.key, command.new_key))
        elif isinstance(command, c.CopyKey):
            self._unknown.add(command.new_key)
        elif isinstance(command, c.DeleteKeys):
            self._unknown.update(command.keys)
        else:
            self._unknown.add(command.key)

    def _is_unknown(self, command: c.Command) -> bool:
        key = getattr(command, "key", b"")
        changed = isinstance(command, _OF_GROUPS) and key in self._changed
        return self._all_unknown or changed or key in self._unknown

    # --- appends ---------------------------------------------------------------------------------

    def _append(self, command: c.Append) -> None:
        key = command.key
        if command.trim or command.idempotency or command.if_last_id is not None or not command.create:
            self._unknown.add(key)
            return
        appended = self._appended[key]
        stream = self._execution.stream(key)
        last_id = appended[-1][0] if appended else ZERO_ID if stream is None else stream.last_id
        new: list[tuple[StreamId, bytes]] = []
        for number, fragment in enumerate(command.fragments):
            request = None if command.ids is None else command.ids[number]
            last_id, before = self._next_id(request, last_id), last_id
            if last_id <= before:
                return
            new.append((last_id, fragment))
        appended += new

    def _next_id(self, request: c.IdRequest, last_id: StreamId) -> StreamId:
        if isinstance(request, int):
            return request
        ms = self._execution.now_ms if request is None else request.ms
        if request is None or ms == last_id >> SEQ_BITS:
            return max(ms << SEQ_BITS, last_id + 1)
        return ms << SEQ_BITS

    # --- reads -----------------------------------------------------------------------------------

    def _charge(self, command: Any) -> None:
        if isinstance(command, c.Range):
            self._charge_range(command)
        elif isinstance(command, c.InfoStream) and self._appended.get(command.key):
            self._charge_info(command)
        else:
            self._carry_out(command)

    def _charge_info(self, command: c.InfoStream) -> None:
        key, full_count = command.key, command.full_count
        self._charge_range(c.Range(key, count=1))
        self._charge_range(c.Range(key, count=1, reverse=True))
        if isinstance(full_count, int):
            self._charge_range(c.Range(key, count=full_count or None))

    def _charge_range(self, command: c.Range) -> None:
        """Charge the stored entries, followed by those that the transaction appends (in reverse order:
        preceded by them)."""
        own = [
            fragment
            for value, fragment in self._appended.get(command.key, ())
            if command.start <= value <= command.end
        ]
        if command.reverse:
            own.reverse()
            own = own[: command.count]
            self._execution.room().charge_entries(own)
            left = None if command.count is None else command.count - len(own)
            self._carry_out(replace(command, count=left))
        else:
            reply = self._carry_out(command)
            standing = 0 if reply is None else len(reply.entries)
            most = None if command.count is None else command.count - standing
            self._execution.room().charge_entries(own[:most])

    def _carry_out(self, command: c.Command) -> Any:
        """Return the reply of a read; None if the read is refused, which takes no room."""
        try:
            return self._handlers[type(command)](self._execution, command)
        except StreamError as error:
            if error.code is ErrorCode.REPLY_TOO_LARGE:
                raise
            return None
