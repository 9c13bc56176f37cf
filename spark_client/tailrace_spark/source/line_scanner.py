"""Convert regular lines to Arrow without parsing them: NumPy finds the strings by their quotation marks.

    {"id":"1-0","fields":{"rider":"Castilla","speed":"30.2"}}
     └──┘ └───┘ └──────┘  └─────┘ └────────┘ └─────┘ └────┘       the strings of a line
         :     ,        :{       :          ,       :      }}⏎{   the gaps after them

How it works. In JSON, a quotation mark begins or ends a string unless a backslash escapes it. So the marks of
a block, taken in turns, are the bounds of its strings and of the gaps between the strings. They serve as the
offsets of one Arrow array over the bytes of the block; every second element of the array is a string. Strings
with escapes are decoded afterwards, and only those.

Why this is safe. The lines are valid JSON, as the server writes it, and each line begins with an id and
`fields`. If all other gaps have one character, the strings between them can only be names and values in turn.
If one gap has another length, or one line begins differently, the whole block is rejected. An entry may have
no fields: a read that needs few of them does not receive the others. This module parses nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bytes: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int32 | np.int64]

MAP: Final = pa.map_(pa.binary(), pa.binary())
MARK: Final = ord('"')
BACKSLASH: Final = ord("\\")
NEWLINE: Final = ord("\n")
BEGINNING: Final = b'{"id":"'
ENDINGS: Final = (b'"}}\n', b'":{}}\n')
FIRST_STRING: Final = b'"id":'
THIRD_STRING: Final = b'"fields":{'

# From the mark that ends a string to the one that begins the next.
WITHIN_A_LINE: Final = len('":')
BEFORE_FIELDS: Final = len('":{')
BETWEEN_LINES: Final = len('"}}\n{')
AFTER_NO_FIELDS: Final = len('":{}}\n{')
HEAD: Final = 3
"""The number of strings before the first name: `id`, the id, `fields`."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a block. `ids`: text. `fields`: for each entry a map of bytes to bytes in the order of
    the entry; a name can repeat."""

    ids: pa.Array
    fields: pa.Array


def scanned(lines: bytes) -> Entries | None:
    """Return the entries of a block of regular lines; None if one of the lines is not regular. O(bytes)."""
    text = np.frombuffer(lines, np.uint8)
    is_escaped = b"\\" in lines
    marks = _marks(text, is_escaped=is_escaped)
    firsts = _firsts(lines, marks)
    if firsts is None or not _have_their_names(text, marks, firsts):
        return None
    strings = _between(marks, lines)
    names_and_values = np.ones(len(marks) // 2, np.bool_)
    for number in range(HEAD):
        names_and_values[firsts + number] = False
    places = np.flatnonzero(names_and_values) * 2
    names, values = (strings.take(pa.array(places[turn::2])) for turn in range(2))
    if is_escaped:
        names, values = _decoded(names), _decoded(values)
    offsets = _field_offsets(firsts, len(marks) // 2)
    ids = strings.take(pa.array(firsts * 2 + 2)).view(pa.string())
    return Entries(ids, pa.MapArray.from_arrays(offsets, names, values))


def scanned_ids(lines: bytes) -> pa.Array | None:
    """Return the ids of a block of lines that begin with their ids; None if one of the lines does not.
    O(bytes), without looking at names and values."""
    text = np.frombuffer(lines, np.uint8)
    starts = np.flatnonzero(text == NEWLINE) + 1
    starts = np.concatenate([[0], starts[:-1]])
    if not _begin_with_ids(lines, len(starts)):
        return None
    marks = np.flatnonzero(text == MARK)
    firsts = starts + len(BEGINNING)
    bounds = np.empty(2 * len(starts), np.int32)
    bounds[0::2], bounds[1::2] = firsts, marks[np.searchsorted(marks, firsts)]
    ids = pa.Array.from_buffers(
        pa.string(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(lines)]
    )
    return ids.take(pa.array(np.arange(0, len(bounds), 2)))


def _marks(text: Bytes, *, is_escaped: bool) -> Places:
    """Return the places where strings begin and end, in turns."""
    is_mark = text == MARK
    if is_escaped:
        is_mark[_behind_odd_runs(np.flatnonzero(text == BACKSLASH))] = False
    # Arrow finds the places in packed bits in three quarters of the time that NumPy takes for bytes.
    bits = pa.py_buffer(np.packbits(is_mark, bitorder="little"))
    places = pc.indices_nonzero(pa.Array.from_buffers(pa.bool_(), len(text), [None, bits]))
    marks: Places = places.to_numpy().astype(np.int32)
    return marks


def _behind_odd_runs(backslashes: Places) -> Places:
    """Return the places that backslashes escape: those after an odd number of backslashes."""
    begins = np.flatnonzero(np.diff(backslashes, prepend=-2) != 1)
    lengths = np.diff(begins, append=len(backslashes))
    behind: Places = (backslashes[begins] + lengths)[lengths % 2 == 1]
    return behind


def _firsts(lines: bytes, marks: Places) -> Places | None:
    """Return the number of the first string of each line; None if the gaps show that a line is not
    regular."""
    if len(marks) % 2 or not (lines.startswith(BEGINNING) and lines.endswith(ENDINGS)):
        return None
    gaps = marks[2::2] - marks[1:-1:2]
    is_last_gap = (gaps == BETWEEN_LINES) | (gaps == AFTER_NO_FIELDS)
    firsts = np.concatenate([[0], np.flatnonzero(is_last_gap) + 1])
    counts = np.diff(firsts, append=len(marks) // 2)
    with_fields = firsts[counts > HEAD]
    has_its_gaps = (
        bool(((counts % 2 == 1) & (counts >= HEAD)).all())
        and bool((gaps[with_fields + (HEAD - 1)] == BEFORE_FIELDS).all())
        and np.count_nonzero(gaps != WITHIN_A_LINE) == len(firsts) - 1 + len(with_fields)
    )
    return firsts if has_its_gaps else None


def _have_their_names(text: Bytes, marks: Places, firsts: Places) -> bool:
    """Return whether the first string of each line is `id`, and the third is `fields` and opens an object.

    Together with the lengths of the gaps this is enough: in valid JSON, a gap between lines that is as long
    as expected can then only close two objects.
    """
    return all(
        bool((text[marks[firsts * 2 + 2 * number][:, None] + np.arange(len(name))] == list(name)).all())
        for number, name in ((0, FIRST_STRING), (2, THIRD_STRING))
    )


def _begin_with_ids(lines: bytes, count: int) -> bool:
    return lines.startswith(BEGINNING) and lines.count(b"\n" + BEGINNING) == count - 1


def _between(marks: Places, lines: bytes) -> pa.Array:
    """Return the bytes between the marks: the strings, and the gaps after them."""
    bounds = marks.copy()
    bounds[0::2] += 1
    return pa.Array.from_buffers(
        pa.binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(lines)]
    )


def _field_offsets(firsts: Places, strings: int) -> pa.Array:
    """Return where the fields of each line begin, counted over all lines, and where the last fields end."""
    counts = (np.diff(firsts, append=strings) - HEAD) // 2
    return pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))


def _decoded(texts: pa.Array) -> pa.Array:
    """Return the texts without JSON escapes."""
    is_escaped = pc.match_substring(texts, "\\")
    written = texts.filter(is_escaped).to_pylist()
    decoded = json.loads(b'["' + b'","'.join(written) + b'"]') if written else []
    return pc.replace_with_mask(texts, is_escaped, pa.array([text.encode() for text in decoded], pa.binary()))
