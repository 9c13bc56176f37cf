"""Entry ids: their form as numbers and as text.

An id is written ``ms-seq``, two unsigned 64-bit decimals. Inside the server it is one Python int, ``ms << 64
| seq``: ints compare and sort in C, and consecutive ids are a ``range``. `core.id_keys` has tables of ids.
This module never uses a clock or a stream, and never chooses an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from tailrace.core.errors import ErrorCode, StreamError

StreamId: TypeAlias = int
"""``ms << 64 | seq``. 0 is ``0-0``, which is no entry's id."""

SEQ_BITS: Final = 64
U64_MAX: Final = (1 << 64) - 1
ZERO_ID: Final[StreamId] = 0
MAX_ID: Final[StreamId] = (1 << 128) - 1

RUN_MIN: Final = 16
"""Fewer ids are not converted to a range: it would save nothing."""

ID_TEXT_BYTES_MAX: Final = 127
"""Longer id arguments are invalid (rule 1)."""

_DASHES: Final = b"-\n"
_AS_JSON: Final = bytes.maketrans(_DASHES, b",,")
_decode_numbers: Final = msgspec.json.Decoder(list[int]).decode


def make_id(ms: int, seq: int) -> StreamId:
    """Return the id of `ms` and `seq`, both unsigned 64-bit. O(1)."""
    return ms << SEQ_BITS | seq


def id_ms(value: StreamId) -> int:
    """Return the time part: Unix milliseconds if the server chose the id, any number if the client chose
    it."""
    return value >> SEQ_BITS


def id_seq(value: StreamId) -> int:
    """Return the sequence part."""
    return value & U64_MAX


def format_id(value: StreamId) -> str:
    """Return the id as text: ``1692632086370-0``."""
    return f"{value >> SEQ_BITS}-{value & U64_MAX}"


def invalid_id(raw: bytes | str) -> StreamError:
    """Return the error for an argument that is not an id, with the argument in its details."""
    given = raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace")
    return StreamError(
        ErrorCode.INVALID_ID,
        "ERR Invalid stream ID specified as stream command argument",
        given=given[:ID_TEXT_BYTES_MAX],
    )


def parse_id(raw: bytes, missing_seq: int = 0) -> StreamId:
    """Return the id that `raw` spells. `missing_seq` is the sequence part if `raw` is a time part only (rule
    3).

    Raises `StreamError` INVALID_ID, also for `-` and `+` (rule 2): `parse_position` accepts those.
    """
    ms_text, dash, seq_text = raw.partition(b"-")
    if not ms_text.isdigit() or (dash and not seq_text.isdigit()) or len(raw) > ID_TEXT_BYTES_MAX:
        raise invalid_id(raw)
    ms = int(ms_text)
    seq = int(seq_text) if dash else missing_seq
    if ms > U64_MAX or seq > U64_MAX:
        raise invalid_id(raw)
    return ms << SEQ_BITS | seq


def parse_ids(texts: Sequence[str]) -> Sequence[StreamId]:
    """Return the ids that `texts` spell, as `parse_id` does for each; five times as fast if all are complete.

    Raises `StreamError` INVALID_ID for the first invalid one.
    """
    return _parse_plain_ids(texts) or [parse_id(text.encode()) for text in texts]


def _parse_plain_ids(texts: Sequence[str]) -> Sequence[StreamId] | None:
    """Return all ids if each text is two numbers and a dash, else None. Decodes all numbers at once, as
    JSON."""
    lines = "\n".join(texts).encode()
    # Without its digits, each text must be exactly one dash.
    if lines.translate(None, b"0123456789") != _DASHES * (len(texts) - 1) + b"-":
        return None
    try:
        numbers = _decode_numbers(b"[%b]" % lines.translate(_AS_JSON))
    except msgspec.DecodeError:
        return None
    if max(numbers) > U64_MAX:
        return None
    times, seqs = numbers[0::2], numbers[1::2]
    if (
        len(seqs) >= RUN_MIN
        and times.count(times[0]) == len(times)
        and seqs == [*range(seqs[0], seqs[0] + len(seqs))]
    ):
        return range(make_id(times[0], seqs[0]), make_id(times[0], seqs[-1]) + 1)
    return [ms << SEQ_BITS | seq for ms, seq in zip(times, seqs, strict=True)]


def parse_position(raw: bytes, missing_seq: int = 0) -> StreamId:
    """Return the id that `raw` spells; `-` and `+` are the least and the greatest id (rule 2). Raises
    INVALID_ID."""
    if raw == b"-":
        return ZERO_ID
    if raw == b"+":
        return MAX_ID
    return parse_id(raw, missing_seq)


def parse_range_start(raw: bytes) -> StreamId:
    """Return the lowest id of a range whose start is `raw`: an id, `-`, `+`, or `(id` for exclusive (rule 4).

    Raises `StreamError` INVALID_ID, or INVALID_ARGUMENT if `(` excludes the greatest id.
    """
    if not raw.startswith(b"("):
        return parse_position(raw, 0)
    value = parse_id(raw[1:], 0)
    if value == MAX_ID:
        raise StreamError(ErrorCode.INVALID_ARGUMENT, "ERR invalid start ID for the interval")
    return value + 1


def parse_range_end(raw: bytes) -> StreamId:
    """Return the highest id of a range whose end is `raw`; a missing sequence part is the greatest (rules 3,
    4).

    Raises `StreamError` INVALID_ID, or INVALID_ARGUMENT if `(` excludes the least id.
    """
    if not raw.startswith(b"("):
        return parse_position(raw, U64_MAX)
    value = parse_id(raw[1:], U64_MAX)
    if value == ZERO_ID:
        raise StreamError(ErrorCode.INVALID_ARGUMENT, "ERR invalid end ID for the interval")
    return value - 1
