from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.delivered_entry_encoding_type_0 import (
    DeliveredEntryEncodingType0,
    check_delivered_entry_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.delivered_entry_fields_type_0 import DeliveredEntryFieldsType0


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
    fields: DeliveredEntryFieldsType0 | None
    """ Names and values, in the order in which they were appended. """
    pairs: list[list[str]] | None
    """ Names and values as `[name, value]` pairs. """
    encoding: DeliveredEntryEncodingType0 | None
    """ `base64`: all names and values are base64. """
    deleted: bool | None
    """ True if the entry was deleted from the stream while it was pending; otherwise absent. """
    idle_ms: int
    """ Milliseconds between the previous delivery and this one; 0 for a new entry. """
    deliveries: int
    """ How often the entry was delivered before; 0 for a new entry. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.delivered_entry_fields_type_0 import DeliveredEntryFieldsType0  # noqa: PLC0415

        id = self.id

        fields: dict[str, Any] | None
        if isinstance(self.fields, DeliveredEntryFieldsType0):
            fields = self.fields.to_dict()
        else:
            fields = self.fields

        pairs: list[list[str]] | None
        if isinstance(self.pairs, list):
            pairs = []
            for pairs_type_0_item_data in self.pairs:
                pairs_type_0_item = pairs_type_0_item_data

                pairs.append(pairs_type_0_item)

        else:
            pairs = self.pairs

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        deleted: bool | None
        deleted = self.deleted

        idle_ms = self.idle_ms

        deliveries = self.deliveries

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "fields": fields,
                "pairs": pairs,
                "encoding": encoding,
                "deleted": deleted,
                "idle_ms": idle_ms,
                "deliveries": deliveries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivered_entry_fields_type_0 import DeliveredEntryFieldsType0  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        def _parse_fields(data: object) -> DeliveredEntryFieldsType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fields_type_0 = DeliveredEntryFieldsType0.from_dict(data)

                return fields_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeliveredEntryFieldsType0 | None, data)

        fields = _parse_fields(d.pop("fields", None))

        def _parse_pairs(data: object) -> list[list[str]] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                pairs_type_0 = []
                _pairs_type_0 = data
                for pairs_type_0_item_data in _pairs_type_0:
                    pairs_type_0_item = cast(list[str], pairs_type_0_item_data)

                    pairs_type_0.append(pairs_type_0_item)

                return pairs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[list[str]] | None, data)

        pairs = _parse_pairs(d.pop("pairs", None))

        def _parse_encoding(data: object) -> DeliveredEntryEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_delivered_entry_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DeliveredEntryEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        def _parse_deleted(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        deleted = _parse_deleted(d.pop("deleted", None))

        idle_ms = d.pop("idle_ms")

        deliveries = d.pop("deliveries")

        delivered_entry = cls(
            id=id,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
            deleted=deleted,
            idle_ms=idle_ms,
            deliveries=deliveries,
        )

        return delivered_entry
