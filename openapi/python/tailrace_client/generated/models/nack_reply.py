from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="NackReply")


@_attrs_define
class NackReply:
    """The result of a nack.

    Example:
        {'nacked': 1}

    """

    nacked: int
    """ How many entries were returned; they now have no owner. """

    def to_dict(self) -> dict[str, Any]:
        nacked = self.nacked

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "nacked": nacked,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        nacked = d.pop("nacked")

        nack_reply = cls(
            nacked=nacked,
        )

        return nack_reply
