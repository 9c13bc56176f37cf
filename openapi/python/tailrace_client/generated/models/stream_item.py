from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.stream_item_encoding_type_0 import (
    StreamItemEncodingType0,
    check_stream_item_encoding_type_0,
)

T = TypeVar("T", bound="StreamItem")


@_attrs_define
class StreamItem:
    """A stream in a listing."""

    key: str
    """ The stream's key. """
    encoding: None | StreamItemEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    length: int
    """ How many entries the stream has. """
    last_id: str
    """ The last id that the stream issued. """
    entries_added: int
    """ How many entries were ever added. """
    groups: int
    """ How many consumer groups the stream has. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        length = self.length

        last_id = self.last_id

        entries_added = self.entries_added

        groups = self.groups

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "length": length,
                "last_id": last_id,
                "entries_added": entries_added,
                "groups": groups,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> None | StreamItemEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_stream_item_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamItemEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        length = d.pop("length")

        last_id = d.pop("last_id")

        entries_added = d.pop("entries_added")

        groups = d.pop("groups")

        stream_item = cls(
            key=key,
            encoding=encoding,
            length=length,
            last_id=last_id,
            entries_added=entries_added,
            groups=groups,
        )

        return stream_item
