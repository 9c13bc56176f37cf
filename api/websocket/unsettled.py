"""What a connection was given and has not settled, so that it can be given back when it ends.

It owns the bookkeeping of `on_close: "nack"`, for the consumers that asked for it. What is really theirs
still is asked of the store at the end: acknowledgments may have come over other connections, and others
may have claimed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tailrace.api.websocket_limits import RELEASED_IDS_MAX
from tailrace.core.commands import NackMode, NegativeAcknowledge, PendingRange
from tailrace.core.errors import StreamError
from tailrace.core.replies import PendingEntry, Reply
from tailrace.core.stream_id import StreamId


class Owner(NamedTuple):
    """A consumer of a group of a stream."""

    key: bytes
    group: bytes
    consumer: bytes


def given_back(owner: Owner, ids: Sequence[StreamId]) -> NegativeAcknowledge:
    """The command that gives entries back as if they had not been delivered."""
    return NegativeAcknowledge(owner.key, owner.group, NackMode.SILENT, tuple(ids))


class Unsettled:
    """Unsettled deliveries by owner, the latest `RELEASED_IDS_MAX` of each. All is O(1) an id."""

    def __init__(self) -> None:
        self._ids: dict[Owner, OrderedDict[StreamId, None]] = {}

    def track(self, owner: Owner) -> None:
        """From now on `owner`'s deliveries are to be given back."""
        self._ids.setdefault(owner, OrderedDict())

    def delivered(self, owner: Owner, ids: Iterable[StreamId]) -> None:
        """`owner` was given `ids`; they are remembered only if it is tracked."""
        held = self._ids.get(owner)
        if held is None:
            return
        held.update(dict.fromkeys(ids))
        while len(held) > RELEASED_IDS_MAX:
            held.popitem(last=False)

    def settled(self, key: bytes, group: bytes, ids: Iterable[StreamId]) -> None:
        """`ids` were acknowledged or given back."""
        for owner, held in self._ids.items():
            if (owner.key, owner.group) == (key, group):
                for value in ids:
                    held.pop(value, None)

    def questions(self) -> list[PendingRange]:
        """What to ask the store first: what is pending for each owner between its first id and its last."""
        return [
            PendingRange(
                owner.key, owner.group, min(held), max(held), RELEASED_IDS_MAX, consumer=owner.consumer
            )
            for owner, held in self._holding()
        ]

    def releases(self, answers: Sequence[Reply | StreamError]) -> list[NegativeAcknowledge]:
        """What to do then, given the answers to `questions`. A group that is gone has nothing to release."""
        found = []
        for (owner, held), answer in zip(self._holding(), answers, strict=True):
            if isinstance(answer, Sequence):
                pending = [entry.id for entry in answer if isinstance(entry, PendingEntry)]
                ids = [value for value in pending if value in held]
                if ids:
                    found.append(given_back(owner, ids))
        return found

    def _holding(self) -> Iterator[tuple[Owner, OrderedDict[StreamId, None]]]:
        return ((owner, held) for owner, held in self._ids.items() if held)
