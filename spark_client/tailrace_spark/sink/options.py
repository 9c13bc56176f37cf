"""The options of the sink: what each means, its default, its bounds. docs/spark.md has the same as a
table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import (
    ascii_text,
    integer_within,
    one_of,
    refuse_unknown,
    seconds_within,
    text,
)

Order = Literal["auto", "source", "sorted"]
Compression = Literal["none", "gzip", "zstd"]

CHUNK_ROWS_MAX: Final = 100_000
CHUNK_BYTES_MIN: Final = 1 << 10
CHUNK_BYTES_MAX: Final = 64 << 20
"""The server takes as many entries, and as large a body, in one request."""

PRODUCER_ID_CHARACTERS_MAX: Final = 400
"""The server takes 512; the sink adds a few for dead letters."""

PARTITIONS_MAX: Final = 100_000
DEAD_LETTERS_MOST: Final = 1_000_000
RETRY_DEADLINE_MAX_S: Final = 86_400
TIMEOUT_MAX_S: Final = 3_600


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """`token_env`, `token_file`: name the variable or the file that holds the token where tasks run.
    `ca_file`: a PEM file of authorities to trust, where tasks run.

    `chunk_rows`, `chunk_bytes`: how much one request carries at most (a single larger row goes alone).
    `compression`: of the requests' bodies.

    `order`: "source" sends rows as they come, "sorted" sorts each partition, "auto" sorts where the rows
    came through a shuffle, which brings them in another order each time. `sort_by`: sort by these columns
    first. `partitions`: distribute the rows anew, by their contents, over so many partitions.

    `stream_column`: the column that names each row's stream; a null stands for the sink's stream.
    `dead_letter_stream`: where refused rows go, `dead_letters_max` of a batch at most; without it the first
    refused row is an error.

    `producer_id`: whose idempotency keys are used; the query's id unless given.
    `retry_deadline_s`: how long one request is tried. `timeout_s`: of each step of one request.
    """

    token_env: str | None = None
    token_file: str | None = None
    ca_file: str | None = None
    chunk_rows: int = 5_000
    chunk_bytes: int = 8 << 20
    compression: Compression = "none"
    order: Order = "auto"
    sort_by: tuple[str, ...] = ()
    partitions: int | None = None
    stream_column: str | None = None
    dead_letter_stream: str | None = None
    dead_letters_max: int = 100
    producer_id: str | None = None
    retry_deadline_s: float = 300.0
    timeout_s: float = 60.0


def sink_options(given: Mapping[str, object]) -> SinkOptions:
    """The options, checked. Raises `BadOption`."""
    refuse_unknown(given, {field.name for field in fields(SinkOptions)})
    read: dict[str, Any] = {name: _checked(name, value) for name, value in given.items() if value is not None}
    options = SinkOptions(**read)
    if options.sort_by and options.order == "source":
        raise BadOption("sort_by: rows are not sorted under order='source'")
    return options


def _checked(name: str, value: object) -> object:
    if name in _INTEGERS:
        return integer_within(name, value, *_INTEGERS[name])
    if name in _SECONDS:
        return seconds_within(name, value, *_SECONDS[name])
    if name in _CHOICES:
        return one_of(name, value, _CHOICES[name])
    if name == "sort_by":
        return _names(name, value)
    if name == "producer_id":
        return ascii_text(name, value, PRODUCER_ID_CHARACTERS_MAX)
    return text(name, value)


def _names(name: str, value: object) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence):
        raise BadOption(f"{name}: a column's name or several are needed, not {value!r}")
    return tuple(text(name, each) for each in given)


_INTEGERS: Final[Mapping[str, tuple[int, int]]] = {
    "chunk_rows": (1, CHUNK_ROWS_MAX),
    "chunk_bytes": (CHUNK_BYTES_MIN, CHUNK_BYTES_MAX),
    "partitions": (1, PARTITIONS_MAX),
    "dead_letters_max": (0, DEAD_LETTERS_MOST),
}
_SECONDS: Final[Mapping[str, tuple[float, float]]] = {
    "retry_deadline_s": (0, RETRY_DEADLINE_MAX_S),
    "timeout_s": (0.1, TIMEOUT_MAX_S),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "order": get_args(Order),
    "compression": get_args(Compression),
}
