"""Makes the groups of the target equal to those of the source: the commands for it, as a difference.

Repeating them is harmless. It reads nothing itself and never touches entries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tailrace.app.cli.migrate.facts import GroupFacts
from tailrace.app.cli.migrate.pending import Delivery, Pending
from tailrace.app.cli.migrate.port import Words
from tailrace.core.stream_id import StreamId, format_id

UNOWNED: Final = b"tailrace-unowned"
"""The consumer of entries without an owner, if the target cannot hold such entries."""

IDS_PER_COMMAND: Final = 1_000
WORDS_PER_REQUEST: Final = 10_000
COMMANDS_PER_REQUEST: Final = 1_000


def with_owners(pending: Pending, *, unowned: bool) -> Pending:
    """Return the list as the target can hold it. `unowned`: it holds entries without an owner."""
    if unowned:
        return pending
    return {
        value: each if each.consumer is not None else Delivery(UNOWNED, 0, each.deliveries)
        for value, each in pending.items()
    }


def changes(
    key: bytes,
    name: bytes,
    wanted: tuple[GroupFacts, Pending],
    present: tuple[GroupFacts, Pending] | None,
) -> Iterator[Words]:
    """Yield the commands that create the group if it is missing, and make consumers and pending entries
    equal.

    Positions are set later, by `position`: claims need the group only.
    """
    group, pending = wanted
    consumers = {*group.consumers, *(each.consumer for each in pending.values() if each.consumer is not None)}
    if present is None:
        yield (b"XGROUP", b"CREATE", key, name, _id(group.last_delivered_id))
    known, placed = (set(present[0].consumers), present[1]) if present else (set(), {})
    for consumer in sorted(consumers - known):
        yield (b"XGROUP", b"CREATECONSUMER", key, name, consumer)
    yield from _deliveries(key, name, pending, placed)
    for ids in _slices([value for value in placed if value not in pending]):
        yield (b"XACK", key, name, *map(_id, ids))
    for consumer in sorted(known - consumers):
        yield (b"XGROUP", b"DELCONSUMER", key, name, consumer)


def position(key: bytes, name: bytes, group: GroupFacts) -> Words:
    """Return the command that sets last delivered id and entries read."""
    read = -1 if group.entries_read is None else group.entries_read
    return (b"XGROUP", b"SETID", key, name, _id(group.last_delivered_id), b"ENTRIESREAD", b"%d" % read)


def _deliveries(key: bytes, name: bytes, pending: Pending, placed: Pending) -> Iterator[Words]:
    alike: defaultdict[Delivery, list[StreamId]] = defaultdict(list)
    for value, delivery in pending.items():
        if placed.get(value) != delivery:
            alike[delivery].append(value)
    for delivery, all_ids in alike.items():
        for ids in _slices(all_ids):
            yield _delivered(key, name, delivery, [_id(value) for value in ids])


def _delivered(key: bytes, name: bytes, delivery: Delivery, ids: list[bytes]) -> Words:
    count = b"%d" % delivery.deliveries
    if delivery.consumer is None:
        numbered = (b"IDS", b"%d" % len(ids), *ids)
        return (b"XNACK", key, name, b"SILENT", *numbered, b"RETRYCOUNT", count, b"FORCE")
    at = (b"TIME", b"%d" % delivery.delivered_at_ms, b"RETRYCOUNT", count)
    return (b"XCLAIM", key, name, delivery.consumer, b"0", *ids, *at, b"FORCE", b"JUSTID")


def requests(commands: Iterable[Words]) -> Iterator[list[Words]]:
    """Yield the commands in lists that fit into one request."""
    gathered: list[Words] = []
    words_count = 0
    for words in commands:
        if gathered and (
            len(gathered) >= COMMANDS_PER_REQUEST or words_count + len(words) > WORDS_PER_REQUEST
        ):
            yield gathered
            gathered, words_count = [], 0
        gathered.append(words)
        words_count += len(words)
    if gathered:
        yield gathered


def _slices(ids: Sequence[StreamId]) -> Iterator[Sequence[StreamId]]:
    for start in range(0, len(ids), IDS_PER_COMMAND):
        yield ids[start : start + IDS_PER_COMMAND]


def _id(value: StreamId) -> bytes:
    return format_id(value).encode()
