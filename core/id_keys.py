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

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from itertools import compress, islice, repeat
from operator import eq, lt, ne
from typing import Final, Generic, TypeVar, overload

from tailrace.core.stream_id import StreamId

ValueT = TypeVar("ValueT")
DefaultT = TypeVar("DefaultT")

ID_BYTES: Final = 16

FEW_IDS: Final = 64
"""So many ids are hashed as numbers: a look-up compares so many ints at most, which costs less than 1 us."""


def id_key(value: StreamId) -> bytes:
    """Return the key of an id in a table. O(1)."""
    return value.to_bytes(ID_BYTES)


def id_keys(ids: Iterable[StreamId]) -> Iterator[bytes]:
    """Return the key of each of `ids`. O(1) for each, in C."""
    return map(int.to_bytes, ids, repeat(ID_BYTES))


def ids_of_keys(keys: Iterable[bytes]) -> Iterator[StreamId]:
    """Return the id of each of `keys`: the inverse of `id_keys`. O(1) for each, in C."""
    return map(int.from_bytes, keys)


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
    if len(ids) == len(members) and all(map(eq, ids, members)):
        return [True] * len(ids)
    if len(ids) <= FEW_IDS and len(members) <= FEW_IDS:
        return list(map(set(members).__contains__, ids))
    return list(map(set(id_keys(members)).__contains__, id_keys(ids)))


class IdTable(MutableMapping[StreamId, ValueT], Generic[ValueT]):
    """A dict whose keys are ids. All methods cost what those of a dict do, and about 0.2 us."""

    __slots__ = ("_values",)

    def __init__(self, ids: Iterable[StreamId] = (), values: Iterable[ValueT] = ()) -> None:
        self._values: dict[bytes, ValueT] = dict(zip(id_keys(ids), values, strict=True))

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[StreamId]:
        return ids_of_keys(self._values)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and value.to_bytes(ID_BYTES) in self._values

    def __getitem__(self, value: StreamId) -> ValueT:
        return self._values[value.to_bytes(ID_BYTES)]

    def __setitem__(self, value: StreamId, item: ValueT) -> None:
        self._values[value.to_bytes(ID_BYTES)] = item

    def __delitem__(self, value: StreamId) -> None:
        del self._values[value.to_bytes(ID_BYTES)]

    @overload
    def get(self, value: StreamId, /) -> ValueT | None: ...
    @overload
    def get(self, value: StreamId, default: DefaultT, /) -> ValueT | DefaultT: ...
    def get(self, value: StreamId, default: DefaultT | None = None, /) -> ValueT | DefaultT | None:
        """Return the value of an id, or `default`. O(1)."""
        return self._values.get(value.to_bytes(ID_BYTES), default)

    def clear(self) -> None:
        """Remove all ids. O(n) in C."""
        self._values.clear()


def table_of(ids: Sequence[StreamId], values: Iterable[ValueT]) -> MutableMapping[StreamId, ValueT]:
    """Return a table of `ids` with their `values`, to which few ids are added. O(ids) in C."""
    return dict(zip(ids, values, strict=True)) if len(ids) <= FEW_IDS else IdTable(ids, values)


def new_table(count: int) -> MutableMapping[StreamId, ValueT]:
    """Return a table without ids, which will have up to `count`. O(1)."""
    return {} if count <= FEW_IDS else IdTable()
