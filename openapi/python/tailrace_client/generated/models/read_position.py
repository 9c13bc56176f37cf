from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.read_position_encoding import (
    ReadPositionEncoding,
    check_read_position_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ReadPosition")


@_attrs_define
class ReadPosition:
    """A stream, and the position after which to read it."""

    key: str
    """ The stream's key. """
    after: str
    """ Return entries after this id. `$`: only entries appended from now on. `+`: from the last entry on. """
    encoding: ReadPositionEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    incarnation: str | Unset = UNSET
    """ The incarnation of the stream in which an earlier read reached the position. If the stream has another one
    now, or is missing, the answer is 410 `POSITION_TRIMMED`; continue after its `next`. Empty: not known yet; then
    the answer is 410 if the last id of the stream is before the position. With it, the stream in the response has
    its `incarnation`. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        after = self.after

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        incarnation = self.incarnation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "after": after,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if incarnation is not UNSET:
            field_dict["incarnation"] = incarnation

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        after = d.pop("after")

        _encoding = d.pop("encoding", UNSET)
        encoding: ReadPositionEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_read_position_encoding(_encoding)

        incarnation = d.pop("incarnation", UNSET)

        read_position = cls(
            key=key,
            after=after,
            encoding=encoding,
            incarnation=incarnation,
        )

        return read_position
