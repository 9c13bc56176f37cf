from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.group_read_position_encoding import (
    GroupReadPositionEncoding,
    check_group_read_position_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupReadPosition")


@_attrs_define
class GroupReadPosition:
    """A stream, and which entries of it to read."""

    key: str
    """ The stream's key. """
    encoding: GroupReadPositionEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    id: str | Unset = ">"
    """ `>`: entries not yet delivered to the group. An id: the consumer's own pending entries after it. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        id = self.id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if id is not UNSET:
            field_dict["id"] = id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        _encoding = d.pop("encoding", UNSET)
        encoding: GroupReadPositionEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_group_read_position_encoding(_encoding)

        id = d.pop("id", UNSET)

        group_read_position = cls(
            key=key,
            encoding=encoding,
            id=id,
        )

        return group_read_position
