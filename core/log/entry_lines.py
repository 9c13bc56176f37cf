"""Fragments of many entries from lines of JSON, with little work for each line.

In most files and batches, all lines have the same names, and a program wrote them without spaces. Such a line
equals its fragment. If nothing in the body is escaped, one regular expression for these names proves that. If
something is escaped, all lines are decoded as one shape, encoded again, and compared, which takes half as
long again. Other input takes a slower way, and only invalid input is parsed line by line, to find the error.
`core.log.entry` owns the form of a fragment; this module knows nothing of HTTP.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_fields, is_whole
from tailrace.core.log.node_size import AlikeFragments

SHAPES_MAX: Final = 16
"""Shapes whose patterns and decoders are kept; making one takes as long as reading a thousand lines."""

SHAPE_LINES_MIN: Final = 100
"""A body must be at least this many times as long as its first line: otherwise making a pattern or a decoder
does not pay."""

SHAPE_FIELDS_MAX: Final = 64
"""Lines with more fields take the slower way."""

SHAPE_NAMES_BYTES_MAX: Final = 1024
"""Longer names have no pattern: making it would take more than a millisecond."""

_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError)

_PLAIN: Final = rb"[ !#-\[\]-\xff]*+"
"""Matches the text of a string without escapes: every byte but quotation marks, backslashes and controls."""

_PLAIN_ASCII: Final = rb"[ !#-\[\]-\x7f]*+"
"""The same, in ASCII."""

_encoder: Final = msgspec.json.Encoder()
_fields_decoder: Final = msgspec.json.Decoder(dict[str, str])


def fragments_from_ndjson(body: bytes) -> list[bytes]:
    """Return the fragments of an NDJSON body: one JSON object of strings per line; blank lines are skipped.

    O(bytes), about 0.1 us an entry if all lines have the same names, else 0.4. Raises `BadEntry` with the
    number of the first invalid line.
    """
    body = body.rstrip(b"\r\n")
    return _alike(body) or _of_any_names(body) or _line_by_line(body)


# --- the same names in every line ------------------------------------------------------------------------


def _alike(body: bytes) -> list[bytes] | None:
    """Return the lines if they certainly are their own fragments, else None."""
    length = body.find(b"\n")
    if length <= 0 or len(body) < SHAPE_LINES_MIN * length:
        return None
    names = _names_of_first(body[:length])
    if names is None:
        return None
    pattern = _pattern_of(names)
    if pattern is None or b"\\" in body:
        if not _are_same_when_encoded(body, names):
            return None
        fragments = body.split(b"\n")
    elif pattern.fullmatch(body) is not None and _is_unicode(body):
        fragments = AlikeFragments(body.split(b"\n"))
    else:
        return None
    is_bounded = len(body) <= ENTRY_BYTES_MAX or max(map(len, fragments)) <= ENTRY_BYTES_MAX
    return fragments if is_bounded else None


def _names_of_first(line: bytes) -> tuple[str, ...] | None:
    """Return the names in the first line if it is its own fragment."""
    try:
        fields = _fields_decoder.decode(line)
    except _UNREADABLE:
        return None
    if not 0 < len(fields) <= SHAPE_FIELDS_MAX or _encoder.encode(fields) != line:
        return None
    return tuple(fields)


@lru_cache(SHAPES_MAX)
def _pattern_of(names: tuple[str, ...]) -> re.Pattern[bytes] | None:
    """Return a pattern of lines with these names and without escapes; None if JSON escapes a character of a
    name, or if the names are too long. It never backtracks: O(bytes).

    The first line captures the text around each value, and the other lines refer to it: a reference is
    compared in one step, the same text as a pattern one byte at a time.
    """
    texts = _texts_around_values(names)
    if texts is None:
        return None
    first = _PLAIN.join([b"(%b)" % re.escape(text) for text in texts])
    other = _PLAIN.join([b"(?:\\%d)" % number for number in range(1, len(texts) + 1)])
    return re.compile(rb"%b(?:\n%b)*+" % (first, other))


def _texts_around_values(names: tuple[str, ...]) -> list[bytes] | None:
    """Return the texts around the values of an entry with these names; None if the names have escapes, or are
    too long together."""
    keys = [_encoder.encode(name) + b":" for name in names]
    if sum(map(len, keys)) > SHAPE_NAMES_BYTES_MAX or any(b"\\" in key for key in keys):
        return None
    return [b"{" + keys[0] + b'"', *(b'",' + key + b'"' for key in keys[1:]), b'"}']


def expression_like(fragment: bytes) -> bytes | None:
    """Return a regular expression that matches only fragments with the names of this one, in this order, and
    with values in ASCII without escapes. It never backtracks.

    None if `fragment` is not an object of fields, or if its names are too many, too long, or have escapes.
    O(bytes).
    """
    names = _names_of_first(fragment)
    texts = None if names is None else _texts_around_values(names)
    return None if texts is None else _PLAIN_ASCII.join(map(re.escape, texts))


def _is_unicode(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _are_same_when_encoded(body: bytes, names: tuple[str, ...]) -> bool:
    """Whether decoding and encoding all lines gives the same bytes: then no line is blank, no name repeats,
    and only what must be escaped is."""
    decoder = _decoder_of(names)
    if decoder is None:
        return False
    try:
        lines = decoder.decode_lines(body)
    except _UNREADABLE:
        return False
    return _encoder.encode_lines(lines) == body + b"\n"


@lru_cache(SHAPES_MAX)
def _decoder_of(names: tuple[str, ...]) -> msgspec.json.Decoder[Any] | None:
    """Return a decoder of lines with these names; None if JSON escapes a character of a name."""
    members = {f"field_{number}": name for number, name in enumerate(names)}
    fields = [(member, str) for member in members]
    try:
        line = msgspec.defstruct("Line", fields, rename=members, forbid_unknown_fields=True, gc=False)
    except ValueError:
        return None
    return msgspec.json.Decoder(line)


# --- any names -------------------------------------------------------------------------------------------


def _of_any_names(body: bytes) -> list[bytes] | None:
    """Return all fragments by one decoding; None if that fails, or if a repeated name may have been lost."""
    try:
        rows = _fields_decoder.decode_lines(body)
    except _UNREADABLE:
        return None
    fragments = [_encoder.encode(row) for row in rows]
    # A fragment of at most that many bytes cannot have too many fields.
    if not (all(rows) and fragments) or max(map(len, fragments)) > FIELDS_PER_ENTRY_MAX:
        return None
    canonical = b"\n".join(fragments)
    if canonical == body or (is_whole(canonical, body) and len(rows) == _line_count(body)):
        return fragments
    return None


def _line_count(body: bytes) -> int:
    """Return how many lines are not blank: the decoder also accepts two objects in one line."""
    return sum(map(bool, map(bytes.strip, body.split(b"\n"))))


def _line_by_line(body: bytes) -> list[bytes]:
    fragments = []
    for number, line in enumerate(body.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            fragments.append(fragment_from_fields(text))
        except BadEntry as error:
            raise BadEntry(f"line {number}: {error}", too_large=error.too_large) from None
    return fragments
