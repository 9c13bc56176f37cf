from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.scheduled_entry_encoding import (
    ScheduledEntryEncoding,
    check_scheduled_entry_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.scheduled_entry_fields import ScheduledEntryFields


T = TypeVar("T", bound="ScheduledEntry")


@_attrs_define
class ScheduledEntry:
    """An entry that is not appended yet. It has `fields`, or `pairs`, as other entries.

    Example:
        {'scheduled_id': 's1692632207973-1692632147973000', 'deliver_at_ms': 1692632207973, 'fields': {'rider':
            'Castilla', 'speed': '29.9', 'position': '1', 'location_id': '2'}}

    """

    scheduled_id: str
    """ The scheduled id: an opaque text, not an entry id. It can cancel the entry. """
    deliver_at_ms: int
    """ When the entry is appended, in Unix milliseconds. """
    fields: ScheduledEntryFields | Unset = UNSET
    """ Names and values, in the order of the request. """
    pairs: list[list[str]] | Unset = UNSET
    """ Names and values as `[name, value]` pairs. """
    encoding: ScheduledEntryEncoding | Unset = UNSET
    """ `base64`: all names and values are base64. """

    def to_dict(self) -> dict[str, Any]:
        scheduled_id = self.scheduled_id

        deliver_at_ms = self.deliver_at_ms

        fields: dict[str, Any] | Unset = UNSET
        if not isinstance(self.fields, Unset):
            fields = self.fields.to_dict()

        pairs: list[list[str]] | Unset = UNSET
        if not isinstance(self.pairs, Unset):
            pairs = []
            for pairs_item_data in self.pairs:
                pairs_item = pairs_item_data

                pairs.append(pairs_item)

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "scheduled_id": scheduled_id,
                "deliver_at_ms": deliver_at_ms,
            }
        )
        if fields is not UNSET:
            field_dict["fields"] = fields
        if pairs is not UNSET:
            field_dict["pairs"] = pairs
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.scheduled_entry_fields import ScheduledEntryFields  # noqa: PLC0415

        d = dict(src_dict)
        scheduled_id = d.pop("scheduled_id")

        deliver_at_ms = d.pop("deliver_at_ms")

        _fields = d.pop("fields", UNSET)
        fields: ScheduledEntryFields | Unset
        if isinstance(_fields, Unset):
            fields = UNSET
        else:
            fields = ScheduledEntryFields.from_dict(_fields)

        _pairs = d.pop("pairs", UNSET)
        pairs: list[list[str]] | Unset = UNSET
        if _pairs is not UNSET:
            pairs = []
            for pairs_item_data in _pairs:
                pairs_item = cast(list[str], pairs_item_data)

                pairs.append(pairs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: ScheduledEntryEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_scheduled_entry_encoding(_encoding)

        scheduled_entry = cls(
            scheduled_id=scheduled_id,
            deliver_at_ms=deliver_at_ms,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
        )

        return scheduled_entry
