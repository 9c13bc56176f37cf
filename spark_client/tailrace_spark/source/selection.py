"""Which streams a read selects: the options `stream`, `streams` and `streamPattern`, exactly one of them.

A pattern is a regular expression of Python that the whole name must match, as in the option
`subscribePattern` of Spark's Kafka source. This module sends no requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from re import Pattern
from typing import Final

from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import text
from tailrace_spark.sink.staging import STAGED
from tailrace_spark.source.offsets import Bounds

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
