from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.stream_item_encoding import StreamItemEncoding, check_stream_item_encoding
from ..types import UNSET, Unset

T = TypeVar("T", bound="StreamItem")


@_attrs_define
class StreamItem:
    """A stream in a listing."""

    key: str
    """ The stream's key. """
    length: int
    """ How many entries the stream has. """
    last_id: str
    """ The last id that the stream issued. """
    entries_added: int
    """ How many entries were ever added. """
    groups: int
    """ How many consumer groups the stream has. """
    encoding: StreamItemEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        length = self.length

        last_id = self.last_id

        entries_added = self.entries_added

        groups = self.groups

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "length": length,
                "last_id": last_id,
                "entries_added": entries_added,
                "groups": groups,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        key = d.pop("key")

        length = d.pop("length")

        last_id = d.pop("last_id")

        entries_added = d.pop("entries_added")

        groups = d.pop("groups")

        _encoding = d.pop("encoding", UNSET)
        encoding: StreamItemEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_stream_item_encoding(_encoding)

        stream_item = cls(
            key=key,
            length=length,
            last_id=last_id,
            entries_added=entries_added,
            groups=groups,
            encoding=encoding,
        )

        return stream_item
