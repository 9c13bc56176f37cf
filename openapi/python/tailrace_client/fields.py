"""Convert the fields of an entry between Python and JSON, without loss.

The server stores ordered pairs of byte strings, and names can repeat. In Python, fields are a `dict` of `str`
if that can represent them. If a name repeats or a value is not UTF-8, they are an `ExactFields`: also a dict,
for programs that can ignore the difference, with the exact pairs as an attribute. An append accepts what a
read returns, and both entries are then equal.

This module owns the conversion in both directions. `encoding` decides how entries are combined to requests,
and `json_lines` chooses the JSON library.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tailrace_client.errors import INVALID_ARGUMENT, TailraceError

Text: TypeAlias = str | bytes
Pairs: TypeAlias = Iterable[tuple[Text, Text]]
FieldsToAppend: TypeAlias = (
    Mapping[str, str]
    | Mapping[str, bytes]
    | Mapping[bytes, bytes]
    | Mapping[str, Text]
    | Mapping[Text, Text]
    | Pairs
)
"""The fields that an append accepts: a mapping, or pairs if a name is repeated. Values are `str` or `bytes`;
the program converts numbers to text."""

Fields: TypeAlias = dict[str, str]
"""The fields that a read returns. Check for `ExactFields` if names can repeat or values can be binary."""


class ExactFields(dict[str, str]):
    """Fields that a dict of str cannot represent exactly.

    `pairs`: names and values as bytes, in order, including repeated names. The dict contains the last value
    of a repeated name. Bytes that are not UTF-8 are lone surrogates in the dict, as in Python's own file
    names (`value.encode("utf-8", "surrogateescape")` returns the bytes).
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs = tuple(pairs)
        super().__init__((_text(name), _text(value)) for name, value in self.pairs)


class BadFieldError(TailraceError, ValueError):
    """Fields are empty, or contain a name or value that is neither str nor bytes. The request with these
    fields was not sent. The code is `INVALID_ARGUMENT`."""

    def __init__(self, detail: str) -> None:
        super().__init__(INVALID_ARGUMENT, detail)


def fields_of(entry: Mapping[str, Any]) -> Fields:
    """Return the fields of an entry from its JSON form: `fields` or `pairs`, possibly in base64. They are
    empty if the entry was deleted."""
    pairs = entry.get("pairs")
    if pairs is None:
        fields: dict[str, str] = entry.get("fields") or {}
        if entry.get("encoding") is None:
            return fields
        pairs = fields.items()
    if entry.get("encoding") == "base64":
        return ExactFields((b64decode(name), b64decode(value)) for name, value in pairs)
    return ExactFields((name.encode(), value.encode()) for name, value in pairs)


def wire_entry(fields: FieldsToAppend) -> dict[str, Any]:
    """Return the JSON form of an entry: `fields` if that can represent it, otherwise `pairs`, in base64 if
    necessary.

    Raises `BadFieldError`.
    """
    pairs = _pairs_of(fields)
    if not pairs:
        raise BadFieldError("the entry has no fields; it needs at least one")
    try:
        texts = [(_strict_text(name), _strict_text(value)) for name, value in pairs]
    except UnicodeError:
        encoded = [[_base64(name), _base64(value)] for name, value in pairs]
        return {"pairs": encoded, "encoding": "base64"}
    unique = dict(texts)
    return {"fields": unique} if len(unique) == len(texts) else {"pairs": texts}


def _pairs_of(fields: FieldsToAppend) -> list[tuple[Text, Text]]:
    if isinstance(fields, ExactFields):
        return list(fields.pairs)
    _require_pairs(fields)
    pairs: list[tuple[Text, Text]] = list(fields.items() if isinstance(fields, Mapping) else fields)
    for pair in pairs:
        _require_pair(pair)
        name, value = pair
        _require_text(name, f"the name {name!r}")
        _require_text(value, f"the value of {name!r}")
    return pairs


def _require_pairs(fields: object) -> None:
    # A text is iterable too, and a text of two characters would be a pair.
    if isinstance(fields, str | bytes) or not isinstance(fields, Iterable):
        raise BadFieldError(
            f"the entry {fields!r} is of type {type(fields).__name__}; it must be a mapping of names to "
            "values, or pairs of a name and a value"
        )


def _require_pair(pair: object) -> None:
    if not isinstance(pair, tuple | list) or len(pair) != 2:  # noqa: PLR2004 - a name and a value
        raise BadFieldError(f"{pair!r} is not a pair of a name and a value")


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str | bytes):
        raise BadFieldError(f"{what} is of type {type(value).__name__}; it must be str or bytes")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _strict_text(value: Text) -> str:
    """Return the value as str. Raises `UnicodeError` if it is not valid UTF-8."""
    if isinstance(value, bytes):
        return value.decode()
    value.encode()
    return value


def _base64(value: Text) -> str:
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    return b64encode(raw).decode()
