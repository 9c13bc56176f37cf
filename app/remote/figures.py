"""Turns a reply of the engine into the outcome that the counters of a store count.

The engine behind a gateway reports no effects, so this module derives the effects from the command and its
reply. The counters count the effects; they are never applied.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core import commands as c
from tailrace.core.effects import (
    Claimed,
    Effect,
    EntriesAppended,
    EntriesRemoved,
    EntriesTrimmed,
    LeasesExtended,
    Nacked,
    Redriven,
)
from tailrace.core.outcome import Outcome
from tailrace.core.replies import (
    AppendReply,
    ClaimReply,
    DeleteResult,
    ExtendReply,
    ReadReply,
    RedriveReply,
    Reply,
)


def outcome_of(command: c.Command, reply: Reply) -> Outcome:
    """Return the outcome of a command with this reply."""
    return Outcome(reply, _effects(command, reply))


def _effects(command: c.Command, reply: Reply) -> Sequence[Effect]:
    if isinstance(command, c.Append) and isinstance(reply, AppendReply):
        return () if reply.replayed else (EntriesAppended(command.key, reply.ids, command.fragments),)
    if isinstance(command, c.Claim | c.AutoClaim) and isinstance(reply, ClaimReply):
        ids = reply.entries.ids
        return (Claimed(command.key, command.group, command.consumer, ids, 0, [1] * len(ids)),)
    if isinstance(command, c.ReadGroup) and isinstance(reply, ReadReply):
        return _claims_of_history(command, reply)
    return _returned(command, reply) or _removals(command, reply)


def _returned(command: c.Command, reply: Reply) -> Sequence[Effect]:
    if isinstance(reply, int) and isinstance(command, c.NegativeAcknowledge):
        return (Nacked(command.key, command.group, [0] * reply, [0] * reply),)
    if isinstance(command, c.ExtendLeases) and isinstance(reply, ExtendReply):
        return (LeasesExtended(command.key, command.group, command.consumer, reply.extended, 0),)
    if isinstance(command, c.Redrive) and isinstance(reply, RedriveReply):
        return (Redriven(b"", reply.ids, command.key, reply.new_ids, ()),)
    return ()


def _claims_of_history(command: c.ReadGroup, reply: ReadReply) -> Sequence[Effect]:
    """A read of the history counts as a claim, and the counters take it out again."""
    effects = []
    for read in reply.streams:
        if read.history:
            live = [each for each in read.entries.fragments if each is not None]
            ids = [0] * len(live)
            effects.append(Claimed(read.key, command.group, command.consumer, ids, 0, ids))
    return effects


def _removals(command: c.Command, reply: Reply) -> Sequence[Effect]:
    if isinstance(command, c.TrimStream) and isinstance(reply, int):
        return (EntriesTrimmed(command.key, reply),)
    if isinstance(command, c.DeleteEntries) and isinstance(reply, int):
        return (EntriesRemoved(command.key, [0] * reply, tombstone=True),)
    if isinstance(command, c.DeleteEntriesByPolicy | c.AcknowledgeAndDelete) and isinstance(reply, list):
        deleted = [0 for each in reply if each is DeleteResult.DELETED]
        return (EntriesRemoved(command.key, deleted, tombstone=True),)
    return ()
