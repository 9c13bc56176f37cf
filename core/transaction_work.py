"""Estimates the work of commands before they run, in steps of about a microsecond.

A transaction runs without a pause, so it may take `TRANSACTION_STEPS_MAX` steps; a turn of a pipeline ends at
`TURN_STEPS_MAX`. The estimate is an upper bound from what a command names and from the sizes of its stream
and group. Estimating takes 0.3 us for each command; it keeps every transaction within about 100 ms. This
module never runs a command, and never changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import (
    ACKED_TRIM_LOOKS_MAX,
    COMMAND_STEPS_MAX,
    DEAD_LETTERS_MAX,
    PENDING_LOOKS_MAX,
    READ_ENTRIES_MAX,
    SCAN_COUNT_MAX,
    TRANSACTION_STEPS_MAX,
    XAUTOCLAIM_SCAN_FACTOR,
    XAUTOCLAIM_SCAN_MAX,
)
from tailrace.core.presence import EXPIRED_ENTRIES_MAX

STEPS_PER_COMMAND: Final = 10
STEPS_PER_GROUP_READ: Final = 50
"""One stream of XREADGROUP: the command finds or creates the consumer, and records its activity."""
STEPS_PER_ID: Final = 6
STEPS_PER_KEY: Final = 8
STEPS_PER_DELIVERY: Final = 4  # one entry of XREADGROUP
STEPS_PER_SCANNED: Final = 2  # one pending entry that XAUTOCLAIM examines, without its claim
STEPS_PER_DESCRIPTION: Final = 15
"""One stream, group or consumer in the reply to XINFO STREAM, without its entries."""
STEPS_PER_LOOK: Final = 5
"""One block or entry that a trim with ACKED examines."""
STEPS_PER_PART: Final = 2  # one part that COPY copies
STEPS_PER_MOVE: Final = 10
"""One entry that is moved to a dead-letter stream."""
STEPS_PER_RETURN: Final = 3
"""One entry that a consumer gives back because it expired."""
ENTRIES_PER_STEP: Final = 4  # entries that XRANGE or XREAD reads in one step


def require_bounded(keyspace: Keyspace, commands: Sequence[c.Command]) -> None:
    """Raise LIMIT_EXCEEDED if `commands` together take more steps than a transaction may. O(commands)."""
    work = Work(keyspace)
    for command in commands:
        work.add(command)
        if work.steps > TRANSACTION_STEPS_MAX:
            raise StreamError(
                ErrorCode.LIMIT_EXCEEDED,
                f"ERR too much work for one transaction: {work.steps} steps, {TRANSACTION_STEPS_MAX} are "
                "allowed; use several transactions, or a pipeline",
            )


class Work:
    """The estimated work of some commands. `steps`: an upper bound of the steps of all commands that were
    added."""

    def __init__(self, keyspace: Keyspace) -> None:
        self.steps = 0
        self._keyspace = keyspace

    def add(self, command: c.Command) -> None:
        """Add the steps of `command`: at most `COMMAND_STEPS_MAX`, so one command alone is never too much."""
        estimate = _ESTIMATES.get(type(command))
        steps = STEPS_PER_COMMAND
        if estimate is not None:
            steps += estimate(self._keyspace, command) + _of_moves(self._keyspace, command)
        self.steps += min(steps, COMMAND_STEPS_MAX)


def _smaller(size: int, *bounds: int | None) -> int:
    return max(min([size, *[bound for bound in bounds if bound is not None]]), 0)


def _length(keyspace: Keyspace, key: bytes) -> int:
    stream = keyspace.streams.get(key)
    return 0 if stream is None else stream.length


def _pending_count(keyspace: Keyspace, key: bytes, group: bytes) -> int:
    found = keyspace.group(key, group)
    return 0 if found is None else found.pending.count


# --- what the settings of groups may cause besides -------------------------------------------------------

_DELIVERING: Final = (c.ReadGroup, c.Claim, c.AutoClaim, c.NegativeAcknowledge)


def _of_moves(keyspace: Keyspace, command: c.Command) -> int:
    """Return the work of moving entries to dead-letter streams, and of taking entries from expired consumers.
    O(streams of the command)."""
    if not isinstance(command, _DELIVERING):
        return 0
    steps = 0
    for source in command.streams if isinstance(command, c.ReadGroup) else (command,):
        group = keyspace.group(source.key, command.group)
        settings = None if group is None else group.settings
        if group is None or settings is None:
            continue
        if settings.max_deliveries is not None:
            steps += STEPS_PER_MOVE * min(group.pending.count, DEAD_LETTERS_MAX)
        if settings.consumer_expiry_ms is not None and keyspace.presence.is_behind:
            steps += STEPS_PER_RETURN * min(group.pending.count, EXPIRED_ENTRIES_MAX)
    return steps


# --- entries and ids -------------------------------------------------------------------------------------


def _of_ids(_keyspace: Keyspace, command: Any) -> int:
    return 0 if isinstance(command.ids, c.Malformed) else STEPS_PER_ID * len(command.ids)


def _of_deletion(keyspace: Keyspace, command: c.DeleteEntriesByPolicy | c.AcknowledgeAndDelete) -> int:
    steps = _of_ids(keyspace, command)
    stream = keyspace.streams.get(command.key)
    if stream is None or command.references is c.References.KEEP:
        return steps
    return steps + steps // STEPS_PER_ID * len(stream.groups)


def _of_claim(_keyspace: Keyspace, command: c.Claim) -> int:
    return 0 if isinstance(command.options, c.Malformed) else STEPS_PER_ID * len(command.options.ids)


def _of_auto_claim(keyspace: Keyspace, command: c.AutoClaim) -> int:
    pending = _pending_count(keyspace, command.key, command.group)
    scanned = _smaller(pending, command.count * XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX)
    return STEPS_PER_SCANNED * scanned + STEPS_PER_DELIVERY * min(scanned, command.count)


def _of_trim(keyspace: Keyspace, command: c.TrimStream) -> int:
    if command.trim.references is not c.References.ACKNOWLEDGED:
        return 0
    return STEPS_PER_LOOK * min(_length(keyspace, command.key), ACKED_TRIM_LOOKS_MAX)


# --- reads -----------------------------------------------------------------------------------------------


def _of_range(keyspace: Keyspace, command: c.Range) -> int:
    return _smaller(_length(keyspace, command.key), command.count) // ENTRIES_PER_STEP


def _of_read(keyspace: Keyspace, command: c.Read) -> int:
    limits = command.limits
    entries = sum(_smaller(_length(keyspace, source.key), limits.count) for source in command.streams)
    in_all = _smaller(entries, limits.max_count, READ_ENTRIES_MAX)
    return STEPS_PER_COMMAND * len(command.streams) + in_all // ENTRIES_PER_STEP


def _of_group_read(keyspace: Keyspace, command: c.ReadGroup) -> int:
    limits = command.limits
    entries = 0
    for source in command.streams:
        found = keyspace.group(source.key, command.group)
        if found is not None:
            entries += _smaller(_readable(keyspace, found, command, source), limits.count)
    in_all = _smaller(entries, limits.max_count, READ_ENTRIES_MAX)
    return STEPS_PER_GROUP_READ * len(command.streams) + STEPS_PER_DELIVERY * in_all


def _readable(keyspace: Keyspace, group: Group, command: c.ReadGroup, source: c.ReadFrom) -> int:
    """Return an upper bound of the entries of a stream in the reply, from the stream's current state."""
    if source.after is not c.Special.NEW:
        consumer = group.consumers.get(command.consumer)
        return 0 if consumer is None else consumer.pending_count
    stream = keyspace.streams[source.key]
    new = stream.length if stream.last_id > group.last_delivered_id else group.held_count
    return new + group.pending.count if command.claim_min_idle_ms is not None or group.settings else new


def _of_pending_range(keyspace: Keyspace, command: c.PendingRange) -> int:
    pending = _pending_count(keyspace, command.key, command.group)
    examined = _smaller(pending, 2 * PENDING_LOOKS_MAX) if command.min_idle_ms else 0
    return _smaller(pending, command.count) + examined // ENTRIES_PER_STEP


def _of_info(keyspace: Keyspace, command: c.InfoStream) -> int:
    """Return the work of XINFO STREAM. O(groups)."""
    stream, count = keyspace.streams.get(command.key), command.full_count
    if stream is None or not isinstance(count, int):
        return STEPS_PER_DESCRIPTION
    most = count or stream.entries_added
    steps = STEPS_PER_DESCRIPTION + _smaller(stream.length, most) // ENTRIES_PER_STEP
    for group in stream.groups.values():
        consumers, pending = len(group.consumers), group.pending.count
        described = min(pending, most) + min(pending, most * consumers)
        steps += STEPS_PER_DESCRIPTION * (1 + consumers) + described
    return steps


def _of_groups(keyspace: Keyspace, command: c.InfoGroups) -> int:
    stream = keyspace.streams.get(command.key)
    return 0 if stream is None else 2 * len(stream.groups)


def _of_consumers(keyspace: Keyspace, command: c.InfoConsumers | c.PendingSummary) -> int:
    group = keyspace.group(command.key, command.group)
    return 0 if group is None else len(group.consumers)


# --- keys ------------------------------------------------------------------------------------------------


def _of_keys(_keyspace: Keyspace, command: c.DeleteKeys) -> int:
    return STEPS_PER_KEY * len(command.keys)


def _of_key_count(_keyspace: Keyspace, command: c.CountKeys) -> int:
    return len(command.keys)


def _of_copy(keyspace: Keyspace, command: c.CopyKey) -> int:
    stream = keyspace.streams.get(command.key)
    return 0 if stream is None else STEPS_PER_PART * stream.part_count


def _of_listing(keyspace: Keyspace, command: c.Listing) -> int:
    """Return the work of a listing. For a token with key patterns, the server may examine all keys."""
    return 0 if command.visible is None else len(keyspace.streams)


def _of_match(keyspace: Keyspace, _: c.MatchKeys) -> int:
    return len(keyspace.streams)


def _of_scan(keyspace: Keyspace, command: c.ScanKeys) -> int:
    return _smaller(SCAN_COUNT_MAX, command.count) + _of_listing(keyspace, command)


_ESTIMATES: Final[Mapping[type[c.Command], Callable[[Keyspace, Any], int]]] = {
    c.Acknowledge: _of_ids,
    c.ExtendLeases: _of_ids,
    c.NegativeAcknowledge: _of_ids,
    c.DeleteEntries: _of_ids,
    c.DeleteEntriesByPolicy: _of_deletion,
    c.AcknowledgeAndDelete: _of_deletion,
    c.Claim: _of_claim,
    c.AutoClaim: _of_auto_claim,
    c.TrimStream: _of_trim,
    c.Range: _of_range,
    c.Read: _of_read,
    c.ReadGroup: _of_group_read,
    c.PendingRange: _of_pending_range,
    c.InfoStream: _of_info,
    c.InfoGroups: _of_groups,
    c.InfoConsumers: _of_consumers,
    c.PendingSummary: _of_consumers,
    c.DeleteKeys: _of_keys,
    c.CountKeys: _of_key_count,
    c.CopyKey: _of_copy,
    c.KeyspaceSize: _of_listing,
    c.ListStreams: _of_listing,
    c.MatchKeys: _of_match,
    c.ScanKeys: _of_scan,
}
