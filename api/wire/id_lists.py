"""Reads lists of consecutive ids, without work for each id in Python.

A consumer acknowledges what it has read, and the ids of a batch differ in their last number only. This module
owns that common form, and the decoding of other lists. `api.wire.parameters` reads their ids and finds
mistakes.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from tailrace.api.wire.parameters import ids_of
from tailrace.core.limits import IDS_PER_REQUEST_MAX
from tailrace.core.stream_id import RUN_MIN, U64_MAX, StreamId, make_id

_START: Final = b'["'
_END: Final = b'"]'
_DIGITS: Final = b"0123456789"

_IdTexts = Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_PER_REQUEST_MAX)]
_decode_texts: Final = msgspec.json.Decoder(_IdTexts).decode
_decode_numbers: Final = msgspec.json.Decoder(list[int]).decode


def id_list(raw: bytes) -> tuple[StreamId, ...] | range:
    """Return the ids of a JSON array. Raises an error of msgspec, or `RequestRefused` 400."""
    ids = consecutive_ids(raw)
    return ids_of(_decode_texts(raw)) if ids is None else ids


def consecutive_ids(raw: bytes) -> range | None:
    """Return the ids of a JSON array ``["5-1","5-2",...]`` of at least `RUN_MIN` consecutive ids of one
    millisecond, written without spaces. Return None for every other text. O(bytes) in C."""
    if not raw.startswith(_START) or not raw.endswith(_END):
        return None
    ms, dash, _ = raw[len(_START) : 2 * len(str(U64_MAX))].partition(b"-")
    if not dash or not ms.isdigit():
        return None
    between = b'","%b-' % ms
    written = raw[len(_START) + len(ms) + len(dash) : -len(_END)]
    text = written.replace(between, b",")
    count = 1 + (len(written) - len(text)) // (len(between) - 1)
    # Without its digits, the text must be exactly the commas that were put in.
    if not RUN_MIN <= count <= IDS_PER_REQUEST_MAX or text.translate(None, _DIGITS) != b"," * (count - 1):
        return None
    try:
        numbers = _decode_numbers(b"[%b]" % text)
    except msgspec.DecodeError:
        return None
    first, last, time = numbers[0], numbers[-1], int(ms)
    if last > U64_MAX or time > U64_MAX or numbers != [*range(first, first + count)]:
        return None
    return range(make_id(time, first), make_id(time, last) + 1)
