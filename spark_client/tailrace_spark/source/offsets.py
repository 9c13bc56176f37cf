"""Positions in a stream as the data source counts them: a position is always just after an id.

Entry ids are `ms-seq`, both unsigned 64-bit integers, and compare as pairs of numbers. A batch of entries is
the range (start, end]: after one id, up to and including another. So the position before an entry is the id
just below its own id, and a time is the position before the first id with that time.

This module owns the values of `startingOffsets` and `endingOffsets`: one value for all streams, or a JSON
object with a value for each. `checkpoint` owns the offsets that Spark stores. This module sends no requests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from tailrace_spark.entry_ids import LAST_POSSIBLE_ID, NUMBER_MAX, SEQ_MAX, ZERO_ID, just_below
from tailrace_spark.errors import BadOption

EPOCH: Final = datetime.fromtimestamp(0, UTC)

Kind = Literal["earliest", "latest", "id", "time"]


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range. `id`: for a start, the id just below the range; for an end, the last id in the
    range."""

    kind: Kind
    id: str = ZERO_ID


@dataclass(frozen=True, slots=True)
class Bounds:
    """One end of the ranges of a read. `common`: the bound of each stream that `by_stream` does not name."""

    common: Bound
    by_stream: Mapping[str, Bound] = field(default_factory=dict)

    def of(self, stream: str) -> Bound:
        """Return the bound for a stream."""
        return self.by_stream.get(stream, self.common)

    def has(self, kind: Kind) -> bool:
        """Return whether a stream has a bound of this kind."""
        return any(bound.kind == kind for bound in (self.common, *self.by_stream.values()))


def starting_bounds(value: str | None) -> Bounds:
    """Return the bounds for `startingOffsets`. A stream that a JSON object does not name begins at its
    earliest entry. Raises `BadOption`."""
    return _bounds("startingOffsets", value, starting_bound)


def ending_bounds(value: str | None) -> Bounds:
    """Return the bounds for `endingOffsets`. A stream that a JSON object does not name ends at its latest
    entry. Raises `BadOption`."""
    return _bounds("endingOffsets", value, ending_bound)


def starting_bound(value: str | None) -> Bound:
    """Return the bound for `startingOffsets`; the default is earliest. Raises `BadOption`."""
    bound = _bound("startingOffsets", "earliest" if value is None else value, seq=0)
    return bound if bound.kind in ("earliest", "latest") else Bound(bound.kind, just_below(bound.id))


def ending_bound(value: str | None) -> Bound:
    """Return the bound for `endingOffsets`; the default is latest. A time includes all ids of its
    millisecond. Raises `BadOption`."""
    bound = _bound("endingOffsets", "latest" if value is None else value, seq=SEQ_MAX)
    if bound.kind == "earliest":
        raise BadOption("endingOffsets: 'earliest' leaves nothing to read; use latest, an id or a time")
    return bound


def _bounds(name: str, value: str | None, bound_of: Callable[[str | None], Bound]) -> Bounds:
    if value is None or not value.lstrip().startswith("{"):
        return Bounds(bound_of(value))
    try:
        by_stream = json.loads(value)
    except ValueError as error:
        raise BadOption(f"{name}: {value!r} is not valid JSON ({error})") from None
    for stream, text in by_stream.items():
        if not isinstance(text, str):
            raise BadOption(
                f"{name}: the value of {stream!r} is {json.dumps(text)}; write it as a string, such as "
                '"earliest" or "1692632086370-0"'
            )
    return Bounds(bound_of(None), {stream: bound_of(text) for stream, text in by_stream.items()})


def _bound(name: str, value: str, seq: int) -> Bound:
    if value.casefold() == "earliest":
        return Bound("earliest")
    if value.casefold() == "latest":
        return Bound("latest", LAST_POSSIBLE_ID)
    found = _id_or_ms(value, seq) or _time(value, seq)
    if found is None:
        raise BadOption(
            f"{name}: {value!r} is not earliest, latest, an entry id (1692632086370-0), milliseconds "
            "since 1970 "
            "or a time in ISO 8601"
        )
    return found


def _id_or_ms(value: str, seq: int) -> Bound | None:
    ms, dash, given_seq = value.partition("-")
    if not (_is_number(ms) and (_is_number(given_seq) if dash else True)):
        return None
    return Bound("id", f"{int(ms)}-{int(given_seq)}") if dash else Bound("time", f"{int(ms)}-{seq}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) <= NUMBER_MAX


def _time(value: str, seq: int) -> Bound | None:
    """Return the bound for a time in ISO 8601; a time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    ms = (moment - EPOCH) // timedelta(milliseconds=1)
    return Bound("time", f"{ms}-{seq}") if ms >= 0 else None
