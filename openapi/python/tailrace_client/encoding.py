"""Encode entries as NDJSON. Appends of many entries spend most of their time here.

Most entries are plain dicts of str. A chunk of such entries is checked and written by a few calls into C,
without Python code for each entry. A chunk with any other entry is written entry by entry, as complete
entries (`shape=entry`), which keeps repeated names and bytes. msgspec encodes if it is installed; otherwise
the standard library does, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeGuard

from tailrace_client.fields import BadFieldError, FieldsToAppend, wire_entry
from tailrace_client.json_lines import encode_lines


class Lines(NamedTuple):
    """A body for `entries:import`, and the shape of its lines."""

    body: bytes
    shape: Literal["fields", "entry"]


def lines_of(entries: Sequence[FieldsToAppend]) -> Lines:
    """Return the entries as NDJSON. Raises `BadFieldError`, which names the first entry that cannot be
    written."""
    if _are_plain(entries):
        try:
            return Lines(encode_lines(entries), "fields")
        except UnicodeEncodeError:
            pass  # A lone surrogate represents a byte that is not UTF-8.
    return Lines(encode_lines([_numbered(number, each) for number, each in enumerate(entries)]), "entry")


def _are_plain(entries: Sequence[FieldsToAppend]) -> TypeGuard[Sequence[dict[str, str]]]:
    """Return whether each entry is a dict of str and not empty.

    This takes one pass in C over the names and one over the values. Most entries have the same names, and the
    set of all names is small. Joining the values fails for every type other than str, and costs less than
    checking the type of each.
    """
    if set(map(type, entries)) != {dict} or not all(entries):
        return False
    names: set[object] = set().union(*entries)
    if not all(isinstance(name, str) for name in names):
        return False
    try:
        "".join(chain.from_iterable(map(dict.values, entries)))  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _numbered(number: int, fields: FieldsToAppend) -> dict[str, Any]:
    try:
        return wire_entry(fields)
    except (ValueError, TypeError) as error:
        detail = error.detail if isinstance(error, BadFieldError) else error
        raise BadFieldError(f"entry {number} of the chunk: {detail}") from None
