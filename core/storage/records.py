"""Effects as bytes, for the journal: one array per effect, its kind's number first, then its fields in order.

The number of a kind never changes: new kinds are added at the end, and no number is reused. The annotations
of the effects determine which fields are ids or sequences of ids. This module applies no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, cast

import msgspec

from tailrace.core import effects as e
from tailrace.core.storage.ids import id_bytes, id_of, ids_bytes, ids_of

KINDS: Final[tuple[type[e.Effect], ...]] = (
    e.StreamCreated,
    e.StreamDeleted,
    e.StreamRenamed,
    e.KeyspaceFlushed,
    e.ConfigChanged,
    e.EntriesAppended,
    e.EntriesTrimmed,
    e.EntriesRemoved,
    e.StreamPositionSet,
    e.IdempotencyConfigured,
    e.AppendRemembered,
    e.DuplicateCounted,
    e.IdempotencyExpired,
    e.GroupCreated,
    e.GroupMoved,
    e.GroupDestroyed,
    e.ConsumerCreated,
    e.ConsumerDeleted,
    e.ConsumerSeen,
    e.Delivered,
    e.Claimed,
    e.Transferred,
    e.Nacked,
    e.PendingRemoved,
    e.StreamCopied,
    e.PendingBetweenRemoved,
    e.ReferencesTrimmed,
    e.EpochTakenOver,
    e.GroupConfigured,
    e.DeadLettered,
    e.Redriven,
    e.RetentionConfigured,
    e.EntriesRetired,
    e.LeasesExtended,
    e.EntriesScheduled,
    e.ScheduledPublished,
    e.ScheduledCancelled,
    e.RetriesDelayed,
    e.RetriesReleased,
)

Convert = Callable[[Any], Any]

_TO_BYTES: Final[dict[str, Convert]] = {"StreamId": id_bytes, "Sequence[StreamId]": ids_bytes}
_FROM_BYTES: Final[dict[str, Convert]] = {"StreamId": id_of, "Sequence[StreamId]": ids_of}
_NUMBER_OF: Final = {kind: number for number, kind in enumerate(KINDS)}

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[list[Any]]).decode


def _converters(table: dict[str, Convert]) -> list[list[tuple[int, Convert]]]:
    """Return, for each kind, the indexes of the fields to convert, with the function that converts them."""
    return [
        [
            (index, table[annotation])
            for index, annotation in enumerate(kind.__annotations__.values())
            if annotation in table
        ]
        for kind in KINDS
    ]


_ENCODERS: Final = _converters(_TO_BYTES)
_DECODERS: Final = _converters(_FROM_BYTES)
_FIELDS_OF: Final = [
    attrgetter(*kind.__struct_fields__) if len(kind.__struct_fields__) > 1 else None for kind in KINDS
]


def encode_effects(effects: Sequence[e.Effect]) -> bytes:
    """Return the effects of one or more commands as bytes, in order. Takes about 1 us per effect, plus its
    bytes."""
    return _encode([_row(effect) for effect in effects])


def _row(effect: e.Effect) -> list[Any]:
    number = _NUMBER_OF[type(effect)]
    fields = _FIELDS_OF[number]
    row = [number, *(fields(effect) if fields else msgspec.structs.astuple(effect))]
    for index, convert in _ENCODERS[number]:
        row[index + 1] = convert(row[index + 1])
    return row


def decode_effects(raw: bytes) -> list[e.Effect]:
    """Return the effects: the inverse of `encode_effects`. The caller has checked the bytes for damage."""
    return [_effect(row) for row in _decode(raw)]


def _effect(row: list[Any]) -> e.Effect:
    number, *fields = row
    for index, convert in _DECODERS[number]:
        fields[index] = convert(fields[index])
    kind = cast("Callable[..., e.Effect]", KINDS[number])
    return kind(*fields)
