from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="StreamLengthReply")


@_attrs_define
class StreamLengthReply:
    """The length of a stream.

    Example:
        {'length': 3}

    """

    length: int
    """ How many entries the stream has. """

    def to_dict(self) -> dict[str, Any]:
        length = self.length

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "length": length,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        length = d.pop("length")

        stream_length_reply = cls(
            length=length,
        )

        return stream_length_reply
