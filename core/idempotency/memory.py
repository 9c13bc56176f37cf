"""The idempotency keys that a stream remembers, of both kinds.

Two kinds of keys share the memory, each under its producer's name: those of Redis's IDMP, which are
forgotten by time and count (`core.idempotency.timed_keys`), and those of an epoch, which are kept for the
current and the last epoch (`core.idempotency.epochs`). A key of one kind never replaces a key of the other.

`find` and `has_expired` change nothing. Only `core.effects` calls the methods that do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from tailrace.core.commands import Idempotency
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.idempotency.epochs import Epoch, EpochKeys
from tailrace.core.idempotency.timed_keys import Remembered, TimedKeys
from tailrace.core.stream_id import StreamId, id_ms

SCHEDULED: Final = b"scheduled:"
"""The beginning of the fingerprint of a request with a delay. Its ids are the time of the request, by which
the key expires, and then the scheduled ids."""


_NO_TIMED: Final = TimedKeys()
_NO_EPOCHS: Final = EpochKeys()
"""The keys of all streams that never had one of the kind. Nothing is ever added to them."""


class IdempotencyMemory:
    """The idempotency keys of one stream. Only `core.storage` and `core.invariants` use
    `timed` and `epochs` directly, and only for reading."""

    __slots__ = ("duplicates", "duration_s", "epochs", "keys_added", "maxsize", "timed")

    def __init__(self, duration_s: int, maxsize: int) -> None:
        # How long a key without an epoch is kept, in seconds.
        self.duration_s = duration_s
        # How many keys without an epoch are kept for each producer.
        self.maxsize = maxsize
        # The number of keys ever remembered, of both kinds.
        self.keys_added = 0
        # The number of appends that were answered from memory.
        self.duplicates = 0
        # Keys without an epoch.
        self.timed = _NO_TIMED
        # Keys with an epoch.
        self.epochs = _NO_EPOCHS

    @property
    def producer_count(self) -> int:
        """The number of producers with remembered keys of either kind. O(producers with an epoch)."""
        timed = self.timed.producers
        return len(timed) + sum(name not in timed for name in self.epochs.producers)

    @property
    def key_count(self) -> int:
        """The number of remembered keys. O(1)."""
        return self.timed.key_count + self.epochs.key_count

    # --- finding -------------------------------------------------------------------------------

    def find(self, request: Idempotency) -> Sequence[StreamId] | None:
        """Return the ids of the append with this key, None if the key is new. O(1).

        Raises `StreamError` IDEMPOTENCY_MISMATCH if the key belongs to another body, and for a key with an
        epoch what `EpochKeys.find` raises.
        """
        if request.epoch is None:
            found = self.timed.find(request.producer, request.key)
        else:
            found = self.epochs.find(request, request.epoch)
        if found is None:
            return None
        if _differ(request.fingerprint, found.fingerprint):
            raise StreamError(
                ErrorCode.IDEMPOTENCY_MISMATCH,
                "ERR the idempotency key was used before with another body",
            )
        return found.ids

    def deadline_ms(self) -> int | None:
        """Return the time at which the first key expires, None if no key expires. O(producers without an
        epoch)."""
        oldest_ms = self.timed.oldest_ms()
        return None if oldest_ms is None else oldest_ms + self.duration_s * 1000

    def expires_ms(self, first_id: StreamId) -> int:
        """Return the time at which a key without an epoch expires whose append began with `first_id`."""
        return id_ms(first_id) + self.duration_s * 1000

    def has_expired(self, before_ms: int) -> bool:
        """Return whether `expire` with the same time would forget a key. O(producers without an epoch)."""
        return self.timed.has_expired(before_ms)

    # --- changing ------------------------------------------------------------------------------

    def remember(self, producer: bytes, key: bytes, made: Remembered) -> None:
        """Remember a new key without an epoch, and forget keys above the bounds. O(1) amortised."""
        self._own_timed().remember(producer, key, made, self.maxsize)
        self.keys_added += 1

    def remember_in_epoch(
        self, producer: bytes, epoch: int, layout: bytes | None, key: bytes, made: Remembered
    ) -> None:
        """Remember a new key of an epoch, and forget what `EpochKeys.remember` forgets. O(1) amortised."""
        self._own_epochs().remember(producer, epoch, layout, key, made)
        self.keys_added += 1

    def restore(self, producer: bytes, keys: OrderedDict[bytes, Remembered], epochs: list[Epoch]) -> None:
        """Add a producer from stored state, after those added before. O(epochs)."""
        if keys:
            self._own_timed().restore(producer, keys)
        if epochs:
            self._own_epochs().restore(producer, epochs)

    def _own_timed(self) -> TimedKeys:
        if self.timed is _NO_TIMED:
            self.timed = TimedKeys()
        return self.timed

    def _own_epochs(self) -> EpochKeys:
        if self.epochs is _NO_EPOCHS:
            self.epochs = EpochKeys()
        return self.epochs

    def note_duplicate(self, producer: bytes) -> None:
        """Count an append of `producer` that was answered from memory, and mark the producer as used.
        O(1)."""
        self.duplicates += 1
        self.timed.touch(producer)
        self.epochs.touch(producer)

    def configure(self, duration_s: int, maxsize: int) -> None:
        """Set the bounds of keys without an epoch, and forget all of those keys (rule 63)."""
        self.duration_s = duration_s
        self.maxsize = maxsize
        self.timed.clear()

    def expire(self, before_ms: int) -> None:
        """Forget keys without an epoch whose first id has a time at or before `before_ms` (Unix
        milliseconds)."""
        self.timed.expire(before_ms)

    def copy(self) -> IdempotencyMemory:
        """Return an independent copy. O(keys)."""
        twin = IdempotencyMemory(self.duration_s, self.maxsize)
        twin.keys_added, twin.duplicates = self.keys_added, self.duplicates
        if self.timed.producers:
            twin.timed = self.timed.copy()
        if self.epochs.producers:
            twin.epochs = self.epochs.copy()
        return twin


def _differ(one: bytes | None, other: bytes | None) -> bool:
    """Whether two fingerprints are of different bodies. None matches any body without a delay."""
    if one is None or other is None:
        return (one or other or b"").startswith(SCHEDULED)
    return one != other
