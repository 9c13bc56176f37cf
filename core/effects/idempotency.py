"""The effects on idempotency keys and on their settings."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
from tailrace.core.idempotency.timed_keys import Remembered
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


class IdempotencyConfigured(Effect, frozen=True):
    """A stream's settings for idempotency keys were set, and its keys without an epoch were forgotten (rule
    63)."""

    key: bytes
    """The stream's key."""
    duration_s: int
    """How long a key is kept, in seconds."""
    maxsize: int
    """How many keys are kept for each producer."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.streams[self.key].idempotency.configure(self.duration_s, self.maxsize)


class AppendRemembered(Effect, frozen=True):
    """An idempotency key was remembered: an append with the same key returns `ids` from now on."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    idempotency_key: bytes
    """The key of the append."""
    ids: Sequence[StreamId]
    """The ids that the append made, rising."""
    fingerprint: bytes | None
    """The hash of the append's body; None: not checked."""
    epoch: int | None
    """The number of the batch: the key is kept for this epoch and the next one. None: kept by time and
    count."""
    layout: bytes | None
    """How the batch is split into requests; None without an epoch, or if the request named none."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        memory = stream.idempotency
        made = Remembered(pack_ids(self.ids), self.fingerprint)
        if self.epoch is None:
            memory.remember(self.producer, self.idempotency_key, made)
            keyspace.deadlines.note(stream.serial, memory.expires_ms(self.ids[0]))
        else:
            memory.remember_in_epoch(self.producer, self.epoch, self.layout, self.idempotency_key, made)


class DuplicateCounted(Effect, frozen=True):
    """An append was answered from memory: the stream's counter of duplicates rises, and the producer counts
    as used."""

    key: bytes
    """The stream's key."""
    producer: bytes = b""
    """The producer's name; empty in journals of earlier releases, which did not store it."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.streams[self.key].idempotency.note_duplicate(self.producer)


class EpochTakenOver(Effect, frozen=True):
    """An epoch of a producer got another layout."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    epoch: int
    """The number of the epoch."""
    layout: bytes
    """The new layout."""

    def apply(self, keyspace: Keyspace) -> None:
        epochs = keyspace.streams[self.key].idempotency.epochs
        epochs.take_over(self.producer, self.epoch, self.layout)


class IdempotencyExpired(Effect, frozen=True):
    """Old idempotency keys without an epoch were forgotten."""

    key: bytes
    """The stream's key."""
    before_ms: int
    """Unix time: keys whose first id has this time or an earlier one were forgotten."""

    def apply(self, keyspace: Keyspace) -> None:
        stream: Stream = keyspace.streams[self.key]
        stream.idempotency.expire(self.before_ms)
        keyspace.note_deadline(stream)
