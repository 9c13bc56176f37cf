from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.stream_created_encoding_type_0 import (
    StreamCreatedEncodingType0,
    check_stream_created_encoding_type_0,
)

T = TypeVar("T", bound="StreamCreated")


@_attrs_define
class StreamCreated:
    """A stream that now exists, created or already there.

    Example:
        {'key': 'race:france', 'created': True}

    """

    key: str
    """ The stream's key. """
    encoding: None | StreamCreatedEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    created: bool
    """ True if the request created the stream, false if it existed already. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        created = self.created

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "created": created,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> None | StreamCreatedEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_stream_created_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamCreatedEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        created = d.pop("created")

        stream_created = cls(
            key=key,
            encoding=encoding,
            created=created,
        )

        return stream_created
