"""Applying the effects on idempotency keys. Only `core.apply` uses this module.

As there, applying decides nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tailrace.core.effects import (
    AppendRemembered,
    DuplicateCounted,
    Effect,
    EpochTakenOver,
    IdempotencyConfigured,
    IdempotencyExpired,
)
from tailrace.core.keyspace import Keyspace


def _idempotency_configured(keyspace: Keyspace, effect: IdempotencyConfigured) -> None:
    keyspace.streams[effect.key].idempotency.configure(effect.duration_s, effect.maxsize)


def _append_remembered(keyspace: Keyspace, effect: AppendRemembered) -> None:
    keyspace.remember(effect)


def _duplicate_counted(keyspace: Keyspace, effect: DuplicateCounted) -> None:
    keyspace.streams[effect.key].idempotency.note_duplicate(effect.producer)


def _epoch_taken_over(keyspace: Keyspace, effect: EpochTakenOver) -> None:
    keyspace.streams[effect.key].idempotency.epochs.take_over(effect)


def _idempotency_expired(keyspace: Keyspace, effect: IdempotencyExpired) -> None:
    keyspace.expire(effect)


APPLIERS: Final[dict[type[Effect], Callable[[Keyspace, Any], None]]] = {
    IdempotencyConfigured: _idempotency_configured,
    AppendRemembered: _append_remembered,
    DuplicateCounted: _duplicate_counted,
    EpochTakenOver: _epoch_taken_over,
    IdempotencyExpired: _idempotency_expired,
}
