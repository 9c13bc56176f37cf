"""From NDJSON to names and values in Arrow, a block of lines at a time.

How it works. The server writes all entries alike, but for a few:

    {"id":"1-0","fields":{"rider":"Castilla","speed":"30.2"}}        regular
    {"id":"1-0","pairs":[["k","1"],["k","2"]]}                       odd: a name stands twice
    {"id":"1-0","fields":{"AA==":"/w=="},"encoding":"base64"}        odd: bytes that are not UTF-8

Regular lines are scanned all at once (`reader_scan`), without a Python object for an entry. Odd ones, and
whole blocks that the scan does not know (blanks, other members, another order), are parsed one by one, and
then stand in their places again. Names and values are bytes here. It knows nothing of columns or types.
"""

from __future__ import annotations

import json
from binascii import a2b_base64
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tailrace_spark.source.line_scanner import MAP, Bytes, Entries, Places, scanned

NEWLINE: Final = ord("\n")
BRACE: Final = ord("}")


def entries_of(lines: bytes) -> Entries:
    """The entries of a block of whole lines, of which there is at least one. O(bytes)."""
    text = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(text == NEWLINE)
    is_odd = (text[ends - 1] != BRACE) | (text[ends - 2] != BRACE)
    if not is_odd.any():
        return _regular(lines)
    lengths = np.diff(ends, prepend=-1)
    bounds = zip(ends[is_odd] - lengths[is_odd] + 1, ends[is_odd], strict=True)
    odd = _parsed(lines[begin:end] for begin, end in bounds)
    if is_odd.all():
        return odd
    regular = _regular(_kept(text, np.repeat(~is_odd, lengths)))
    return _in_place(regular, odd, np.argsort(is_odd, kind="stable"))


def _regular(lines: bytes) -> Entries:
    return scanned(lines) or _parsed(lines.splitlines())


def _kept(text: Bytes, is_kept: npt.NDArray[np.bool_]) -> bytes:
    return text[is_kept].tobytes()


def _in_place(regular: Entries, odd: Entries, came_from: Places) -> Entries:
    """`came_from`: of each entry, regular ones first, the number of its line."""
    places = pa.array(np.argsort(came_from))
    return Entries(
        pa.concat_arrays([regular.ids, odd.ids]).take(places),
        pa.concat_arrays([regular.fields, odd.fields]).take(places),
    )


def _parsed(lines: Iterable[bytes]) -> Entries:
    """Entries of any form that JSON has."""
    ids, fields = [], []
    for line in lines:
        entry = dict(json.loads(line, object_pairs_hook=list))
        as_bytes = a2b_base64 if entry.get("encoding") == "base64" else str.encode
        pairs = entry["fields"] if "fields" in entry else entry["pairs"]
        ids.append(entry["id"])
        fields.append([(as_bytes(name), as_bytes(value)) for name, value in pairs])
    return Entries(pa.array(ids, pa.string()), pa.array(fields, MAP))
