"""An entry's fields, between Python and JSON, without loss.

The server keeps pairs of byte strings, in order; names may repeat. In Python that is a `dict` of `str`
wherever one holds it. Where it cannot (a name repeats, or something is not UTF-8) it is an `ExactFields`: a
dict too, for those who do not care, with the exact pairs beside it. What a read yields, an append takes, and
both entries are the same.

It owns that mapping in both directions. How many entries make a request, and libraries for JSON, are
`encoding`'s and `decoding`'s.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

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
"""What an append takes: a mapping, or pairs where a name is to repeat. Values are `str` or `bytes`: a number
is the program's to write as text."""

Fields: TypeAlias = dict[str, str]
"""What a read gives; look for an `ExactFields` where names may repeat or values may be binary."""


class ExactFields(dict[str, str]):
    """Fields that a dict of str cannot hold exactly.

    `pairs`: names and values as bytes, in order, repeated names included. As a dict, the last value of a
    repeated name stands, and bytes that are not UTF-8 are lone surrogates, as in Python's own file names
    (`value.encode("utf-8", "surrogateescape")` gives them back).
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs = tuple(pairs)
        super().__init__((_text(name), _text(value)) for name, value in self.pairs)


class BadFieldError(ValueError):
    """Fields that are neither text nor bytes, or none; nothing was sent of the request that holds them."""


def fields_of(entry: Mapping[str, Any]) -> Fields:
    """The fields of an entry as JSON has it: `fields` or `pairs`, perhaps in base64. Empty where it was
    deleted."""
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
    """The entry as requests have it: `fields` where that holds it, else `pairs`, in base64 if it must be.

    Raises `BadFieldError`.
    """
    pairs = _pairs_of(fields)
    if not pairs:
        raise BadFieldError("an entry needs at least one field")
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
    pairs: list[tuple[Text, Text]] = list(fields.items() if isinstance(fields, Mapping) else fields)
    for name, value in pairs:
        _require_text(name, f"the name {name!r}")
        _require_text(value, f"the value of {name!r}")
    return pairs


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str | bytes):
        raise BadFieldError(f"{what} is of type {type(value).__name__}: str or bytes is needed")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _strict_text(value: Text) -> str:
    """Raises `UnicodeError` where it is not UTF-8, nor can become it."""
    if isinstance(value, bytes):
        return value.decode()
    value.encode()
    return value


def _base64(value: Text) -> str:
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    return b64encode(raw).decode()
