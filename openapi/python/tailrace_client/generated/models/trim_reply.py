from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="TrimReply")


@_attrs_define
class TrimReply:
    """How much a trim removed.

    Example:
        {'trimmed': 1}

    """

    trimmed: int
    """ Entries removed. """

    def to_dict(self) -> dict[str, Any]:
        trimmed = self.trimmed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "trimmed": trimmed,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        trimmed = d.pop("trimmed")

        trim_reply = cls(
            trimmed=trimmed,
        )

        return trim_reply
