"""Groups with their pending entries: read completely, and the commands that make the target's groups equal.

XPENDING returns idle times, which depend on the server's clock at that instant. Each page is therefore read
together with the idle time of one entry, the anchor, whose absolute time XINFO STREAM FULL tells. A page
counts only if the anchor has the same idle time before and after it: then all its times are exact to the
millisecond.

The commands are a difference, and repeating them is harmless. They never touch entries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

from tailrace.app.cli.migrate.facts import Anchor, GroupFacts, facts_of
from tailrace.app.cli.migrate.port import Place, PlaceDown, Reply, Words, accepted, id_of, items, number
from tailrace.core.stream_id import MAX_ID, StreamId, format_id

# --- pending entries ----------------------------------------------------------------------------


PAGE_MAX: Final = 2_000
PAGE_MIN: Final = 50
"""A page that a millisecond ended twice is halved down to this size."""

TRIES: Final = 200
"""Tries to read one page. Each fails if the clock of the server ticks during the page, or if the anchor
changes."""

_UNOWNED_IDLE_MS: Final = -1


class Delivery(NamedTuple):
    """A pending entry. `consumer` None: it has no owner (XNACK); `delivered_at_ms` is 0 then."""

    consumer: bytes | None
    delivered_at_ms: int
    deliveries: int


Pending: TypeAlias = dict[StreamId, Delivery]
"""The pending entries list of a group, by rising id."""


def pending_of(place: Place, key: bytes, name: bytes, group: GroupFacts) -> Pending:
    """Return the pending entries of the group `name`, whose facts were just read.

    If the group works meanwhile, the result mixes instants.
    """
    found: Pending = {}
    start, anchor = 0, group.anchor
    if not group.pending_count:
        return found
    page_size = PAGE_MAX
    for _ in range(TRIES * (1 + group.pending_count // PAGE_MIN)):
        page = _page(place, key, name, start, page_size, anchor)
        if page is None:
            page_size = max(page_size // 2, PAGE_MIN)
            facts = facts_of(place, key)
            fresh = facts and facts.groups.get(name)
            if not fresh or not fresh.pending_count:
                return found
            anchor = fresh.anchor
            continue
        found.update(page)
        if len(page) < page_size:
            return found
        start = max(page) + 1
        if start > MAX_ID:
            return found
    raise PlaceDown(f"the pending entries of a group of {place.name} change faster than they can be read")


def _page(
    place: Place, key: bytes, name: bytes, start: StreamId, page_size: int, anchor: Anchor | None
) -> Pending | None:
    """Return a page; None if its times are not certain."""
    page: Words = (b"XPENDING", key, name, _id(start), b"+", b"%d" % page_size)
    if anchor is None:
        rows = _rows(accepted(place.run([page], key)[0], page))
        return _deliveries(rows, None)
    at = _id(anchor.id)
    of_anchor: Words = (b"XPENDING", key, name, at, at, b"1")
    replies = place.run([of_anchor, page, of_anchor], key, atomic=True)
    before, rows, after = (_rows(accepted(reply, page)) for reply in replies)
    if not before or before != after or before[0][2] == _UNOWNED_IDLE_MS:
        return None
    return _deliveries(rows, anchor.delivered_at_ms + before[0][2])


_Row: TypeAlias = tuple[StreamId, bytes, int, int]


def _rows(reply: Reply) -> list[_Row]:
    rows = (items(row) for row in items(reply))
    return [
        (id_of(value), cast("bytes", consumer), number(idle_ms), number(count))
        for value, consumer, idle_ms, count in rows
    ]


def _deliveries(rows: list[_Row], now_ms: int | None) -> Pending | None:
    """Return the page at the instant `now_ms`. None: no entry had an owner, but now one has."""
    page: Pending = {}
    for value, consumer, idle_ms, count in rows:
        if idle_ms == _UNOWNED_IDLE_MS:
            page[value] = Delivery(None, 0, count)
        elif now_ms is None:
            return None
        else:
            page[value] = Delivery(consumer, now_ms - idle_ms, count)
    return page


# --- changes ------------------------------------------------------------------------------------


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
    yield from _delivering(key, name, pending, placed)
    for ids in _slices([value for value in placed if value not in pending]):
        yield (b"XACK", key, name, *map(_id, ids))
    for consumer in sorted(known - consumers):
        yield (b"XGROUP", b"DELCONSUMER", key, name, consumer)


def position(key: bytes, name: bytes, group: GroupFacts) -> Words:
    """Return the command that sets last delivered id and entries read."""
    read = -1 if group.entries_read is None else group.entries_read
    return (b"XGROUP", b"SETID", key, name, _id(group.last_delivered_id), b"ENTRIESREAD", b"%d" % read)


def _delivering(key: bytes, name: bytes, pending: Pending, placed: Pending) -> Iterator[Words]:
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
