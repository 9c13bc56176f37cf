"""Entries into NDJSON: the hot way out of Python.

Most entries are plain dicts of str. Then a whole chunk is checked and written by a handful of calls into C,
and no Python code runs for an entry. A chunk that holds anything else is written entry by entry, as whole
entries (`shape=entry`), so that repeated names and bytes go through as they are. Where msgspec is installed
it encodes; the standard library does otherwise, with the same outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeGuard

from tailrace_client.fields import BadFieldError, FieldsToAppend, wire_entry
from tailrace_client.json_lines import encode_lines


class Lines(NamedTuple):
    """A body for `entries:import`, and what its lines are."""

    body: bytes
    shape: Literal["fields", "entry"]


def lines_of(entries: Sequence[FieldsToAppend]) -> Lines:
    """Those entries as NDJSON. Raises `BadFieldError`, which names the first that cannot be written."""
    if _are_plain(entries):
        try:
            return Lines(encode_lines(entries), "fields")
        except UnicodeEncodeError:
            pass  # a lone surrogate: bytes that are not UTF-8, read from elsewhere
    return Lines(encode_lines([_numbered(number, each) for number, each in enumerate(entries)]), "entry")


def _are_plain(entries: Sequence[FieldsToAppend]) -> TypeGuard[Sequence[dict[str, str]]]:
    """Whether each is a dict of str and not empty. One pass in C over names and one over values: joining
    refuses whatever is not str, and costs less than asking each for its type."""
    if set(map(type, entries)) != {dict} or not all(entries):
        return False
    try:
        "".join(chain.from_iterable(entries))  # type: ignore[arg-type] # whether they are str is the question
        "".join(chain.from_iterable(map(dict.values, entries)))  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _numbered(number: int, fields: FieldsToAppend) -> dict[str, Any]:
    try:
        return wire_entry(fields)
    except (ValueError, TypeError) as error:
        raise BadFieldError(f"entry {number} of the chunk: {error}") from None
