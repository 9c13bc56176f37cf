"""Finds a member that is repeated in an object of JSON: every decoder keeps the last value and says nothing.

A program that checks a request before the server, such as a proxy, may keep the first value. So a body with a
repeated member is malformed. The names within `fields` are data, and have a rule of their own
(`core.log.entry`).

The exact search takes as long as decoding. So each decoder first compares what it kept with the size of the
text, which proves for nearly all bodies that nothing was dropped: see `require_unique`, `keeps_members` and
`require_unique_in_model`.
"""

from __future__ import annotations

from json import JSONDecoder
from typing import Any, Final

import msgspec
from pydantic import BaseModel

from tailrace.api.problems.table import HttpCode, RequestRefused

REPETITION_BYTES_MIN: Final = 20
"""The bytes that an object of an append has at least, in addition to its largest value, if a member repeats:
``{"pairs":,"pairs":1}``."""

_MEMBER_BYTES_MIN: Final = 7
"""The bytes of the shortest member that msgspec decodes, with a comma: ``"id":1,``."""

_PLAIN: Final = frozenset({str, int, list, tuple})
"""Types of the items of long arrays, which are no objects."""

_SPACE: Final = b" \t\r\n"

_DATA: Final = "fields"
"""The member whose object has names that a client chose."""

_encode: Final = msgspec.json.Encoder().encode


class _Repeated(Exception):
    """Some object has a repeated member."""


class _Members(list[tuple[str, Any]]):
    """The members of an object, in their order."""


def _require_dict(members: list[tuple[str, Any]]) -> None:
    if len(dict(members)) != len(members):
        raise _Repeated


# Numbers stay text: their values do not matter, and a long one would take long.
_search: Final = JSONDecoder(
    object_pairs_hook=_require_dict, parse_int=str, parse_float=str, parse_constant=str
).decode
_decode: Final = JSONDecoder(
    object_pairs_hook=_Members, parse_int=str, parse_float=str, parse_constant=str
).decode


def repeated_member(raw: bytes) -> str | None:
    """Return the JSON pointer of a repeated member, None if none repeats. `raw` is JSON. O(bytes)."""
    try:
        _search(raw.decode())
    except _Repeated:
        return _repeated_in(_decode(raw.decode()), "")
    except (RecursionError, ValueError):  # the decoder of the body describes such a mistake
        return None
    return None


def _repeated_in(value: Any, place: str) -> str | None:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for name, member in value:
            where = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in seen:
                return where
            seen.add(name)
            is_data = name == _DATA and isinstance(member, _Members)
            found = None if is_data else _repeated_in(member, where)
            if found is not None:
                return found
    elif isinstance(value, list):
        places = (_repeated_in(item, f"{place}/{number}") for number, item in enumerate(value))
        return next((found for found in places if found is not None), None)
    return None


def require_unique(raw: bytes, value: bytes = b"") -> None:
    """Raise `RequestRefused` 400 if a member repeats. `value`: the text of the value that takes most of `raw`
    and has its own rule. O(1) if `raw` has little else, otherwise O(bytes)."""
    if value:
        if len(raw) - len(value) < REPETITION_BYTES_MIN:
            return
        raw = raw.replace(value, b"0", 1)
    place = repeated_member(raw)
    if place is not None:
        raise repetition(place)


def repetition(place: str) -> RequestRefused:
    """Return the error for a repeated member. `place`: its JSON pointer."""
    text = "a member is given more than once; give it once"
    error = {"pointer": place, "detail": text}
    return RequestRefused(HttpCode.MALFORMED_BODY, f"{place or 'the body'}: {text}", errors=[error])


def keeps_members(raw: bytes, kept: object) -> bool:
    """Return whether `kept`, which msgspec decoded from `raw`, certainly has all members: its JSON is nearly
    as long, or has as many strings. May be False although nothing was dropped. O(bytes) in C.

    A number with a fraction could be longer than in `raw`, but no object has one.
    """
    encoded = _encode(kept)
    return len(raw) - len(encoded) < _MEMBER_BYTES_MIN or _string_count(raw) == _string_count(encoded)


def _string_count(text: bytes) -> int:
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return text.count(b'"')


def require_unique_in_model(raw: bytes, body: BaseModel) -> None:
    """Raise `RequestRefused` 400 if a member repeats in `raw`, which was decoded as `body`.

    Every member has a colon, so few colons prove that no member was dropped. O(bytes) in C, and O(objects).
    """
    if raw.count(b":") == len(body.model_fields_set):
        return
    if raw.translate(None, _SPACE).count(b'":') != _member_count(body):
        require_unique(raw)


def _member_count(body: BaseModel) -> int:
    """Return the number of given members, also of objects in an array. Too few if some are elsewhere."""
    count = len(body.__pydantic_fields_set__)
    for value in body.__dict__.values():
        if type(value) is list and value and type(value[0]) not in _PLAIN:
            count += sum([len(item.__pydantic_fields_set__) for item in value if isinstance(item, BaseModel)])
    return count
