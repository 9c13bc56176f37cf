"""Counts the entries that commands append, deliver, acknowledge and so on, from replies and effects.

Each kind of command has one counting function. The module never changes a reply or an effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core import effects as e
from tailrace.core.replies import AppendReply, DeleteResult, ExpiryReply, RangeReply, ReadReply

MEANINGS: Final = {
    "appends": "Appends that added entries, of one entry or of many.",
    "append_replays": "Repeated appends with a known idempotency key; they added no entries.",
    "entries_appended": "Entries added.",
    "entries_trimmed": "Entries removed by trimming.",
    "entries_deleted": "Entries removed by id.",
    "reads": "Finished reads and ranges, with or without a group.",
    "entries_read": "Entries returned to reads and ranges without a group.",
    "deliveries": "New and claimed entries delivered to consumers of groups.",
    "claims": "Entries whose owner changed by a claim.",
    "acks": "Entries acknowledged.",
    "nacks": "Entries released by negative acknowledgment.",
    "dead_letters": "Entries moved to dead-letter streams.",
    "redriven": "Dead letters sent back to their streams.",
    "leases_extended": "Entries whose idle time their consumer began again.",
    "entries_scheduled": "Entries stored to be appended later.",
    "scheduled_published": "Scheduled entries appended when their time came.",
    "scheduled_cancelled": "Scheduled entries cancelled before their time.",
    "retries_delayed": "Entries released by negative acknowledgment that can be claimed later.",
    "consumers_expired": "Consumers deleted because they were not seen for too long.",
}
"""The help text of each counter; the names are attributes of `StreamCounters`."""

RETIRED: Final = "Entries removed by the retention of their streams, by the rule that removed the most then."
"""The help text of `StreamCounters.retired`."""

_RULES: Final = ("max_age_ms", "max_length", "max_bytes", "acknowledged")
"""The rules that are shown before they remove an entry."""


class StreamCounters:
    """The counts since the start; `MEANINGS` and `RETIRED` describe them. `retired`: by reason."""

    __slots__ = (*MEANINGS, "retired")

    appends: int
    append_replays: int
    entries_appended: int
    entries_trimmed: int
    entries_deleted: int
    reads: int
    entries_read: int
    deliveries: int
    claims: int
    acks: int
    nacks: int
    dead_letters: int
    redriven: int
    leases_extended: int
    entries_scheduled: int
    scheduled_published: int
    scheduled_cancelled: int
    retries_delayed: int
    consumers_expired: int

    def __init__(self) -> None:
        for name in MEANINGS:
            setattr(self, name, 0)
        self.retired = Counter(dict.fromkeys(_RULES, 0))


def note_effects(counters: StreamCounters, _reply: object, effects: Sequence[e.Effect]) -> None:
    """Count a command, or several commands that ran together, by effects alone."""
    for effect in effects:
        note = _OF_EFFECT.get(type(effect))
        if note is not None:
            note(counters, effect)


def _appended(counters: StreamCounters, effect: e.EntriesAppended) -> None:
    counters.appends += 1
    counters.entries_appended += len(effect.ids)


def _trimmed(counters: StreamCounters, effect: e.EntriesTrimmed) -> None:
    counters.entries_trimmed += effect.count


def _retired(counters: StreamCounters, effect: e.EntriesRetired) -> None:
    counters.retired[effect.reason] += effect.count


def _removed(counters: StreamCounters, effect: e.EntriesRemoved) -> None:
    if effect.tombstone:
        counters.entries_deleted += len(effect.ids)
    else:
        counters.entries_trimmed += len(effect.ids)


def _claimed(counters: StreamCounters, effect: e.Claimed) -> None:
    counters.claims += len(effect.ids)


def _nacked(counters: StreamCounters, effect: e.Nacked) -> None:
    counters.nacks += len(effect.ids)


def _dead_lettered(counters: StreamCounters, effect: e.DeadLettered) -> None:
    counters.dead_letters += len(effect.ids)
    counters.entries_appended += len(effect.ids)


def _redriven(counters: StreamCounters, effect: e.Redriven) -> None:
    counters.redriven += len(effect.ids)
    counters.entries_appended += len(effect.ids)
    counters.entries_deleted += len(effect.ids)


def _scheduled(counters: StreamCounters, effect: e.EntriesScheduled) -> None:
    counters.entries_scheduled += len(effect.scheduled_ids)


def _published(counters: StreamCounters, effect: e.ScheduledPublished) -> None:
    counters.scheduled_published += len(effect.ids)
    counters.entries_appended += len(effect.ids)


def _cancelled(counters: StreamCounters, effect: e.ScheduledCancelled) -> None:
    counters.scheduled_cancelled += len(effect.scheduled_ids)


def _retries_delayed(counters: StreamCounters, effect: e.RetriesDelayed) -> None:
    counters.nacks += len(effect.ids)
    counters.retries_delayed += len(effect.ids)


def _leases_extended(counters: StreamCounters, effect: e.LeasesExtended) -> None:
    counters.leases_extended += len(effect.ids)


_OF_EFFECT: Final[dict[type[e.Effect], Callable[[StreamCounters, Any], None]]] = {
    e.EntriesAppended: _appended,
    e.EntriesTrimmed: _trimmed,
    e.EntriesRemoved: _removed,
    e.EntriesRetired: _retired,
    e.Claimed: _claimed,
    e.Nacked: _nacked,
    e.DeadLettered: _dead_lettered,
    e.Redriven: _redriven,
    e.LeasesExtended: _leases_extended,
    e.EntriesScheduled: _scheduled,
    e.ScheduledPublished: _published,
    e.ScheduledCancelled: _cancelled,
    e.RetriesDelayed: _retries_delayed,
}


# --- commands that also need their reply -------------------------------------------------------------


def _append(counters: StreamCounters, reply: AppendReply | None, effects: Sequence[e.Effect]) -> None:
    if reply is not None and len(effects) == 1 and not reply.replayed:
        # The most common case: the only effect has the ids of the reply.
        counters.appends += 1
        counters.entries_appended += len(reply.ids)
        return
    note_effects(counters, reply, effects)
    counters.append_replays += reply is not None and reply.replayed


def _range(counters: StreamCounters, reply: RangeReply, _effects: object) -> None:
    counters.reads += 1
    counters.entries_read += len(reply.entries.ids)


def _read(counters: StreamCounters, reply: ReadReply, _effects: object) -> None:
    counters.reads += 1
    for read in reply.streams:
        counters.entries_read += len(read.entries.ids)


def _group_read(counters: StreamCounters, reply: ReadReply, effects: Sequence[e.Effect]) -> None:
    note_effects(counters, reply, effects)
    counters.reads += 1
    for read in reply.streams:
        if not read.history:
            counters.deliveries += len(read.entries.ids)
        else:
            # A read of a consumer's own pending entries has the effect of a claim but is not a claim.
            counters.claims -= sum(fragment is not None for fragment in read.entries.fragments)


def _ack(counters: StreamCounters, reply: int, _effects: object) -> None:
    counters.acks += reply


def _ack_and_delete(
    counters: StreamCounters, reply: Sequence[DeleteResult], effects: Sequence[e.Effect]
) -> None:
    note_effects(counters, reply, effects)
    counters.acks += sum(result is not DeleteResult.NOT_FOUND for result in reply)


def _expiry(counters: StreamCounters, reply: ExpiryReply, effects: Sequence[e.Effect]) -> None:
    note_effects(counters, reply, effects)
    counters.consumers_expired += reply.consumers


Note = Callable[[StreamCounters, Any, Sequence[e.Effect]], None]

NOTES: Final[dict[type[c.Command], Note]] = {
    c.Append: _append,
    c.Range: _range,
    c.Read: _read,
    c.ReadGroup: _group_read,
    c.Acknowledge: _ack,
    c.AcknowledgeAndDelete: _ack_and_delete,
    c.ExpireConsumers: _expiry,
}
"""The counting functions that need the reply. All other commands use `note_effects`."""
