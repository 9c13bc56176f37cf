from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.scheduled_entry_encoding_type_0 import (
    ScheduledEntryEncodingType0,
    check_scheduled_entry_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.scheduled_entry_fields_type_0 import ScheduledEntryFieldsType0


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
    fields: None | ScheduledEntryFieldsType0
    """ Names and values, in the order of the request. """
    pairs: list[list[str]] | None
    """ Names and values as `[name, value]` pairs. """
    encoding: None | ScheduledEntryEncodingType0
    """ `base64`: all names and values are base64. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.scheduled_entry_fields_type_0 import ScheduledEntryFieldsType0  # noqa: PLC0415

        scheduled_id = self.scheduled_id

        deliver_at_ms = self.deliver_at_ms

        fields: dict[str, Any] | None
        if isinstance(self.fields, ScheduledEntryFieldsType0):
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

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "scheduled_id": scheduled_id,
                "deliver_at_ms": deliver_at_ms,
                "fields": fields,
                "pairs": pairs,
                "encoding": encoding,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.scheduled_entry_fields_type_0 import ScheduledEntryFieldsType0  # noqa: PLC0415

        d = dict(src_dict)
        scheduled_id = d.pop("scheduled_id")

        deliver_at_ms = d.pop("deliver_at_ms")

        def _parse_fields(data: object) -> None | ScheduledEntryFieldsType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fields_type_0 = ScheduledEntryFieldsType0.from_dict(data)

                return fields_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScheduledEntryFieldsType0, data)

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

        def _parse_encoding(data: object) -> None | ScheduledEntryEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_scheduled_entry_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ScheduledEntryEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        scheduled_entry = cls(
            scheduled_id=scheduled_id,
            deliver_at_ms=deliver_at_ms,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
        )

        return scheduled_entry
