"""Convert maps of fields, and ids, to whole entries as `entries:import` accepts them with `shape=entry`.

How it works. The lines of a batch have three forms, the same that the data source reads:

    {"id":"1-0","fields":{"rider":"Castilla","speed":"30.2"}}        regular
    {"id":"1-0","pairs":[["k","1"],["k","2"]]}                       a name occurs twice
    {"id":"1-0","fields":{"AA==":"/w=="},"encoding":"base64"}        bytes that are not UTF-8

Regular entries are written for a whole batch in Arrow. The others are found in the batch and written one by
one. Names keep their order, a null value is left out, and an entry keeps every byte. This module uses neither
Spark nor requests.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tailrace_spark.values.texts import body_of, quoted

NO_ID: Final = b"{"


@dataclass(frozen=True, slots=True)
class Pairs:
    """The names and values of many entries, as bytes. `offsets`: where the pairs of each entry begin and
    end."""

    offsets: pa.Array
    names: pa.Array
    values: pa.Array

    def rows(self) -> npt.NDArray[np.int64]:
        """Return the number of the entry of each pair."""
        counts = np.diff(self.offsets.to_numpy())
        return np.repeat(np.arange(len(counts), dtype=np.int64), counts)

    def of_entry(self, row: int) -> list[tuple[bytes, bytes]]:
        """Return the pairs of one entry."""
        part = slice(self.offsets[row].as_py(), self.offsets[row + 1].as_py())
        return list(zip(self.names[part].to_pylist(), self.values[part].to_pylist(), strict=True))


def entry_lines(fields: pa.Array, ids: pa.Array | None) -> pa.Array:
    """Return one line for each entry, with its newline. `fields`: maps of text or bytes. `ids`: the ids to
    keep, or None if the server chooses them. O(bytes)."""
    if not len(fields):
        return pa.array([], pa.binary())
    pairs = _pairs(fields)
    openings = _openings(ids, len(fields))
    members = pc.binary_join_element_wise(quoted(pairs.names), quoted(pairs.values), b":")
    inside = pc.binary_join(pa.ListArray.from_arrays(pairs.offsets, members), b",")
    lines = pc.binary_join_element_wise(openings, b'"fields":{', inside, b"}}\n", b"")
    odd = sorted(_repeating(pairs) | _unreadable(pairs))
    if not odd:
        return lines
    written = [openings[row].as_py() + _odd(pairs.of_entry(row)) for row in odd]
    is_odd = np.zeros(len(lines), np.bool_)
    is_odd[odd] = True
    return pc.replace_with_mask(lines, pa.array(is_odd), pa.array(written, pa.binary()))


def with_ids(lines: pa.Array, ids: pa.Array, *, are_whole: bool) -> pa.Array:
    """Return lines without ids as lines of whole entries with their ids. `are_whole`: whether the lines are
    whole entries already, or only fields."""
    openings = _openings(ids, len(lines))
    if are_whole:
        return pc.binary_join_element_wise(openings, pc.binary_replace_slice(lines, 0, 1, b""), b"")
    closed = pc.binary_replace_slice(lines, -1, maxsize, b"}\n")
    return pc.binary_join_element_wise(openings, b'"fields":', closed, b"")


def _openings(ids: pa.Array | None, count: int) -> pa.Array:
    if ids is None:
        return pa.repeat(pa.scalar(NO_ID), count)
    return pc.binary_join_element_wise(b'{"id":', quoted(ids.cast(pa.string()).view(pa.binary())), b",", b"")


def _pairs(fields: pa.Array) -> Pairs:
    """Return the pairs of all entries. Pairs without a value are left out."""
    bounds = fields.offsets.to_numpy()
    first, last = int(bounds[0]), int(bounds[-1])
    names, values = (_as_bytes(column).slice(first, last - first) for column in (fields.keys, fields.items))
    bounds = bounds - first
    if values.null_count:
        is_kept = values.is_valid()
        bounds = np.concatenate([[0], np.cumsum(is_kept.to_numpy(zero_copy_only=False))])[bounds]
        names, values = names.filter(is_kept), values.filter(is_kept)
    return Pairs(pa.array(bounds, pa.int32()), names, values)


def _as_bytes(texts: pa.Array) -> pa.Array:
    if pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type):
        return texts.cast(pa.large_binary()).cast(pa.binary())
    return texts.view(pa.binary())


# --- entries of another form -----------------------------------------------------------------------


def _repeating(pairs: Pairs) -> set[int]:
    """Return the entries that repeat a name."""
    codes = pairs.names.dictionary_encode()
    marks = pairs.rows() * len(codes.dictionary) + codes.indices.to_numpy()
    if pc.count_distinct(pa.array(marks)).as_py() == len(marks):
        return set()
    found, counts = np.unique(marks, return_counts=True)
    return set((found[counts > 1] // len(codes.dictionary)).tolist())


def _unreadable(pairs: Pairs) -> set[int]:
    """Return the entries with a name or value that is not UTF-8."""
    found: set[int] = set()
    for texts in (pairs.names, pairs.values):
        if not _is_utf8(bytes(body_of(texts))):
            wrong = [place for place, text in enumerate(texts.to_pylist()) if not _is_utf8(text)]
            found.update(pairs.rows()[wrong].tolist())
    return found


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _odd(pairs: Sequence[tuple[bytes, bytes]]) -> bytes:
    is_text = all(_is_utf8(text) for pair in pairs for text in pair)
    texts = [[each.decode() if is_text else _base64(each) for each in pair] for pair in pairs]
    names = {name for name, _ in texts}
    content = {"fields": dict(texts)} if len(names) == len(texts) else {"pairs": texts}
    encoding = {} if is_text else {"encoding": "base64"}
    line = json.dumps({**content, **encoding}, ensure_ascii=False, separators=(",", ":"))
    return line[1:].encode() + b"\n"


def _base64(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).decode()
