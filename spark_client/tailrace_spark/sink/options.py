"""The options of the sink: meaning, default and bounds of each one. docs/spark.md has the same as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from tailrace_spark.option_checks import (
    ascii_text,
    integer_within,
    one_of,
    refuse_unknown,
    seconds_within,
    text,
    true_or_false,
)

CommitUnit = Literal["batch", "chunk"]
Compression = Literal["none", "gzip", "zstd"]

CHUNK_ROWS_MAX: Final = 100_000
CHUNK_BYTES_MIN: Final = 1 << 10
CHUNK_BYTES_MAX: Final = 64 << 20
"""The server accepts at most this many bytes, and at most `CHUNK_ROWS_MAX` entries, in one request."""

PRODUCER_ID_CHARACTERS_MAX: Final = 400
"""The server accepts 512 characters; the sink adds a few for dead letters."""

DEAD_LETTERS_MOST: Final = 1_000_000
RETRY_DEADLINE_MAX_S: Final = 86_400
TIMEOUT_MAX_S: Final = 3_600


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """The checked options of a sink.

    `token_env`, `token_file`: the environment variable or the file with the token, on the driver and
    the machines of the tasks. `ca_file`: a PEM file of trusted certificate authorities, on the same machines.

    `chunk_rows`, `chunk_bytes`: the most rows and bytes of one request (a single larger row is sent alone).
    `compression`: the compression of request bodies. Staged chunks are always compressed.

    `commit`: "batch" stages all chunks of a batch and then publishes them. "chunk" appends each chunk at
    once; then a replay must cut the same rows into the same chunks.

    `stream_column`: the column that names the stream of each row; null means the sink's own stream.
    `dead_letter_stream`: the stream for refused rows, at most `dead_letters_max` for each batch; without it,
    the first refused row is an error.

    `keep_ids`: True keeps the ids of the column `_id`, False lets the server choose new ids. None: the same
    as False, but only for DataFrames with a map of all fields; see `entry_form`.

    `producer_id`: the producer that owns the idempotency keys; by default the id of the query.
    `retry_deadline_s`: how long one request is retried. `timeout_s`: the time limit for each step of one
    request.
    """

    token_env: str | None = None
    token_file: str | None = None
    ca_file: str | None = None
    chunk_rows: int = 5_000
    chunk_bytes: int = 8 << 20
    compression: Compression = "none"
    commit: CommitUnit = "batch"
    stream_column: str | None = None
    dead_letter_stream: str | None = None
    dead_letters_max: int = 100
    producer_id: str | None = None
    keep_ids: bool | None = None
    retry_deadline_s: float = 300.0
    timeout_s: float = 60.0


def sink_options(given: Mapping[str, object]) -> SinkOptions:
    """Return the checked options. Raises `BadOption`."""
    refuse_unknown(given, {field.name for field in fields(SinkOptions)})
    read: dict[str, Any] = {name: _checked(name, value) for name, value in given.items() if value is not None}
    return SinkOptions(**read)


def _checked(name: str, value: object) -> object:
    if name in _INTEGERS:
        return integer_within(name, value, *_INTEGERS[name])
    if name in _SECONDS:
        return seconds_within(name, value, *_SECONDS[name])
    if name in _CHOICES:
        return one_of(name, value, _CHOICES[name])
    return _OTHERS.get(name, text)(name, value)


_INTEGERS: Final[Mapping[str, tuple[int, int]]] = {
    "chunk_rows": (1, CHUNK_ROWS_MAX),
    "chunk_bytes": (CHUNK_BYTES_MIN, CHUNK_BYTES_MAX),
    "dead_letters_max": (0, DEAD_LETTERS_MOST),
}
_SECONDS: Final[Mapping[str, tuple[float, float]]] = {
    "retry_deadline_s": (0, RETRY_DEADLINE_MAX_S),
    "timeout_s": (0.1, TIMEOUT_MAX_S),
}
_OTHERS: Final[Mapping[str, Callable[[str, object], object]]] = {
    "keep_ids": true_or_false,
    "producer_id": lambda name, value: ascii_text(name, value, PRODUCER_ID_CHARACTERS_MAX),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "commit": get_args(CommitUnit),
    "compression": get_args(Compression),
}
