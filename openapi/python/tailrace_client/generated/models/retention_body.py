from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RetentionBody")


@_attrs_define
class RetentionBody:
    """The rules by which the server removes the oldest entries of a stream. An entry goes if one rule removes
    it. At least one rule other than `protect_unread` is needed.

        Example:
            {'max_age_ms': 604800000, 'protect_unread': True}

    """

    max_age_ms: int | Unset = UNSET
    """ How long an entry is kept, in milliseconds, from the time in its id on. """
    max_length: int | Unset = UNSET
    """ How many entries are kept. """
    max_bytes: int | Unset = UNSET
    """ How many bytes of entries are kept, as compact JSON before compression. Whole blocks are removed; the last
    block stays. """
    acknowledged: bool | Unset = False
    """ Whether to remove entries that every group has read and acknowledged, up to the first one that a group has
    not. A stream without groups keeps all. """
    protect_unread: bool | Unset = False
    """ Whether to keep entries that a group has not read, whatever the other rules say. """

    def to_dict(self) -> dict[str, Any]:
        max_age_ms = self.max_age_ms

        max_length = self.max_length

        max_bytes = self.max_bytes

        acknowledged = self.acknowledged

        protect_unread = self.protect_unread

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_age_ms is not UNSET:
            field_dict["max_age_ms"] = max_age_ms
        if max_length is not UNSET:
            field_dict["max_length"] = max_length
        if max_bytes is not UNSET:
            field_dict["max_bytes"] = max_bytes
        if acknowledged is not UNSET:
            field_dict["acknowledged"] = acknowledged
        if protect_unread is not UNSET:
            field_dict["protect_unread"] = protect_unread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        max_age_ms = d.pop("max_age_ms", UNSET)

        max_length = d.pop("max_length", UNSET)

        max_bytes = d.pop("max_bytes", UNSET)

        acknowledged = d.pop("acknowledged", UNSET)

        protect_unread = d.pop("protect_unread", UNSET)

        retention_body = cls(
            max_age_ms=max_age_ms,
            max_length=max_length,
            max_bytes=max_bytes,
            acknowledged=acknowledged,
            protect_unread=protect_unread,
        )

        return retention_body
