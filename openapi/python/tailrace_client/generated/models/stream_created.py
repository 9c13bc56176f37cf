from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.stream_created_encoding import (
    StreamCreatedEncoding,
    check_stream_created_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="StreamCreated")


@_attrs_define
class StreamCreated:
    """A stream that now exists, created or already there.

    Example:
        {'key': 'race:france', 'created': True}

    """

    key: str
    """ The stream's key. """
    created: bool
    """ True if the request created the stream, false if it existed already. """
    encoding: StreamCreatedEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        created = self.created

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "created": created,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        created = d.pop("created")

        _encoding = d.pop("encoding", UNSET)
        encoding: StreamCreatedEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_stream_created_encoding(_encoding)

        stream_created = cls(
            key=key,
            created=created,
            encoding=encoding,
        )

        return stream_created
