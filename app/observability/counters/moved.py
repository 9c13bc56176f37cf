"""What commands moved: entries appended, delivered, acknowledged and so on, told by replies and effects.

Each kind of command has one function that counts it. It never asks why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core import effects as e
from tailrace.core.replies import AppendReply, DeleteResult, RangeReply, ReadReply

MEANINGS: Final = {
    "appends": "Appends that added entries, of one entry or of many.",
    "append_replays": "Appends answered from an idempotency key, which added nothing.",
    "entries_appended": "Entries added.",
    "entries_trimmed": "Entries removed by trimming.",
    "entries_deleted": "Entries removed by id.",
    "reads": "Reads and ranges that were answered, for a group or not.",
    "entries_read": "Entries given to readers that are in no group.",
    "deliveries": "Entries given to consumers of groups, new ones and claimed ones.",
    "claims": "Entries that changed their owner by a claim.",
    "acks": "Entries acknowledged.",
    "nacks": "Entries given back.",
}
"""Each is a counter, and an attribute of `Moved`."""


class Moved:
    """How much since the start: see `MEANINGS`."""

    __slots__ = tuple(MEANINGS)

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

    def __init__(self) -> None:
        for name in MEANINGS:
            setattr(self, name, 0)


def note_effects(moved: Moved, _reply: object, effects: Sequence[e.Effect]) -> None:
    """Count a command whose effects tell all, as those do of several commands together."""
    for effect in effects:
        note = _OF_EFFECT.get(type(effect))
        if note is not None:
            note(moved, effect)


def _appended(moved: Moved, effect: e.EntriesAppended) -> None:
    moved.appends += 1
    moved.entries_appended += len(effect.ids)


def _trimmed(moved: Moved, effect: e.EntriesTrimmed) -> None:
    moved.entries_trimmed += effect.count


def _removed(moved: Moved, effect: e.EntriesRemoved) -> None:
    if effect.tombstone:
        moved.entries_deleted += len(effect.ids)
    else:
        moved.entries_trimmed += len(effect.ids)


def _claimed(moved: Moved, effect: e.Claimed) -> None:
    moved.claims += len(effect.ids)


def _nacked(moved: Moved, effect: e.Nacked) -> None:
    moved.nacks += len(effect.ids)


_OF_EFFECT: Final[dict[type[e.Effect], Callable[[Moved, Any], None]]] = {
    e.EntriesAppended: _appended,
    e.EntriesTrimmed: _trimmed,
    e.EntriesRemoved: _removed,
    e.Claimed: _claimed,
    e.Nacked: _nacked,
}


# --- commands whose reply tells more -----------------------------------------------------------------


def _append(moved: Moved, reply: AppendReply | None, effects: Sequence[e.Effect]) -> None:
    if len(effects) == 1 and reply is not None and not reply.replayed:
        # By far the commonest of all: its one effect is that of the reply.
        moved.appends += 1
        moved.entries_appended += len(reply.ids)
        return
    note_effects(moved, reply, effects)
    moved.append_replays += reply is not None and reply.replayed


def _range(moved: Moved, reply: RangeReply, _effects: object) -> None:
    moved.reads += 1
    moved.entries_read += len(reply.entries.ids)


def _read(moved: Moved, reply: ReadReply, _effects: object) -> None:
    moved.reads += 1
    for read in reply.streams:
        moved.entries_read += len(read.entries.ids)


def _group_read(moved: Moved, reply: ReadReply, effects: Sequence[e.Effect]) -> None:
    note_effects(moved, reply, effects)
    moved.reads += 1
    for read in reply.streams:
        if not read.history:
            moved.deliveries += len(read.entries.ids)
        else:
            # What a consumer is shown anew of its own has the effect of a claim, and is none.
            moved.claims -= sum(fragment is not None for fragment in read.entries.fragments)


def _ack(moved: Moved, reply: int, _effects: object) -> None:
    moved.acks += reply


def _ack_and_delete(moved: Moved, reply: Sequence[DeleteResult], effects: Sequence[e.Effect]) -> None:
    note_effects(moved, reply, effects)
    moved.acks += sum(result is not DeleteResult.NOT_FOUND for result in reply)


Note = Callable[[Moved, Any, Sequence[e.Effect]], None]

NOTES: Final[dict[type[c.Command], Note]] = {
    c.Append: _append,
    c.Range: _range,
    c.Read: _read,
    c.ReadGroup: _group_read,
    c.Acknowledge: _ack,
    c.AcknowledgeAndDelete: _ack_and_delete,
}
"""All others are told by their effects: `note_effects`."""
