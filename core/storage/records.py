"""Effects as bytes, for the journal: one array per effect, its kind's number first, then its fields in order.

The number of a kind never changes: new kinds are added at the end, and no number is reused. The annotations
of the effects determine which fields are ids or sequences of ids. This module applies no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

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
    e.KeysTaken,
    e.EntriesHeld,
    e.HeldForgotten,
)

Convert = Callable[[Any], Any]

_TO_BYTES: Final[dict[str, Convert]] = {"StreamId": id_bytes, "Sequence[StreamId]": ids_bytes}
_FROM_BYTES: Final[dict[str, Convert]] = {"StreamId": id_of, "Sequence[StreamId]": ids_of}

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


_DECODERS: Final = _converters(_FROM_BYTES)


_Encoder: TypeAlias = tuple[int, Callable[[e.Effect], tuple[Any, ...]], Sequence[tuple[int, Convert]]]
"""How effects of one kind become arrays: the number of the kind, the function that returns the fields, and
the fields to convert by their index in the array. Python unpacks a plain tuple faster than a named one."""


def _encoder(number: int, kind: type[e.Effect], converters: Sequence[tuple[int, Convert]]) -> _Encoder:
    names = kind.__struct_fields__
    fields_of = attrgetter(*names) if len(names) > 1 else msgspec.structs.astuple
    return number, fields_of, [(index + 1, convert) for index, convert in converters]


_ENCODERS: Final = {
    kind: _encoder(number, kind, converters)
    for number, (kind, converters) in enumerate(zip(KINDS, _converters(_TO_BYTES), strict=True))
}


def encode_effects(effects: Sequence[e.Effect]) -> bytes:
    """Return the effects of one or more commands as bytes, in order. Takes about 1 us per effect, plus its
    bytes."""
    rows = []
    for effect in effects:
        number, fields_of, converters = _ENCODERS[type(effect)]
        row = [number, *fields_of(effect)]
        for index, convert in converters:
            row[index] = convert(row[index])
        rows.append(row)
    return _encode(rows)


def decode_effects(raw: bytes) -> list[e.Effect]:
    """Return the effects: the inverse of `encode_effects`. The caller has checked the bytes for damage."""
    return [_effect(row) for row in _decode(raw)]


def _effect(row: list[Any]) -> e.Effect:
    number, *fields = row
    for index, convert in _DECODERS[number]:
        fields[index] = convert(fields[index])
    kind = cast("Callable[..., e.Effect]", KINDS[number])
    return kind(*fields)
