"""The entries that one XCLAIM or XAUTOCLAIM claims for a consumer, and the deleted entries that it drops.

Owns the reads of the pending entries list and of the log, and the effects of the claim. Never decides which
entries are claimed: `core.handlers.claims` and `core.handlers.auto_claim` do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from operator import not_
from typing import Final

from tailrace.core.bounds.pending_work import PendingWork
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.effects import Claimed, ConsumerSeen, PendingRemoved
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.dead_letters import DeadLetters, MoveRoom, dead_letters_of
from tailrace.core.id_keys import ID_BYTES, are_among, id_key, id_keys, ids_of_keys, membership
from tailrace.core.pending.rows import Delivery
from tailrace.core.replies import ClaimReply, Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId

_FEW: Final = 3


class ClaimBatch:
    """Collects the claimed entries of one command and applies them as one effect.

    The keyspace changes in `finish`. If XCLAIM names an id twice, `apply` changes it earlier, because the
    second claim must see the result of the first.

    `group`: the group. `delivery_of`: returns the last delivery of an id, None if it is not pending.
    `is_live`: whether an id is in the log.
    """

    def __init__(
        self,
        execution: Execution,
        key: bytes,
        group: Group,
        consumer: bytes,
        delivered_at_ms: int,
        *,
        just_id: bool,
    ) -> None:
        self.stream: Stream = execution.keyspace.streams[key]
        self.delivery_of: Callable[[StreamId], Delivery | None] = group.pending.get
        self.is_live: Callable[[StreamId], bool] = self.stream.log.__contains__
        self._execution = execution
        self._key = key
        self.group = group
        # What XAUTOCLAIM may still do.
        self.work = PendingWork()
        self._consumer = consumer
        self._delivered_at_ms = delivered_at_ms
        # Fragments, new delivery counts and dropped entries, by the keys of their ids.
        self._fragment_of: dict[bytes, bytes | None] = {}
        self._deliveries_of: dict[bytes, int] = {}
        self._claimed_ids: list[StreamId] = []
        self._dropped: dict[bytes, None] = {}
        self._just_id = just_id
        # A claim of ids only is no delivery, so it moves no entry.
        self._letters = None if just_id else dead_letters_of(execution, key, group, MoveRoom())

    def prefetch(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None] | None = None) -> None:
        """Look all `ids` up at once, so that `delivery_of` and `is_live` then take O(1) for each of them.

        `fragments`: the fragments of all `ids`, if the caller has read them. Up to `_FEW` ids are cheaper to
        look up one by one. O(ids log n).
        """
        few = len(ids) <= _FEW
        self.delivery_of = self.group.pending.get if few else self.group.pending.find_all(ids).get
        if fragments is not None:
            live = [value is not None for value in fragments]
            self.is_live = membership(list(compress(ids, live)))
        elif few:
            self.is_live = self.stream.log.__contains__
        else:
            self.is_live = membership(self.stream.log.live_among(ids))

    def note_fragments(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None]) -> None:
        """Keep the fragments of `ids` for the reply, which has fields. O(ids) in C."""
        self._fragment_of = dict(zip(id_keys(ids), fragments, strict=True))

    def __contains__(self, value: StreamId) -> bool:
        """Whether `value` is claimed in this batch and not yet applied."""
        return value.to_bytes(ID_BYTES) in self._deliveries_of

    def add(self, value: StreamId, deliveries: int) -> None:
        """Claim the entry `value`. `deliveries`: its new delivery count."""
        self._deliveries_of[value.to_bytes(ID_BYTES)] = deliveries
        self._claimed_ids.append(value)

    def add_all(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Claim entries that are not in the batch. `deliveries`: their new delivery counts. O(m) in C."""
        self._deliveries_of.update(zip(id_keys(ids), deliveries, strict=True))
        self._claimed_ids += ids

    def drop_all(self, ids: Sequence[StreamId]) -> None:
        """Remove the deleted entries `ids`, all pending, from the pending entries list. O(m) in C."""
        self._dropped.update(dict.fromkeys(id_keys(ids)))

    def drop_if_pending(self, value: StreamId) -> None:
        """Remove the deleted entry `value` from the pending entries list if it is there."""
        if self.delivery_of(value) is not None:
            self._dropped[id_key(value)] = None

    def apply(self) -> None:
        """Apply the claims so far: `delivery_of` then returns the new deliveries."""
        self._flush()
        self.delivery_of = self.group.pending.get

    def cut_to(self, room: ReplyRoom) -> StreamId | None:
        """Give up the claims that do not fit into the reply. Returns the first id given up, or None.

        Reads the fragments of the reply, unless it has ids only. O(claims log n).
        """
        fragments: list[bytes | None] = [None] * len(self._claimed_ids)
        if not self._just_id:
            fragments = self.stream.log.get_many(self._claimed_ids, room.left_bytes)
            self.note_fragments(self._claimed_ids[: len(fragments)], fragments)
        kept = room.take_fitting(fragments)
        given_up = self._claimed_ids[kept:]
        del self._claimed_ids[kept:]
        for key in id_keys(given_up):
            del self._deliveries_of[key]
        return given_up[0] if given_up else None

    def finish(self, *, cursor: StreamId = ZERO_ID) -> ClaimReply:
        """Apply all claims and drops, and return the reply with both."""
        self._flush()
        dropped = list(ids_of_keys(self._dropped)) if self._dropped else []
        if dropped:
            self._execution.do(PendingRemoved(self._key, self.group.name, dropped))
        if self._claimed_ids:
            name, now_ms = self.group.name, self._execution.now_ms
            self._execution.do(ConsumerSeen(self._key, name, self._consumer, now_ms, active=True))
        fragments = () if self._just_id else self._fragments_of(self._claimed_ids)
        return ClaimReply(Entries(self._claimed_ids, fragments), self._just_id, cursor, dropped)

    def _move_exhausted(self, letters: DeadLetters) -> None:
        """Move the entries whose new delivery count exceeds the maximum, and give up their claims. Entries
        beyond the bounds of `letters` stay as they are. An entry that FORCE makes pending is delivered."""
        exhausted = [
            value
            for value, deliveries in zip(self._unapplied(), self._deliveries_of.values(), strict=True)
            if deliveries > letters.most and self.delivery_of(value) is not None
        ]
        if exhausted:
            letters.move(exhausted, self._fragments_of(exhausted))
            is_given_up = are_among(self._claimed_ids, exhausted)
            self._claimed_ids = list(compress(self._claimed_ids, map(not_, is_given_up)))
            for key in id_keys(exhausted):
                del self._deliveries_of[key]

    def _unapplied(self) -> list[StreamId]:
        """The ids that are claimed and not yet applied, in the order of their counts: the last ones."""
        return self._claimed_ids[len(self._claimed_ids) - len(self._deliveries_of) :]

    def _fragments_of(self, ids: Sequence[StreamId]) -> list[bytes | None]:
        return list(map(self._fragment_of.__getitem__, id_keys(ids)))

    def _flush(self) -> None:
        if self._letters is not None:
            self._move_exhausted(self._letters)
        if self._deliveries_of:
            ids, deliveries = self._unapplied(), list(self._deliveries_of.values())
            name, at_ms = self.group.name, self._delivered_at_ms
            self._execution.do(Claimed(self._key, name, self._consumer, ids, at_ms, deliveries))
            self._deliveries_of.clear()
