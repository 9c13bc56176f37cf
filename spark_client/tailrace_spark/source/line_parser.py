"""Convert NDJSON lines to names and values in Arrow, one block of lines at a time.

How it works. The server writes almost all entries in the same form:

    {"id":"1-0","fields":{"rider":"Castilla","speed":"30.2"}}        regular
    {"id":"1-0","pairs":[["k","1"],["k","2"]]}                       odd: a name occurs twice
    {"id":"1-0","fields":{"AA==":"/w=="},"encoding":"base64"}        odd: bytes that are not UTF-8

`line_scanner` scans all regular lines of a block at once, without a Python object for each entry. Odd lines
are parsed one by one and then put back in their places. A block that the scanner does not recognise (blanks,
other members, another order) is parsed line by line. Names and values are bytes here. This module knows
nothing of columns or types.
"""

from __future__ import annotations

import json
from binascii import a2b_base64
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tailrace_spark.source.line_scanner import MAP, NEWLINE, Bytes, Entries, Places, scanned, scanned_ids

BRACE: Final = ord("}")


def entries_of(lines: bytes) -> Entries:
    """Return the entries of a block of complete lines, at least one. O(bytes)."""
    return scanned(lines) or _mixed(lines)


def _mixed(lines: bytes) -> Entries:
    """Return the entries of a block with odd lines, or with lines in another form."""
    text = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(text == NEWLINE)
    is_odd = (text[ends - 1] != BRACE) | (text[ends - 2] != BRACE)
    if not is_odd.any():
        return _parsed(lines.splitlines())
    lengths = np.diff(ends, prepend=-1)
    bounds = zip(ends[is_odd] - lengths[is_odd] + 1, ends[is_odd], strict=True)
    odd = _parsed(lines[begin:end] for begin, end in bounds)
    if is_odd.all():
        return odd
    kept = _kept(text, np.repeat(~is_odd, lengths))
    regular = scanned(kept) or _parsed(kept.splitlines())
    return _in_place(regular, odd, np.argsort(is_odd, kind="stable"))


def ids_of(lines: bytes) -> pa.Array:
    """Return only the ids of a block of complete lines, at least one. O(bytes), in less time than
    `entries_of`."""
    ids = scanned_ids(lines)
    return entries_of(lines).ids if ids is None else ids


def _kept(text: Bytes, is_kept: npt.NDArray[np.bool_]) -> bytes:
    return text[is_kept].tobytes()


def _in_place(regular: Entries, odd: Entries, came_from: Places) -> Entries:
    """Return all entries in the order of their lines.

    `came_from` contains the line number of each entry, with the regular entries first.
    """
    places = pa.array(np.argsort(came_from))
    return Entries(
        pa.concat_arrays([regular.ids, odd.ids]).take(places),
        pa.concat_arrays([regular.fields, odd.fields]).take(places),
    )


def _parsed(lines: Iterable[bytes]) -> Entries:
    """Return the entries of lines in any JSON form."""
    ids, fields = [], []
    for line in lines:
        entry = dict(json.loads(line, object_pairs_hook=list))
        as_bytes = a2b_base64 if entry.get("encoding") == "base64" else str.encode
        pairs = entry["fields"] if "fields" in entry else entry["pairs"]
        ids.append(entry["id"])
        fields.append([(as_bytes(name), as_bytes(value)) for name, value in pairs])
    return Entries(pa.array(ids, pa.string()), pa.array(fields, MAP))
