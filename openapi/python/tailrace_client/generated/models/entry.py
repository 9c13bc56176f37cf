from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.entry_encoding_type_0 import (
    EntryEncodingType0,
    check_entry_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.entry_fields_type_0 import EntryFieldsType0


T = TypeVar("T", bound="Entry")


@_attrs_define
class Entry:
    """An entry. It has `fields`; or `pairs`, if a name repeats or the request has `shape=pairs`.

    Example:
        {'id': '1692632086370-0', 'fields': {'rider': 'Castilla', 'speed': '30.2', 'position': '1', 'location_id': '1'}}

    """

    id: str
    """ An entry id, `ms-seq`, as a string. """
    fields: EntryFieldsType0 | None
    """ Names and values, in the order in which they were appended. """
    pairs: list[list[str]] | None
    """ Names and values as `[name, value]` pairs. """
    encoding: EntryEncodingType0 | None
    """ `base64`: all names and values are base64. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.entry_fields_type_0 import EntryFieldsType0  # noqa: PLC0415

        id = self.id

        fields: dict[str, Any] | None
        if isinstance(self.fields, EntryFieldsType0):
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
                "id": id,
                "fields": fields,
                "pairs": pairs,
                "encoding": encoding,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry_fields_type_0 import EntryFieldsType0  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        def _parse_fields(data: object) -> EntryFieldsType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fields_type_0 = EntryFieldsType0.from_dict(data)

                return fields_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EntryFieldsType0 | None, data)

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

        def _parse_encoding(data: object) -> EntryEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_entry_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EntryEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        entry = cls(
            id=id,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
        )

        return entry
