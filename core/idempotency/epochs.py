"""Idempotency keys of producers that replay whole batches, each batch an epoch.

The keys of a producer's current and last epoch have no time limit. An older epoch is refused, because its
keys are gone. The first request of an epoch that names a layout (how the batch was split) pins the layout:
the same batch, split differently, has other keys, and its entries would be appended twice. A producer that
has checked all keys of an epoch can take the epoch over: it replaces the layout, and fences requests that
still have the former one.

Each stream has three bounds. An epoch has a bounded number of keys: a further key is refused, because a retry
of a forgotten key would be appended twice. The number of producers and the number of their keys are bounded
too: above either bound, the least recently used producer is forgotten, and its next append counts as its
first. The choice of that producer depends only on the effects, so a replay forgets the same producers.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.commands import Idempotency, TakeOverEpoch
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.idempotency.compact_name import compact_name
from tailrace.core.idempotency.timed_keys import Remembered
from tailrace.core.limits import EPOCH_KEYS_MAX, EPOCH_PRODUCERS_MAX, IDMP_KEYS_MAX


class Epoch(Struct):
    """One epoch of a producer."""

    number: int
    """The epoch's number, as the producer chose it."""
    layout: bytes | None
    """The pinned layout; None until a request names one."""
    keys: dict[bytes, Remembered]
    """The keys of the epoch and their appends; at most `EPOCH_KEYS_MAX`."""


class EpochKeys:
    """The keys with an epoch of one stream."""

    __slots__ = ("key_count", "producers")

    def __init__(self) -> None:
        # The keys of all producers and epochs.
        self.key_count = 0
        # Each producer's last and current epoch, in this order, at least one. The least recently used
        # producer is first.
        self.producers: OrderedDict[bytes, list[Epoch]] = OrderedDict()

    def find(self, request: Idempotency, number: int) -> Remembered | None:
        """Return the append under the request's key in epoch `number`, None if the key is new. O(1).

        Raises `StreamError` STALE_EPOCH if the epoch is forgotten, LAYOUT_CHANGED if it has another layout,
        and LIMIT_EXCEEDED if the key is new and the epoch has `EPOCH_KEYS_MAX` keys.
        """
        epoch = _known_epoch(self.producers.get(request.producer, ()), number)
        if epoch is None:
            return None
        _check_layout(epoch, request.layout)
        found = epoch.keys.get(request.key)
        if found is None and len(epoch.keys) >= EPOCH_KEYS_MAX:
            raise _too_many_keys(number)
        return found

    def remember(
        self, producer: bytes, number: int, layout: bytes | None, key: bytes, made: Remembered
    ) -> None:
        """Remember a new key of epoch `number`, and forget older epochs and producers above the bounds. O(1)
        amortised."""
        epochs = self.producers.setdefault(producer, [])
        epoch = self._epoch_for(epochs, number)
        if epoch.layout is None:
            epoch.layout = layout
        epoch.keys[key] = made
        self.key_count += 1
        self.producers.move_to_end(producer)
        while self._is_over_a_bound():
            _, forgotten = self.producers.popitem(last=False)
            self.key_count -= _count(forgotten)

    def _epoch_for(self, epochs: list[Epoch], number: int) -> Epoch:
        """Return the epoch `number`. If it is new, it is added, and only the epoch before it is kept."""
        for epoch in epochs:
            if epoch.number == number:
                return epoch
        begun = Epoch(number, None, {})
        self.key_count -= _count(epochs[:-1])
        epochs[:] = [*epochs[-1:], begun]
        return begun

    def _is_over_a_bound(self) -> bool:
        """Return whether a producer must be forgotten. The last one stays: its own epochs are bounded."""
        count = len(self.producers)
        return count > EPOCH_PRODUCERS_MAX or (self.key_count > IDMP_KEYS_MAX and count > 1)

    def must_change(self, request: TakeOverEpoch) -> bool:
        """Whether the epoch has to get the layout of the request; False if it has the layout already. O(1).

        Raises `StreamError` STALE_EPOCH if the epoch is forgotten, and LAYOUT_CHANGED if it has neither of
        the layouts of the request, or another number of keys.
        """
        epoch = _known_epoch(self.producers.get(request.producer, ()), request.epoch)
        if epoch is not None and epoch.layout == request.layout:
            return False
        if epoch is None or len(epoch.keys) != request.key_count:
            raise _other_keys(request, epoch)
        _check_layout(epoch, request.replaces)
        return True

    def take_over(self, producer: bytes, number: int, layout: bytes) -> None:
        """Give an epoch, which is remembered, another layout. Counts as a use of the producer. O(1)."""
        epochs = self.producers[producer]
        next(epoch for epoch in epochs if epoch.number == number).layout = layout
        self.touch(producer)

    def touch(self, producer: bytes) -> None:
        """Mark the producer, if it has keys, as the most recently used one. O(1)."""
        if producer in self.producers:
            self.producers.move_to_end(producer)

    def restore(self, producer: bytes, epochs: list[Epoch]) -> None:
        """Add a producer from stored state, after those added before. O(epochs)."""
        self.producers[producer] = epochs
        self.key_count += _count(epochs)

    def copy(self) -> EpochKeys:
        """Return an independent copy. O(keys)."""
        twin = EpochKeys()
        for producer, epochs in self.producers.items():
            copies = [Epoch(epoch.number, epoch.layout, epoch.keys.copy()) for epoch in epochs]
            twin.restore(producer, copies)
        return twin


def _count(epochs: Sequence[Epoch]) -> int:
    return sum(len(epoch.keys) for epoch in epochs)


def _known_epoch(epochs: Sequence[Epoch], number: int) -> Epoch | None:
    """Return the epoch if it is remembered, None if it is newer than all. Raises STALE_EPOCH if it is
    older."""
    known = next((epoch for epoch in epochs if epoch.number == number), None)
    if known is None and epochs and number < epochs[-1].number:
        raise StreamError(
            ErrorCode.STALE_EPOCH,
            f"ERR the producer's epoch {number} is older than its remembered epochs",
            epoch=str(epochs[-1].number),
        )
    return known


def _check_layout(epoch: Epoch, layout: bytes | None) -> None:
    pinned = epoch.layout
    # Earlier releases stored a long layout in full.
    if layout is None or pinned is None or layout in {pinned, compact_name(pinned)}:
        return
    raise StreamError(
        ErrorCode.LAYOUT_CHANGED,
        f"ERR epoch {epoch.number} began with another layout: split the batch as in its first attempt",
        layout=pinned.decode("utf-8", "backslashreplace"),
    )


def _other_keys(request: TakeOverEpoch, epoch: Epoch | None) -> StreamError:
    found = 0 if epoch is None else len(epoch.keys)
    layout = b"" if epoch is None or epoch.layout is None else epoch.layout
    return StreamError(
        ErrorCode.LAYOUT_CHANGED,
        f"ERR epoch {request.epoch} has {found} idempotency keys, not {request.key_count}: "
        "read the producer again",
        layout=layout.decode("utf-8", "backslashreplace"),
        keys=str(found),
    )


def _too_many_keys(number: int) -> StreamError:
    return StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR epoch {number} has {EPOCH_KEYS_MAX} idempotency keys, the maximum: send larger requests, "
        "or begin another epoch",
    )
