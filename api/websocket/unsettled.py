"""The unsettled entries of a connection: delivered on it, and not yet acknowledged or returned.

When a connection ends, the server returns the unsettled entries of consumers with `on_close: "nack"` to the
group. This module remembers their ids. Entries may have been acknowledged over other connections, or claimed
by other consumers, so the store is asked at the end which entries are still pending. This module never runs a
command.

A request acts before it is answered, and entries can be delivered in between: those that it returned, or
those that it named too early. So each request and each delivery has a mark, a number in the order in which
they happen; a request settles only deliveries with smaller marks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tailrace.api.websocket_limits import RELEASED_IDS_MAX
from tailrace.core.commands import NackMode, NegativeAcknowledge, PendingRange
from tailrace.core.errors import StreamError
from tailrace.core.id_keys import ends_of, id_keys, ids_of_keys
from tailrace.core.replies import PendingEntry, Reply
from tailrace.core.stream_id import StreamId


class Owner(NamedTuple):
    """A consumer of a group of a stream."""

    key: bytes
    group: bytes
    consumer: bytes


class Unsettled:
    """Unsettled deliveries by owner: the latest `RELEASED_IDS_MAX` of each. All methods are O(1) per id."""

    def __init__(self) -> None:
        # The mark of the latest delivery, by the key of the id (`core.id_keys`).
        self._ids: dict[Owner, OrderedDict[bytes, int]] = {}
        self._last_mark = 0

    def next_mark(self) -> int:
        """Return the mark of a request that is about to run, or of a delivery that happens now."""
        self._last_mark += 1
        return self._last_mark

    def track(self, owner: Owner) -> None:
        """Remember the deliveries to `owner` from now on."""
        self._ids.setdefault(owner, OrderedDict())

    def delivered(self, owner: Owner, ids: Iterable[StreamId], mark: int) -> None:
        """Remember the delivery of `ids` to `owner`, if `owner` is tracked. `mark`: of the delivery, or of
        the request that claimed them."""
        held = self._ids.get(owner)
        if held is None:
            return
        for id_key in id_keys(ids):
            if held.get(id_key, 0) < mark:
                held[id_key] = mark
        while len(held) > RELEASED_IDS_MAX:
            held.popitem(last=False)

    def settled(self, key: bytes, group: bytes, ids: Iterable[StreamId], mark: int) -> None:
        """Forget `ids`, because the request with this `mark` acknowledged or returned them."""
        for owner, held in self._ids.items():
            if (owner.key, owner.group) == (key, group):
                for id_key in id_keys(ids):
                    if held.get(id_key, mark) < mark:
                        del held[id_key]

    def questions(self) -> list[PendingRange]:
        """Return commands that list which entries are pending for each owner, between its first id and its
        last."""
        return [
            PendingRange(owner.key, owner.group, *ends_of(held), RELEASED_IDS_MAX, consumer=owner.consumer)
            for owner, held in self._holding()
        ]

    def releases(self, answers: Sequence[Reply | StreamError]) -> list[NegativeAcknowledge]:
        """Return the commands that return the entries as if they had not been delivered, from the answers to
        `questions`. A deleted group needs none."""
        found = []
        for (owner, held), answer in zip(self._holding(), answers, strict=True):
            if isinstance(answer, Sequence):
                pending = [entry.id for entry in answer if isinstance(entry, PendingEntry)]
                ids = tuple(ids_of_keys(filter(held.__contains__, id_keys(pending))))
                if ids:
                    found.append(NegativeAcknowledge(owner.key, owner.group, NackMode.SILENT, ids))
        return found

    def _holding(self) -> Iterator[tuple[Owner, OrderedDict[bytes, int]]]:
        return ((owner, held) for owner, held in self._ids.items() if held)
