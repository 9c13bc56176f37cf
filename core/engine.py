"""The engine: commands in, outcomes out, one after another. It dispatches, and nothing else.

What holds for every command, and where it is kept:

* A function of the commands and the time: no clock, no randomness, no I/O below this line.
* Handlers (`core.handlers`) read the keyspace, check everything, and only then change it, by effects.
* Effects (`core.effects`) are carried out by `core.apply`, the one writer of the keyspace. Replayed in
  order onto an empty keyspace, they give the same keyspace: they are what a journal keeps.
* A command that raises `StreamError` has no effect at all.
* Wake-ups name keys, never readers: who waits is known to `core.waiters`, and looking again is running
  the same command again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import StreamError, kept
from tailrace.core.execution import Execution
from tailrace.core.foresight import require_fitting
from tailrace.core.handlers import (
    acks,
    append,
    claims,
    consumers,
    copying,
    delete,
    group_reads,
    groups,
    info,
    key_lists,
    keys,
    pending_views,
    ranges,
    reads,
    recording,
    trim,
)
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import TURN_REPLY_BYTES_MAX
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply
from tailrace.core.sealing import STEP_BYTES

Handler = Callable[[Execution, Any], Reply]

HANDLERS: Final[dict[type[c.Command], Handler]] = {
    c.Append: append.append,
    c.TrimStream: trim.trim,
    c.DeleteEntries: delete.delete_entries,
    c.DeleteEntriesByPolicy: delete.delete_entries_by_policy,
    c.SetStreamPosition: keys.set_stream_position,
    c.ConfigureStream: keys.configure_stream,
    c.RecordIdempotencyKey: recording.record_idempotency_key,
    c.CreateStream: keys.create_stream,
    c.Range: ranges.read_range,
    c.StreamLength: ranges.stream_length,
    c.SplitRange: ranges.split_range,
    c.SeekRange: ranges.seek_range,
    c.Read: reads.read,
    c.ReadGroup: group_reads.read_group,
    c.CreateGroup: groups.create_group,
    c.SetGroupPosition: groups.set_group_position,
    c.DestroyGroup: groups.destroy_group,
    c.CreateConsumer: consumers.create_consumer,
    c.DeleteConsumer: consumers.delete_consumer,
    c.Acknowledge: acks.ack,
    c.AcknowledgeAndDelete: delete.acknowledge_and_delete,
    c.NegativeAcknowledge: acks.nack,
    c.Claim: claims.claim,
    c.AutoClaim: claims.auto_claim,
    c.PendingSummary: pending_views.pending_summary,
    c.PendingRange: pending_views.pending_range,
    c.InfoStream: info.info_stream,
    c.InfoGroups: info.info_groups,
    c.InfoConsumers: info.info_consumers,
    c.DeleteKeys: keys.delete_keys,
    c.CountKeys: keys.count_keys,
    c.RenameKey: keys.rename_key,
    c.CopyKey: copying.copy_key,
    c.ListStreams: key_lists.list_streams,
    c.KeyspaceSize: key_lists.keyspace_size,
    c.Flush: keys.flush,
    c.GetConfig: keys.get_config,
    c.SetConfig: keys.set_config,
    c.ExpireIdempotencyKeys: keys.expire_idempotency_keys,
    c.MatchKeys: key_lists.match_keys,
    c.ScanKeys: key_lists.scan_keys,
    c.ServerTime: keys.server_time,
    c.ServerInfo: keys.server_info,
}


class Engine:
    """All streams of one server. Not thread-safe: it has one caller, and needs no lock."""

    def __init__(self, keyspace: Keyspace | None = None) -> None:
        self.keyspace = keyspace or Keyspace()

    def execute(self, command: c.Command, now_ms: int) -> Outcome:
        """Carry out one command at the instant `now_ms` (Unix milliseconds).

        Raises `StreamError`, and then nothing was changed. Cost: see the handler.
        """
        self.keyspace.sealing.left_bytes = STEP_BYTES
        run = Execution(self.keyspace, now_ms)
        reply = HANDLERS[type(command)](run, command)
        return Outcome(reply, run.effects, run.wake_ups, run.wait, run.retry)

    def execute_all(
        self, commands: Sequence[c.Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Carry out `commands` at one instant, as MULTI does: a refused one stops none of the others.

        The replies one by one, and an outcome that joins their effects and wake-ups. Reads that would
        block answer at once (rule 25). Raises REPLY_TOO_LARGE where the replies together surely do not fit,
        and then nothing was changed.
        """
        self.keyspace.sealing.left_bytes = STEP_BYTES
        run = Execution(self.keyspace, now_ms)
        require_fitting(run, commands, HANDLERS)
        replies = [_reply(run, command) for command in commands]
        return replies, Outcome(None, run.effects, run.wake_ups)

    def execute_some(
        self, requests: Sequence[Sequence[c.Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Carry out the commands of the first of `requests`, each with its own room, until their replies take
        `TURN_REPLY_BYTES_MAX`, refused ones included: of one request at least. As `execute_all` otherwise."""
        self.keyspace.sealing.left_bytes = STEP_BYTES
        run = Execution(self.keyspace, now_ms)
        replies: list[Reply | StreamError] = []
        reply_bytes = 0
        for commands, room in zip(requests, rooms, strict=True):
            if reply_bytes >= TURN_REPLY_BYTES_MAX:
                break
            run.reply_room = room
            reply_bytes -= room.asked_bytes
            replies += [_reply(run, command) for command in commands]
            reply_bytes += room.asked_bytes
        return replies, Outcome(None, run.effects, run.wake_ups)


def _reply(run: Execution, command: c.Command) -> Reply | StreamError:
    try:
        return HANDLERS[type(command)](run, command)
    except StreamError as error:
        return kept(error)
