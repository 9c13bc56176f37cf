"""The effects on idempotency keys and on their settings. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
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


class DuplicateCounted(Effect, frozen=True):
    """An append was answered from memory: the stream's counter of duplicates rises, and the producer counts
    as used."""

    key: bytes
    """The stream's key."""
    producer: bytes = b""
    """The producer's name; empty in journals of earlier releases, which did not store it."""


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


class IdempotencyExpired(Effect, frozen=True):
    """Old idempotency keys without an epoch were forgotten."""

    key: bytes
    """The stream's key."""
    before_ms: int
    """Unix time: keys whose first id has this time or an earlier one were forgotten."""
