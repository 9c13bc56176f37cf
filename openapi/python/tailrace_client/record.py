"""Records: the results that have the members of one JSON object of a response.

`replies` has the records. This module reads them from JSON by the types of their members, and knows none of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, NamedTuple, Self, get_args, get_origin, get_type_hints

Conversion = Callable[[Any], Any]


class Record:
    """A frozen object with the members of a JSON object. The name of a member that is also a name of Python
    ends with `_` in Python."""

    __slots__ = ()

    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Self:
        """Return the record of a JSON object. An absent member is None if the server may omit it, and
        otherwise raises `KeyError`. Unknown members are ignored."""
        record: Self = _read(cls, members)
        return record

    def to_dict(self) -> dict[str, Any]:
        """Return the members by their names in JSON, as JSON values."""
        members: dict[str, Any] = _plain(self)
        return members


class _Member(NamedTuple):
    attribute: str
    name: str
    is_required: bool
    convert: Conversion | None


@cache
def _members(record: Any) -> tuple[_Member, ...]:
    """Return the members of a class, which may be written by hand."""
    types = get_type_hints(record)
    return tuple(
        _Member(each.name, each.name.rstrip("_"), each.default is MISSING, _conversion(types[each.name]))
        for each in fields(record)
    )


def _read(record: Any, members: Mapping[str, Any]) -> Any:
    values = {
        each.attribute: (members[each.name] if each.is_required else members.get(each.name), each.convert)
        for each in _members(record)
    }
    return record(
        **{
            attribute: value if value is None or convert is None else convert(value)
            for attribute, (value, convert) in values.items()
        }
    )


def _conversion(type_: Any) -> Conversion | None:
    """Return the function from JSON to a value of this type; None if they are the same."""
    if get_origin(type_) is UnionType:
        return _conversion(get_args(type_)[0])
    if get_origin(type_) is list:
        convert = _conversion(get_args(type_)[0])
        return None if convert is None else lambda values: [convert(each) for each in values]
    return partial(_read, type_) if is_dataclass(type_) else None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        record: Any = type(value)
        return {each.name: _plain(getattr(value, each.attribute)) for each in _members(record)}
    return value
