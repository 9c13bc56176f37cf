"""The state of a stream and of a group as bytes, for the checkpoint.

A stream's state has everything except its sealed blocks and its groups. It contains how many there are, so
that recovery detects a missing row. A group's state has its pending entries in order of delivery, and at the
end, because older data and most groups lack them, its settings and its order by key. This module never reads
or writes a file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.id_keys import IdTable, OrderedIdTable, are_rising
from tailrace.core.idempotency.epochs import Epoch
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.idempotency.timed_keys import Remembered
from tailrace.core.key_order import KeyOrder
from tailrace.core.log.block import Block
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.rows import HELD_FROM, UNOWNED
from tailrace.core.pending.stored import Stored, restore, stored
from tailrace.core.retention import Retention, RetentionRules
from tailrace.core.schedule import Schedule
from tailrace.core.storage.ids import id_bytes, id_of, ids_bytes, ids_of
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def settings_row(group: Group) -> list[Any]:
    """Return the settings, the number of dead letters, and the order by key if there is one; nothing for a
    group that never had any, so that its state is that of earlier releases. O(parts of the order)."""
    if group.settings is None and not group.dead_letter_count and group.order is None:
        return []
    row = [group.settings or NO_SETTINGS, group.dead_letter_count]
    return row if group.order is None else [*row, _order_row(group.order)]


def restore_settings(group: Group, row: Sequence[Any]) -> None:
    """Set what `settings_row` returned."""
    if row:
        settings = msgspec.convert(row[0], GroupSettings)
        group.settings = None if settings.is_empty else settings
        group.dead_letter_count = row[1]
        group.order = _order_of(row[2]) if len(row) > 2 else None  # noqa: PLR2004 - the third value


def _order_row(order: KeyOrder) -> list[Any]:
    in_flight = [ids_bytes(list(order.key_of)), list(order.key_of.values())]
    held = [ids_bytes(list(order.held)), list(order.held.values())]
    return [order.field, *in_flight, *held, ids_bytes(list(order.ready))]


def _order_of(row: Sequence[Any]) -> KeyOrder:
    field, in_flight, keys, held, held_keys, ready = row
    key_of = IdTable.of(ids_of(in_flight), keys)
    held_of = OrderedIdTable.of(ids_of(held), held_keys)
    return KeyOrder.restored(field, key_of, held_of, ids_of(ready))


def retention_row(retention: Retention | None) -> list[Any] | None:
    """Return the rules, the numbers of removed entries by reason, and the time of the last removal."""
    if retention is None:
        return None
    return [retention.rules, retention.removed, retention.removed_at_ms]


def retention_of(row: list[Any] | None) -> Retention | None:
    """Return the retention: the inverse of `retention_row`."""
    if row is None:
        return None
    rules, removed, removed_at_ms = row
    retention = Retention(msgspec.convert(rules, RetentionRules))
    retention.removed.update(removed)
    retention.removed_at_ms = removed_at_ms
    return retention


def schedule_row(schedule: Schedule | None) -> list[Any] | None:
    """Return ids, fragments and the greatest number. O(scheduled entries)."""
    if schedule is None:
        return None
    return [ids_bytes(list(schedule.ids())), list(schedule.entries.values()), schedule.last_number]


def schedule_of(row: list[Any] | None) -> Schedule | None:
    """Return the schedule: the inverse of `schedule_row`."""
    if row is None:
        return None
    ids, fragments, last_number = row
    schedule = Schedule()
    if fragments:
        schedule.add(ids_of(ids), fragments)
    schedule.last_number = last_number
    return schedule


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.decode

_UNOWNED: Final = -1
"""The owner's number of entries without an owner."""

_RUN: Final = False
_SINGLE: Final = True
_BUNCH: Final = 2
"""Kinds of pending entries in a group's state: with rising ids and one count, one entry, and all others. The
first two are booleans for data of earlier releases."""


# --- a stream --------------------------------------------------------------------------------------


class StreamState(msgspec.Struct, frozen=True, array_like=True):
    """A stream without its sealed blocks and groups. Ids are as `core.storage.ids` writes them."""

    key: bytes
    """The stream's key."""
    last_id: bytes
    """As `Stream.last_id`."""
    max_deleted_id: bytes
    """As `Stream.max_deleted_id`."""
    max_trimmed_id: bytes
    """As `Stream.max_trimmed_id`."""
    entries_added: int
    """As `Stream.entries_added`."""
    length: int
    """The number of live entries, in sealed blocks and in the open one."""
    block_count: int
    """The number of sealed blocks: recovery must find as many."""
    group_count: int
    """The number of groups: recovery must find as many."""
    tail: list[Any] | None
    """The open block (see `_tail_row`); None if the last block is sealed."""
    idempotency: list[Any]
    """The idempotency keys (see `_memory_row`)."""
    retention: list[Any] | None = None
    """As `retention_row` writes it."""
    schedule: list[Any] | None = None
    """As `schedule_row` writes it."""


def encode_stream(key: bytes, stream: Stream) -> bytes:
    """Return the state of `stream` as bytes. O(entries of the open block + idempotency keys)."""
    tail = stream.log.blocks[-1] if stream.log.blocks and stream.log.blocks[-1].is_open else None
    return _encode(
        StreamState(
            key,
            id_bytes(stream.last_id),
            id_bytes(stream.max_deleted_id),
            id_bytes(stream.max_trimmed_id),
            stream.entries_added,
            stream.length,
            len(stream.log.blocks) - (tail is not None),
            len(stream.groups),
            None if tail is None else _tail_row(tail),
            _memory_row(stream.idempotency),
            retention_row(stream.retention),
            schedule_row(stream.schedule),
        )
    )


def decode_stream(raw: bytes) -> StreamState:
    """Return the stream's state: the inverse of `encode_stream`."""
    return _decode(raw, type=StreamState)


def restore_stream(stream: Stream, state: StreamState, sealed_blocks: list[Block]) -> None:
    """Set the state and the blocks of the new stream `stream`. O(blocks)."""
    blocks = sealed_blocks if state.tail is None else [*sealed_blocks, _tail_of(state.tail)]
    stream.log.restore(blocks)
    stream.last_id = id_of(state.last_id)
    stream.max_deleted_id = id_of(state.max_deleted_id)
    stream.max_trimmed_id = id_of(state.max_trimmed_id)
    stream.entries_added = state.entries_added
    stream.retention = retention_of(state.retention)
    stream.schedule = schedule_of(state.schedule)


def _tail_row(block: Block) -> list[Any]:
    decoded = block.decode()
    sizes = [block.size_bytes, block.skeleton_bytes]
    return [ids_bytes(decoded.ids), list(decoded.fragments), _holes_bytes(block.holes), *sizes]


def _tail_of(row: list[Any]) -> Block:
    ids, fragments, holes, size_bytes, skeleton_bytes = row
    return Block.filled(list(ids_of(ids)), fragments, size_bytes, skeleton_bytes, holes=_holes_of(holes))


def _holes_bytes(holes: int) -> bytes:
    return holes.to_bytes((holes.bit_length() + 7) // 8, "big")


def _holes_of(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def encode_head(block: Block) -> bytes:
    """Return last id, count, holes and bytes of a sealed block. Its first id is in a column of the row."""
    return _encode([id_bytes(block.last_id), block.count, _holes_bytes(block.holes), block.fragment_bytes])


def decode_head(raw: bytes) -> tuple[int, int, int, int]:
    """Return the four: the inverse of `encode_head`. Data of earlier releases has no bytes, 0 here."""
    last_id, count, holes, *more = _decode(raw)
    return id_of(last_id), count, _holes_of(holes), more[0] if more else 0


# --- idempotency -----------------------------------------------------------------------------------


def _memory_row(memory: IdempotencyMemory) -> list[Any]:
    """Return settings, counters, and one row per producer and kind of key: name, keys without epoch, epochs.

    Rows are in order of last use, those without an epoch first. Earlier releases wrote one for both kinds."""
    timed = [[name, _keys_rows(keys), []] for name, keys in memory.timed.producers.items()]
    epochs = [
        [name, [], [[each.number, each.layout, _keys_rows(each.keys)] for each in epochs]]
        for name, epochs in memory.epochs.producers.items()
    ]
    return [memory.duration_s, memory.maxsize, memory.keys_added, memory.duplicates, timed + epochs]


def _keys_rows(keys: dict[bytes, Remembered]) -> list[list[Any]]:
    return [[key, ids_bytes(made.ids), made.fingerprint] for key, made in keys.items()]


def restore_memory(row: list[Any]) -> IdempotencyMemory:
    """Return the idempotency keys of a stream's state: the inverse of `_memory_row`."""
    duration_s, maxsize, keys_added, duplicates, producers = row
    memory = IdempotencyMemory(duration_s, maxsize)
    memory.keys_added, memory.duplicates = keys_added, duplicates
    for name, keys, epochs in producers:
        known = [Epoch(number, layout, _keys_of(rows)) for number, layout, rows in epochs]
        memory.restore(name, _keys_of(keys), known)
    return memory


def _keys_of(rows: list[list[Any]]) -> OrderedDict[bytes, Remembered]:
    return OrderedDict((key, Remembered(ids_of(ids), fingerprint)) for key, ids, fingerprint in rows)


# --- a group ---------------------------------------------------------------------------------------


def encode_group(group: Group) -> bytes:
    """Return the state of `group` as bytes. O(pending entries), O(n log n) of those in no run."""
    numbers = {id(consumer): number for number, consumer in enumerate(group.consumers.values())}
    consumers = [[c.name, c.seen_at_ms, c.active_at_ms] for c in group.consumers.values()]
    pending = [_stored_row(*each, numbers) for each in stored(group.pending)]
    position = [id_bytes(group.last_delivered_id), group.entries_read]
    return _encode([group.name, *position, consumers, group.pending.count, pending, *settings_row(group)])


def _stored_row(
    ids: Sequence[StreamId],
    consumer: Consumer | None,
    at_ms: int,
    counts: int | Sequence[int],
    numbers: dict[int, int],
) -> list[Any]:
    owner = _UNOWNED if consumer is None else numbers[id(consumer)]
    if consumer is None:
        at_ms = 0 if at_ms == UNOWNED else at_ms - HELD_FROM
    if isinstance(counts, int) and len(ids) == 1:
        return [_SINGLE, id_bytes(ids[0]), owner, at_ms, counts]
    if isinstance(counts, int) and consumer is not None and are_rising(ids):
        return [_RUN, ids_bytes(pack_ids(ids)), owner, at_ms, counts]
    return [_BUNCH, ids_bytes(ids), owner, at_ms, [counts] * len(ids) if isinstance(counts, int) else counts]


def decode_group(raw: bytes) -> Group:
    """Return the group with its consumers and pending entries: the inverse of `encode_group`."""
    name, last_delivered_id, entries_read, consumers, count, pending, *settings = _decode(raw)
    group = Group(name, id_of(last_delivered_id), entries_read)
    restore_settings(group, settings)
    for consumer_name, seen_at_ms, active_at_ms in consumers:
        consumer = group.consumers[consumer_name] = Consumer(consumer_name, seen_at_ms)
        consumer.active_at_ms = active_at_ms
    owners = list(group.consumers.values())
    restore(group.pending, (_stored_of(row, owners) for row in pending))
    assert group.pending.count == count, "the row's entries differ from its number of pending entries"
    return group


def _stored_of(row: list[Any], owners: list[Consumer]) -> Stored:
    kind, ids, owner, at_ms, counts = row
    consumer = None if owner == _UNOWNED else owners[owner]
    if consumer is None:
        at_ms = HELD_FROM + at_ms if at_ms else UNOWNED
    return (id_of(ids),) if kind == _SINGLE else ids_of(ids), consumer, at_ms, counts
