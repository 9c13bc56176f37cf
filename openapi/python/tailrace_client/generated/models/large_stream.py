from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.large_stream_encoding import (
    LargeStreamEncoding,
    check_large_stream_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="LargeStream")


@_attrs_define
class LargeStream:
    """A stream with its size.

    Example:
        {'key': 'race:france', 'bytes': 201, 'length': 3}

    """

    key: str
    """ The stream's key. """
    bytes_: int
    """ About how many bytes the entries take, most of them compressed. """
    length: int
    """ How many entries the stream has. """
    encoding: LargeStreamEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        bytes_ = self.bytes_

        length = self.length

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "bytes": bytes_,
                "length": length,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        bytes_ = d.pop("bytes")

        length = d.pop("length")

        _encoding = d.pop("encoding", UNSET)
        encoding: LargeStreamEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_large_stream_encoding(_encoding)

        large_stream = cls(
            key=key,
            bytes_=bytes_,
            length=length,
            encoding=encoding,
        )

        return large_stream
