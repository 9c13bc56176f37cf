"""The options of `format("tailrace")`: meaning, default and bounds of each one. docs/spark.md has the same as
a table.

The names follow Spark's Kafka source. Spark passes options as text, with names in any case. This module
converts them to numbers and words; an invalid option raises `BadOption`. The sink's own module checks the
options that writing shares with the sink (chunks, dead letters, compression).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from re import Pattern
from typing import Final, Literal, cast, get_args

from tailrace_spark.endpoint import Endpoint, TokenSource, urls_of
from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import integer_within, one_of, refuse_unknown, text
from tailrace_spark.sink.options import SinkOptions, sink_options
from tailrace_spark.source.selection import (
    SELECTING,
    Bounds,
    check_bounds,
    ending_bounds,
    selected,
    starting_bounds,
)

Mode = Literal["permissive", "dropmalformed", "failfast"]

MS_PER_S: Final = 1_000
PARTITIONS_MAX: Final = 10_000
"""The server splits a range into at most this many parts."""
POLL_TIMEOUT_MAX_MS: Final = 60_000
"""The server delays an answer by at most this time."""
RETRY_DEADLINE_MAX_MS: Final = 86_400_000
TIMEOUT_MAX_MS: Final = 3_600_000
BATCH_ID_MAX: Final = 1 << 62

LIMITING: Final = ("minEntriesPerTrigger", "maxTriggerDelay", "maxEntriesPerTrigger", "maxBytesPerTrigger")
BOUND_MAX: Final = 1 << 62
UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
WORDS: Final = {
    "": "ms", "millisecond": "ms", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d"
}  # fmt: skip
DURATION: Final = re.compile(r"\s*(\d{1,12})\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)

SHARED: Final = ("url", "token", "tokenEnv", "tokenFile", "caFile", "retryDeadlineMs", "timeoutMs")
READING: Final = (
    *SHARED,
    *SELECTING,
    "startingOffsets",
    "endingOffsets",
    *LIMITING,
    "minPartitions",
    "failOnDataLoss",
    "group",
    "mode",
    "columnNameOfCorruptRecord",
    "pushDownPredicate",
    "pollTimeoutMs",
)
AS_IN_THE_SINK: Final = {
    "caFile": "ca_file",
    "chunkRows": "chunk_rows",
    "chunkBytes": "chunk_bytes",
    "commit": "commit",
    "compression": "compression",
    "streamColumn": "stream_column",
    "deadLetterStream": "dead_letter_stream",
    "deadLettersMax": "dead_letters_max",
    "keepIds": "keep_ids",
    "producerId": "producer_id",
    "tokenEnv": "token_env",
    "tokenFile": "token_file",
}
WRITING: Final = (*dict.fromkeys((*SHARED, "stream", *AS_IN_THE_SINK)), "batchId")
PATH: Final = "path"
"""The option in which Spark passes the argument of `load` and `save`: the name of a stream."""
SPARKS_OWN: Final = ("checkpointLocation", "queryName")
"""Options of Spark itself, which Spark passes to a streaming write together with the others."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one micro-batch; None: no bound. `delay_ms`: how long a batch waits for `min_entries`."""

    min_entries: int | None
    delay_ms: int
    max_entries: int | None
    max_bytes: int | None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no bound."""
        return self.min_entries is None and self.max_entries is None and self.max_bytes is None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The checked options of a read.

    `streams`: the names of the streams; empty if `pattern` selects them. `starting`, `ending`: the range of
    each stream, from just after one id up to and including another id; see `selection`. `limits`: bounds of
    one micro-batch. `min_partitions`: the least number of partitions of a batch, if it has as many entries.
    `fail_on_data_loss`: whether entries that were gone before they were read are an error. `group`: a
    consumer group whose position follows the progress of the query. `mode`: whether text that does not fit
    its column's type becomes null, drops its entry or is an error. `corrupt_record`: the name of the column
    for entries with such text, if the schema has it. `pushes_filters`: whether Spark passes filters to a
    batch read. `poll_ms`: how long the server waits for new entries before it answers. `retry_deadline_s`:
    how long one request is retried.
    """

    endpoint: Endpoint
    streams: tuple[str, ...]
    pattern: Pattern[str] | None
    starting: Bounds
    ending: Bounds
    limits: Limits
    min_partitions: int
    fail_on_data_loss: bool
    group: str | None
    mode: Mode
    corrupt_record: str
    pushes_filters: bool
    poll_ms: int
    retry_deadline_s: float

    @property
    def stream(self) -> str:
        """Return the name of the stream; the options name exactly one."""
        [name] = self.streams
        return name

    def of(self, stream: str) -> ReadOptions:
        """Return the same options for one of the streams."""
        return replace(self, streams=(stream,), pattern=None)

    def __repr__(self) -> str:
        if self.pattern is not None:
            return f"the streams that match {self.pattern.pattern!r} at {self.endpoint.urls[0]}"
        kind = "stream" if len(self.streams) == 1 else "streams"
        return f"{kind} {', '.join(map(repr, self.streams))} at {self.endpoint.urls[0]}"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The checked options of a write.

    `stream`: None if a column names the stream of each row. `batch_id`: the number of a batch write, if it is
    given; a streaming write uses Spark's batch id.
    """

    endpoint: Endpoint
    stream: str | None
    sink: SinkOptions
    batch_id: int | None


def read_options(given: Mapping[str, str]) -> ReadOptions:
    """Return the checked options of a read. Raises `BadOption`."""
    options = _named(given, READING)
    streams, pattern = selected(options)
    read = ReadOptions(
        endpoint=_endpoint(options),
        streams=streams,
        pattern=pattern,
        starting=starting_bounds(options.get("startingOffsets")),
        ending=ending_bounds(options.get("endingOffsets")),
        limits=limits_of(options),
        min_partitions=integer_within("minPartitions", options.get("minPartitions", 1), 1, PARTITIONS_MAX),
        fail_on_data_loss=_flag("failOnDataLoss", options.get("failOnDataLoss", "true")),
        group=None if "group" not in options else text("group", options["group"]),
        mode=cast("Mode", _word("mode", options, *get_args(Mode))),
        corrupt_record=text(
            "columnNameOfCorruptRecord", options.get("columnNameOfCorruptRecord", "_corrupt_record")
        ),
        pushes_filters=_flag("pushDownPredicate", options.get("pushDownPredicate", "false")),
        poll_ms=integer_within("pollTimeoutMs", options.get("pollTimeoutMs", 500), 0, POLL_TIMEOUT_MAX_MS),
        retry_deadline_s=_deadline_ms(options) / MS_PER_S,
    )
    check_bounds("startingOffsets", read.starting, read.streams)
    check_bounds("endingOffsets", read.ending, read.streams)
    return read


def write_options(given: Mapping[str, str]) -> WriteOptions:
    """Return the checked options of a write. Raises `BadOption`."""
    own = {name.casefold() for name in SPARKS_OWN}
    options = _named({name: value for name, value in given.items() if name.casefold() not in own}, WRITING)
    sink = sink_options(
        {
            **{AS_IN_THE_SINK[name]: value for name, value in options.items() if name in AS_IN_THE_SINK},
            "retry_deadline_s": _deadline_ms(options) / MS_PER_S,
        }
    )
    is_routed = sink.stream_column is not None and "stream" not in options
    return WriteOptions(
        endpoint=_endpoint(options),
        stream=None if is_routed else _stream(options),
        sink=sink,
        batch_id=(
            integer_within("batchId", options["batchId"], 0, BATCH_ID_MAX) if "batchId" in options else None
        ),
    )


def _named(given: Mapping[str, str], known: tuple[str, ...]) -> dict[str, str]:
    """Return the options under the names of the documentation. Raises `BadOption` for any other name."""
    by_folded = {name.casefold(): name for name in (*known, PATH)}
    options = {by_folded.get(name.casefold(), name): value for name, value in given.items()}
    path = options.pop(PATH, None)
    for name in (name for name in SELECTING if path is not None and name in options):
        raise BadOption(
            f"{name}: the argument of load() or save(), {path!r}, names the stream, too; use one of them"
        )
    refuse_unknown(options, known)
    return options if path is None else {**options, "stream": path}


def _endpoint(options: Mapping[str, str]) -> Endpoint:
    if "url" not in options:
        raise BadOption(
            "url: the option is missing; set it to the URL of the server, such as http://tailrace:8080"
        )
    token = TokenSource(options.get("token"), options.get("tokenEnv"), options.get("tokenFile"))
    timeout_ms = integer_within("timeoutMs", options.get("timeoutMs", 60_000), 100, TIMEOUT_MAX_MS)
    return Endpoint(urls_of(options["url"]), token, timeout_ms / MS_PER_S, options.get("caFile"))


def _stream(options: Mapping[str, str]) -> str:
    if "stream" not in options:
        raise BadOption("stream: the option is missing; set it to the name of a stream")
    return text("stream", options["stream"])


def _deadline_ms(options: Mapping[str, str]) -> int:
    return integer_within(
        "retryDeadlineMs", options.get("retryDeadlineMs", 300_000), 0, RETRY_DEADLINE_MAX_MS
    )


def _flag(name: str, value: str) -> bool:
    return one_of(name, value.casefold(), ("true", "false")) == "true"


def _word(name: str, options: Mapping[str, str], *choices: str) -> str:
    """Return an option that is one of a few words, in any case. The first word is the default."""
    return one_of(name, options.get(name, choices[0]).casefold(), choices)


# --- the limits of a micro-batch --------------------------------------------------------------------------


def limits_of(options: Mapping[str, str]) -> Limits:
    """Return the limits that the options set. Raises `BadOption`."""
    limits = Limits(
        min_entries=_bound("minEntriesPerTrigger", options),
        delay_ms=duration_ms("maxTriggerDelay", options.get("maxTriggerDelay", "15m")),
        max_entries=_bound("maxEntriesPerTrigger", options),
        max_bytes=_bound("maxBytesPerTrigger", options),
    )
    least, most = limits.min_entries, limits.max_entries
    if least is None and "maxTriggerDelay" in options:
        raise BadOption("maxTriggerDelay: it has no effect without minEntriesPerTrigger; set both")
    if least is not None and most is not None and least > most:
        raise BadOption(
            f"minEntriesPerTrigger: {least} is greater than maxEntriesPerTrigger, {most}; use a smaller "
            "number"
        )
    return limits


def duration_ms(name: str, value: str) -> int:
    """Return a duration (`15m`, `90 seconds`) in milliseconds; a number alone is in milliseconds. Raises
    `BadOption`."""
    found = DURATION.fullmatch(value)
    word = found[2].casefold() if found else "?"
    unit = word if word in UNITS_MS else WORDS.get(word.removesuffix("s"))
    if found is None or unit is None:
        raise BadOption(f"{name}: {value!r} is not a duration, such as 15m, 90s, 500ms or 1h")
    return int(found[1]) * UNITS_MS[unit]


def _bound(name: str, options: Mapping[str, str]) -> int | None:
    return None if name not in options else integer_within(name, options[name], 1, BOUND_MAX)
