from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.large_stream_encoding_type_0 import (
    LargeStreamEncodingType0,
    check_large_stream_encoding_type_0,
)

T = TypeVar("T", bound="LargeStream")


@_attrs_define
class LargeStream:
    """A stream with its size.

    Example:
        {'key': 'race:france', 'bytes': 201, 'length': 3}

    """

    key: str
    """ The stream's key. """
    encoding: LargeStreamEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    bytes_: int
    """ About how many bytes the entries take, most of them compressed. """
    length: int
    """ How many entries the stream has. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        bytes_ = self.bytes_

        length = self.length

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "bytes": bytes_,
                "length": length,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> LargeStreamEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_large_stream_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LargeStreamEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        bytes_ = d.pop("bytes")

        length = d.pop("length")

        large_stream = cls(
            key=key,
            encoding=encoding,
            bytes_=bytes_,
            length=length,
        )

        return large_stream
