"""What a stream remembers of appends made under an idempotency key.

Two kinds of keys share the memory, each under its producer's name: those of Redis's IDMP, which are
forgotten by time and count (`core.idempotency.timed_keys`), and those of an epoch, which are kept for the
current and the last epoch (`core.idempotency.epochs`). Neither kind can push out the other.

Looking changes nothing; `remember`, `note_duplicate`, `configure` and `expire` are called by `core.apply`
alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.commands import Idempotency
from tailrace.core.effects import AppendRemembered
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.idempotency.epochs import EpochKeys
from tailrace.core.idempotency.timed_keys import Remembered, TimedKeys
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.stream_id import StreamId


class IdempotencyMemory:
    """`duration_s` and `maxsize` bound the keys without an epoch; `keys_added` and `duplicates` count over
    the stream's whole life. Only this module and `core.storage` look into `timed` and `epochs`."""

    __slots__ = ("duplicates", "duration_s", "epochs", "keys_added", "maxsize", "timed")

    def __init__(self, duration_s: int, maxsize: int) -> None:
        self.duration_s = duration_s
        self.maxsize = maxsize
        self.keys_added = 0
        self.duplicates = 0
        self.timed = TimedKeys()
        self.epochs = EpochKeys()

    @property
    def producer_count(self) -> int:
        """How many producers have remembered keys. O(producers with an epoch)."""
        timed = self.timed.producers
        return len(timed) + sum(name not in timed for name in self.epochs.producers)

    @property
    def key_count(self) -> int:
        """How many keys are remembered. O(1)."""
        return self.timed.key_count + self.epochs.key_count

    # --- looking -------------------------------------------------------------------------------

    def find(self, request: Idempotency) -> Sequence[StreamId] | None:
        """The ids of the append that was made under this key, None where there was none. O(1).

        Raises `StreamError` IDEMPOTENCY_MISMATCH where the key stands for another body, and for a key with
        an epoch what `EpochKeys.find` raises.
        """
        if request.epoch is None:
            found = self.timed.find(request.producer, request.key)
        else:
            found = self.epochs.find(request, request.epoch)
        if found is None:
            return None
        if None not in (request.fingerprint, found.fingerprint) and request.fingerprint != found.fingerprint:
            raise StreamError(
                ErrorCode.IDEMPOTENCY_MISMATCH,
                "ERR the idempotency key was used before with another body",
            )
        return found.ids

    def has_expired(self, before_ms: int) -> bool:
        """Whether `expire` with the same time would forget anything. O(producers without an epoch)."""
        return self.timed.has_expired(before_ms)

    # --- changing ------------------------------------------------------------------------------

    def remember(self, effect: AppendRemembered) -> None:
        """Keep the key; forget what it pushes out. O(1) amortised."""
        made = Remembered(pack_ids(effect.ids), effect.fingerprint)
        self.keys_added += 1
        if effect.epoch is None:
            self.timed.remember(effect.producer, effect.idempotency_key, made, self.maxsize)
        else:
            self.epochs.remember(effect, effect.epoch, made)

    def note_duplicate(self, producer: bytes) -> None:
        """An append of `producer` was answered from memory. O(1)."""
        self.duplicates += 1
        self.timed.touch(producer)
        self.epochs.touch(producer)

    def configure(self, duration_s: int, maxsize: int) -> None:
        """Set the bounds and forget all keys that they bound; epochs are not theirs (rule 63)."""
        self.duration_s = duration_s
        self.maxsize = maxsize
        self.timed.clear()

    def expire(self, before_ms: int) -> None:
        """Forget keys without an epoch whose first id is at or before `before_ms`."""
        self.timed.expire(before_ms)

    def copy(self) -> IdempotencyMemory:
        """The same memory, to be changed apart. O(keys)."""
        twin = IdempotencyMemory(self.duration_s, self.maxsize)
        twin.keys_added, twin.duplicates = self.keys_added, self.duplicates
        twin.timed, twin.epochs = self.timed.copy(), self.epochs.copy()
        return twin
