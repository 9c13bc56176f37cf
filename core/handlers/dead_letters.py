"""Dead letters of one group: an entry that would be delivered too often is moved to another stream instead.

All deliveries of pending entries ask this module: CLAIM and history of XREADGROUP, XCLAIM, XAUTOCLAIM, and
XNACK. `redrive` moves letters back to the stream that they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, islice
from typing import Final

from msgspec import UNSET, Struct

from tailrace.core.commands import Redrive
from tailrace.core.effects import DeadLettered, Redriven, StreamCreated
from tailrace.core.errors import printable
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.handlers.append import consecutive_ids
from tailrace.core.handlers.group_settings import invalid_setting
from tailrace.core.handlers.groups import require_group
from tailrace.core.id_keys import are_among, rising
from tailrace.core.limits import DEAD_LETTER_BYTES_MAX, DEAD_LETTERS_MAX
from tailrace.core.log.dead_letter import MAX_DELIVERIES, Origin, dead_letter, entry_of
from tailrace.core.pending.consumer import Consumer
from tailrace.core.replies import NO_ENTRIES, Entries, RedriveReply
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, SEQ_BITS, ZERO_ID, StreamId

LOOK_AHEAD: Final = 100
"""How many pending entries a read examines at once after it found one to move."""


class MoveRoom(Struct, gc=False):
    """How many entries and bytes one command may still move, from all of its groups together."""

    entries_left: int = DEAD_LETTERS_MAX
    left_bytes: int = DEAD_LETTER_BYTES_MAX

    @property
    def is_spent(self) -> bool:
        """Whether the command can move no further entry."""
        return self.entries_left <= 0 or self.left_bytes <= 0


def dead_letters_of(execution: Execution, key: bytes, group: Group, room: MoveRoom) -> DeadLetters | None:
    """Return the moves of one command from one group, None if the group has no dead letters. O(1)."""
    settings = group.settings
    if settings is None or settings.max_deliveries is None or settings.dead_letter_stream in (None, key):
        return None
    letters = DeadLetters(execution, key, group, settings, room)
    return letters if letters.has_ids else None


class DeadLetters:
    """The moves of one command from one group. `most`: how often the group delivers an entry."""

    def __init__(
        self, execution: Execution, key: bytes, group: Group, settings: GroupSettings, room: MoveRoom
    ) -> None:
        assert settings.max_deliveries is not None
        self.most = settings.max_deliveries
        self._execution = execution
        self._key = key
        self._group = group
        self._new_key = settings.dead_letter_stream or b""
        self._room = room

    @property
    def has_ids(self) -> bool:
        """Whether the dead-letter stream has ids for all entries that the command may move. O(1)."""
        now_id = self._execution.now_ms << SEQ_BITS
        return max(self._last_id(), now_id) + DEAD_LETTERS_MAX <= MAX_ID

    def _last_id(self) -> StreamId:
        stream = self._execution.stream(self._new_key)
        return ZERO_ID if stream is None else stream.last_id

    @property
    def is_spent(self) -> bool:
        """Whether the command can move no further entry."""
        return self._room.is_spent

    # --- which entries ---------------------------------------------------------------------------

    def exhausted_among(self, entries: Entries, wanted: int) -> Entries:
        """Return those of `entries`, all live, that may not be delivered once more, up to the deliverable one
        with number `wanted`. `entries` have delivery counts. O(entries)."""
        assert entries.deliveries is not None
        if max(entries.deliveries, default=0) < self.most:
            return NO_ENTRIES
        chosen = _cut_after_deliverable([count >= self.most for count in entries.deliveries], wanted)
        return Entries(list(compress(entries.ids, chosen)), list(compress(entries.fragments, chosen)))

    def deliverable_count(self, entries: Entries) -> int:
        """Return how many of `entries` come before the first one that may not be delivered. O(entries)."""
        assert entries.deliveries is not None
        counts = enumerate(entries.deliveries)
        return next((at for at, count in counts if count >= self.most), len(entries.ids))

    def clear_history(self, consumer: Consumer, start: StreamId, wanted: int) -> StreamId:
        """Move entries of `consumer` from `start` on, until `wanted` deliverable ones come first.

        Returns the id before which all entries can be shown. O(entries examined).
        """
        pending = self._group.pending
        while wanted > 0 and (ids := list(islice(pending.ids_of(consumer, start), LOOK_AHEAD))):
            found = pending.of(ids)
            exhausted = [
                value for value, each in zip(ids, found, strict=True) if each.deliveries >= self.most
            ]
            live = self._execution.keyspace.streams[self._key].log.live_among(exhausted)
            chosen = _cut_after_deliverable(are_among(ids, live), wanted)
            ids = ids[: len(chosen)]
            exhausted = list(compress(ids, chosen))
            moved = self.move(exhausted)
            # The first ones are moved.
            if len(moved) < len(exhausted):
                return exhausted[len(moved)]
            wanted -= len(ids) - len(moved)
            start = ids[-1] + 1
        return MAX_ID + 1

    # --- moving ----------------------------------------------------------------------------------

    def move(
        self,
        ids: Sequence[StreamId],
        fragments: Sequence[bytes | None] | None = None,
        reason: bytes = MAX_DELIVERIES,
    ) -> list[StreamId]:
        """Move the live ones of `ids`, which are distinct and pending, and return them.

        `fragments`: those of `ids`, if the caller has read them. The first ones are moved if not all fit into
        the bounds. O(moved log n + bytes).
        """
        room = self._room
        ids = ids[: room.entries_left]
        if not ids or room.is_spent:
            return []
        if fragments is None:
            fragments = self._execution.keyspace.streams[self._key].log.get_many(ids, room.left_bytes)
        letters: list[bytes] = []
        moved: list[StreamId] = []
        found = self._group.pending.find_all(ids)
        for value, fragment in zip(ids, fragments, strict=False):
            if fragment is None:
                continue
            if room.left_bytes <= 0:
                break
            delivery = found[value]
            owner = b"" if delivery.consumer is None else delivery.consumer.name
            origin = Origin(value, delivery.deliveries, owner, reason)
            letters.append(dead_letter(fragment, self._key, self._group.name, origin))
            moved.append(value)
            room.left_bytes -= len(fragment)
        if moved:
            room.entries_left -= len(moved)
            self._record(moved, letters)
        return moved

    def _record(self, ids: list[StreamId], letters: list[bytes]) -> None:
        execution, new_key = self._execution, self._new_key
        if execution.stream(new_key) is None:
            execution.do(StreamCreated(new_key))
        new_ids = consecutive_ids(self._last_id(), execution.now_ms, len(ids))
        execution.do(DeadLettered(self._key, self._group.name, ids, new_key, new_ids, letters))
        execution.wake(new_key)


def _cut_after_deliverable(exhausted: list[bool], wanted: int) -> list[bool]:
    """Return the flags up to the entry number `wanted` that is not exhausted. O(entries)."""
    deliverable = (at for at, is_exhausted in enumerate(exhausted) if not is_exhausted)
    last = next(islice(deliverable, wanted - 1, None), len(exhausted))
    return exhausted[: last + 1]


def redrive(execution: Execution, command: Redrive) -> RedriveReply:
    """Append dead letters of the group to its stream again, with their own fields, and delete them. O(limit).

    One effect is the whole move, so a repeated call sends none twice. Raises NO_SUCH_STREAM, NOGROUP,
    INVALID_ARGUMENT if the group has no dead-letter stream, or another than the command names, and
    ID_EXHAUSTED.
    """
    source = _dead_letter_stream(execution, command)
    stream = execution.stream(source)
    if stream is None:
        return RedriveReply((), (), skipped=0 if command.ids is None else len(rising(command.ids)))
    examined, fragments, following = _examined(stream, command)
    ids: list[StreamId] = []
    entries: list[bytes] = []
    for value, fragment in zip(examined, fragments, strict=True):
        entry = None if fragment is None else entry_of(fragment, command.key, command.group)
        if entry is not None:
            ids.append(value)
            entries.append(entry)
    new_ids: Sequence[StreamId] = ()
    if ids:
        last_id = execution.keyspace.streams[command.key].last_id
        new_ids = consecutive_ids(last_id, execution.now_ms, len(ids))
        execution.do(Redriven(source, ids, command.key, new_ids, entries))
        execution.wake(command.key)
    return RedriveReply(ids, new_ids, len(examined) - len(ids), following)


def _dead_letter_stream(execution: Execution, command: Redrive) -> bytes:
    settings = require_group(execution, command.key, command.group).settings or NO_SETTINGS
    if command.dead_letter_stream not in {UNSET, settings.dead_letter_stream}:
        raise invalid_setting("the dead_letter_stream of the group has just changed; send the request again")
    if settings.dead_letter_stream is None:
        raise invalid_setting(
            f"the group '{printable(command.group)}' has no dead_letter_stream; configure the group first"
        )
    if settings.dead_letter_stream == command.key:
        raise invalid_setting("the dead_letter_stream is the group's own stream; configure another one")
    return settings.dead_letter_stream


def _examined(
    stream: Stream, command: Redrive
) -> tuple[Sequence[StreamId], Sequence[bytes | None], StreamId | None]:
    """Return ids and fragments of the dead letters to examine, and the id at which the next call begins."""
    limit = min(command.limit, DEAD_LETTERS_MAX)
    fragments: Sequence[bytes | None]
    if command.ids is None:
        ids, fragments = stream.log.range(command.start, count=limit, max_bytes=DEAD_LETTER_BYTES_MAX)
        rest, _ = stream.log.range(ids[-1] + 1, count=1) if ids else ((), ())
        return ids, fragments, rest[0] if rest else None
    wanted = rising(command.ids)
    fragments = stream.log.get_many(wanted[:limit], DEAD_LETTER_BYTES_MAX)
    done = len(fragments)
    return wanted[:done], fragments, wanted[done] if done < len(wanted) else None
