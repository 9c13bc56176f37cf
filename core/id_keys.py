"""Sets and tables of entry ids whose cost does not depend on which ids a client chooses.

Python hashes an int as its value modulo 2^61-1. So the hash of the id ``ms-seq`` is ``8 * ms + seq``, and
a client can choose many ids with one hash: 1000-80, 1001-72, 1002-64. In a set or dict of n of them, each
look-up compares n ints. So ids are never hashed as numbers, except `FEW_IDS` at once. The rules:

* Sort the ids and compare neighbours, where this is enough. It is also the fastest way if the ids rise.
* Otherwise key a table by the 16 bytes of the id, most significant first. Python hashes bytes with a secret
  of the process, and these keys sort as the ids do.
* The functions of this module choose the way. Their results are the same either way.

This module knows nothing of streams or entries.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    MutableMapping,
    Sequence,
    ValuesView,
)
from itertools import compress, islice, repeat
from operator import eq, lt, ne
from typing import Final, Generic, Self, TypeVar

from tailrace.core.stream_id import StreamId

ValueT = TypeVar("ValueT")

ID_BYTES: Final = 16

FEW_IDS: Final = 128
"""So many ids are hashed as numbers: a look-up compares so many ints at most, which takes about 1 us."""


def id_key(value: StreamId) -> bytes:
    """Return the key of an id in a table. O(1)."""
    return value.to_bytes(ID_BYTES)


def id_keys(ids: Iterable[StreamId]) -> Iterator[bytes]:
    """Return the key of each of `ids`. O(1) for each, in C."""
    return map(int.to_bytes, ids, repeat(ID_BYTES))


def ids_of_keys(keys: Iterable[bytes]) -> Iterator[StreamId]:
    """Return the id of each of `keys`: the inverse of `id_keys`. O(1) for each, in C."""
    return map(int.from_bytes, keys)


def ends_of(keys: Collection[bytes]) -> tuple[StreamId, StreamId]:
    """Return the least and the greatest id of `keys`, at least one. O(keys) in C."""
    return int.from_bytes(min(keys)), int.from_bytes(max(keys))


def are_rising(ids: Sequence[StreamId]) -> bool:
    """Whether each of `ids` is above the one before it; then they are distinct. O(m) in C."""
    return isinstance(ids, range) or all(map(lt, ids, islice(ids, 1, None)))


def distinct(ids: Sequence[StreamId]) -> Sequence[StreamId]:
    """Return `ids` in their order, each once: `ids` itself if they rise. O(m) in C."""
    if len(ids) <= FEW_IDS:
        return list(dict.fromkeys(ids))
    if are_rising(ids):
        return ids
    return list(dict(zip(id_keys(ids), ids, strict=True)).values())


def rising(ids: Iterable[StreamId]) -> Sequence[StreamId]:
    """Return `ids` in rising order, each once. O(m log m), O(m) in C if they rise."""
    if isinstance(ids, range):
        return ids
    ordered = sorted(ids)
    if are_rising(ordered):
        return ordered
    return [ordered[0], *compress(islice(ordered, 1, None), map(ne, ordered, islice(ordered, 1, None)))]


def are_among(ids: Sequence[StreamId], members: Sequence[StreamId]) -> list[bool]:
    """Return for each of `ids` whether it is one of `members`. O(ids + members) in C."""
    if _are_same(ids, members):
        return [True] * len(ids)
    if len(ids) <= FEW_IDS and len(members) <= FEW_IDS:
        return list(map(set(members).__contains__, ids))
    return list(map(set(id_keys(members)).__contains__, id_keys(ids)))


def membership(members: Sequence[StreamId]) -> Callable[[StreamId], bool]:
    """Return a function that returns whether an id is one of `members`. O(members) in C, then O(1)."""
    if len(members) <= FEW_IDS:
        return frozenset(members).__contains__
    keys = frozenset(id_keys(members))
    return lambda value: value.to_bytes(ID_BYTES) in keys


def at_first_mention(
    ids: Sequence[StreamId], members: Sequence[StreamId], values: Sequence[ValueT], other: ValueT
) -> list[ValueT]:
    """Return for each of `ids` the value of this member at its first mention, else `other`. O(ids + members).

    `members`: distinct ids. `values`: one for each of them.
    """
    if _are_same(ids, members):
        return list(values)
    left = dict(zip(id_keys(members), values, strict=True))
    return [left.pop(key, other) for key in id_keys(ids)]


def _are_same(ids: Sequence[StreamId], others: Sequence[StreamId]) -> bool:
    return len(ids) == len(others) and all(map(eq, ids, others))


class IdTable(MutableMapping[StreamId, ValueT], Generic[ValueT]):
    """A dict whose keys are ids. Each method costs as much as that of a dict, and about 0.2 us.

    `by_key`: the values by `id_key`, for those who have the keys.
    """

    __slots__ = ("by_key",)

    def __init__(self) -> None:
        self.by_key: dict[bytes, ValueT] = {}

    @classmethod
    def of(cls, ids: Iterable[StreamId], values: Iterable[ValueT]) -> Self:
        """Return a table of `ids` with their `values`. O(ids) in C."""
        table = cls()
        table.by_key.update(zip(id_keys(ids), values, strict=True))
        return table

    def __len__(self) -> int:
        return len(self.by_key)

    def __iter__(self) -> Iterator[StreamId]:
        return ids_of_keys(self.by_key)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and value.to_bytes(ID_BYTES) in self.by_key

    def __getitem__(self, value: StreamId) -> ValueT:
        return self.by_key[value.to_bytes(ID_BYTES)]

    def __setitem__(self, value: StreamId, item: ValueT) -> None:
        self.by_key[value.to_bytes(ID_BYTES)] = item

    def __delitem__(self, value: StreamId) -> None:
        del self.by_key[value.to_bytes(ID_BYTES)]

    def values(self) -> ValuesView[ValueT]:
        """Return the values in the order of the table. O(1)."""
        return self.by_key.values()


class OrderedIdTable(IdTable[ValueT]):
    """An `IdTable` whose first id is found in O(1), however many were removed before it."""

    __slots__ = ()

    def __init__(self) -> None:
        self.by_key = OrderedDict()


def table_of(ids: Sequence[StreamId], values: Iterable[ValueT]) -> MutableMapping[StreamId, ValueT]:
    """Return a table of `ids` with their `values`. O(ids) in C."""
    return dict(zip(ids, values, strict=True)) if len(ids) <= FEW_IDS else IdTable.of(ids, values)
