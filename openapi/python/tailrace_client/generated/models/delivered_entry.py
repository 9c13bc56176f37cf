from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.delivered_entry_encoding import (
    DeliveredEntryEncoding,
    check_delivered_entry_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.delivered_entry_fields import DeliveredEntryFields


T = TypeVar("T", bound="DeliveredEntry")


@_attrs_define
class DeliveredEntry:
    """An entry as a consumer receives it. A pending entry that was deleted from the stream has no fields.

    Example:
        {'id': '1692632102976-0', 'fields': {'rider': 'Prickett', 'speed': '29.7', 'position': '2', 'location_id': '1'},
            'idle_ms': 0, 'deliveries': 0}

    """

    id: str
    """ An entry id, `ms-seq`, as a string. """
    idle_ms: int
    """ Milliseconds between the previous delivery and this one; 0 for a new entry. """
    deliveries: int
    """ How often the entry was delivered before; 0 for a new entry. """
    fields: DeliveredEntryFields | Unset = UNSET
    """ Names and values, in the order in which they were appended. """
    pairs: list[list[str]] | Unset = UNSET
    """ Names and values as `[name, value]` pairs. """
    encoding: DeliveredEntryEncoding | Unset = UNSET
    """ `base64`: all names and values are base64. """
    deleted: bool | Unset = UNSET
    """ True if the entry was deleted from the stream while it was pending; otherwise absent. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        idle_ms = self.idle_ms

        deliveries = self.deliveries

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

        deleted = self.deleted

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "idle_ms": idle_ms,
                "deliveries": deliveries,
            }
        )
        if fields is not UNSET:
            field_dict["fields"] = fields
        if pairs is not UNSET:
            field_dict["pairs"] = pairs
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if deleted is not UNSET:
            field_dict["deleted"] = deleted

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivered_entry_fields import DeliveredEntryFields  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        idle_ms = d.pop("idle_ms")

        deliveries = d.pop("deliveries")

        _fields = d.pop("fields", UNSET)
        fields: DeliveredEntryFields | Unset
        if isinstance(_fields, Unset):
            fields = UNSET
        else:
            fields = DeliveredEntryFields.from_dict(_fields)

        _pairs = d.pop("pairs", UNSET)
        pairs: list[list[str]] | Unset = UNSET
        if _pairs is not UNSET:
            pairs = []
            for pairs_item_data in _pairs:
                pairs_item = cast(list[str], pairs_item_data)

                pairs.append(pairs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: DeliveredEntryEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_delivered_entry_encoding(_encoding)

        deleted = d.pop("deleted", UNSET)

        delivered_entry = cls(
            id=id,
            idle_ms=idle_ms,
            deliveries=deliveries,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
            deleted=deleted,
        )

        return delivered_entry
