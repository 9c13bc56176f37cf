"""What a read selects: the streams, and the range of each one.

The options `stream`, `streams` and `streamPattern` select the streams; exactly one of them is set. A pattern
is a regular expression of Python that the whole name must match, as in the option `subscribePattern` of
Spark's Kafka source.

`startingOffsets` and `endingOffsets` are the bounds of the ranges: one value for all streams, or a JSON
object with a value for each. A position is always just after an id. A batch of entries is the range
(start, end]: after one id, up to and including another. So the position before an entry is the id just below
its own id, and a time is the position before the first id with that time. `checkpoint` owns the offsets that
Spark stores.

This module sends no requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from re import Pattern
from typing import Final, Literal

from tailrace_spark.entry_ids import LAST_POSSIBLE_ID, NUMBER_MAX, SEQ_MAX, ZERO_ID, just_below
from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import text
from tailrace_spark.sink.staging import STAGED

SELECTING: Final = ("stream", "streams", "streamPattern")
PLAIN: Final = re.compile(r"[\w:/#@ ,-]*", re.ASCII)
"""Characters that mean themselves in a regular expression."""
OPTIONAL: Final = "*?{"
"""Quantifiers after which a character can be absent."""


def selected(options: Mapping[str, str]) -> tuple[tuple[str, ...], Pattern[str] | None]:
    """Return the names of the streams, or no names and the pattern. Raises `BadOption`."""
    given = [name for name in SELECTING if name in options]
    if not given:
        raise BadOption(
            "stream: the option is missing; set it to the name of a stream, or set streams or streamPattern"
        )
    if len(given) > 1:
        raise BadOption(f"{' and '.join(given)}: only one of them can be set")
    if "streamPattern" in options:
        return (), _pattern(options["streamPattern"])
    return (text("stream", options["stream"]),) if "stream" in options else _names(options["streams"]), None


def matches(pattern: Pattern[str], name: str) -> bool:
    """Return whether the pattern selects the stream. Streams in which writes stage their chunks are never
    selected."""
    return pattern.fullmatch(name) is not None and STAGED.search(name) is None


def check_bounds(option: str, bounds: Bounds, streams: tuple[str, ...]) -> None:
    """Raise `BadOption` if `bounds` name some streams, but others than the options."""
    if not bounds.by_stream or not streams:
        return
    for name in bounds.by_stream.keys() - set(streams):
        raise BadOption(f"{option}: it names the stream {name!r}, which the read does not select")
    for name in set(streams) - bounds.by_stream.keys():
        raise BadOption(f'{option}: the stream {name!r} is missing; add it, for example as "earliest"')


def literal_prefix(pattern: Pattern[str]) -> str:
    """Return text with which every matching name begins. It may be shorter than possible."""
    if pattern.flags & (re.IGNORECASE | re.VERBOSE) or "|" in pattern.pattern:
        return ""
    found = PLAIN.match(pattern.pattern)
    prefix = found[0] if found else ""
    return prefix[:-1] if pattern.pattern[len(prefix) : len(prefix) + 1] in tuple(OPTIONAL) else prefix


def _pattern(value: str) -> Pattern[str]:
    try:
        return re.compile(text("streamPattern", value))
    except re.error as error:
        raise BadOption(f"streamPattern: {value!r} is not a regular expression ({error})") from None


def _names(value: str) -> tuple[str, ...]:
    """Return the names in a list: separated by commas, or a JSON array."""
    names = _listed(value) if value.lstrip().startswith("[") else [name.strip() for name in value.split(",")]
    found = tuple(dict.fromkeys(text("streams", name) for name in names))
    if not found:
        raise BadOption('streams: the list is empty; set it to names, such as "a,b" or ["a,1", "b"]')
    return found


def _listed(value: str) -> list[object]:
    try:
        names = json.loads(value)
    except ValueError as error:
        raise BadOption(f"streams: {value!r} is not valid JSON ({error})") from None
    assert isinstance(names, list)
    return names


# --- the bounds of the ranges -----------------------------------------------------------------------------


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
    for stream, bound in by_stream.items():
        if not isinstance(bound, str):
            raise BadOption(
                f"{name}: the value of {stream!r} is {json.dumps(bound)}; write it as a string, such as "
                '"earliest" or "1692632086370-0"'
            )
    return Bounds(bound_of(None), {stream: bound_of(bound) for stream, bound in by_stream.items()})


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


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and int(digits) <= NUMBER_MAX


def _time(value: str, seq: int) -> Bound | None:
    """Return the bound for a time in ISO 8601; a time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    ms = (moment - EPOCH) // timedelta(milliseconds=1)
    return Bound("time", f"{ms}-{seq}") if ms >= 0 else None
