from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.entry_encoding import EntryEncoding, check_entry_encoding
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.entry_fields import EntryFields


T = TypeVar("T", bound="Entry")


@_attrs_define
class Entry:
    """An entry. It has `fields`; or `pairs`, if a name repeats or the request has `shape=pairs`.

    Example:
        {'id': '1692632086370-0', 'fields': {'rider': 'Castilla', 'speed': '30.2', 'position': '1', 'location_id': '1'}}

    """

    id: str
    """ An entry id, `ms-seq`, as a string. """
    fields: EntryFields | Unset = UNSET
    """ Names and values, in the order in which they were appended. """
    pairs: list[list[str]] | Unset = UNSET
    """ Names and values as `[name, value]` pairs. """
    encoding: EntryEncoding | Unset = UNSET
    """ `base64`: all names and values are base64. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

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
                "id": id,
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
        from ..models.entry_fields import EntryFields  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        _fields = d.pop("fields", UNSET)
        fields: EntryFields | Unset
        if isinstance(_fields, Unset):
            fields = UNSET
        else:
            fields = EntryFields.from_dict(_fields)

        _pairs = d.pop("pairs", UNSET)
        pairs: list[list[str]] | Unset = UNSET
        if _pairs is not UNSET:
            pairs = []
            for pairs_item_data in _pairs:
                pairs_item = cast(list[str], pairs_item_data)

                pairs.append(pairs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: EntryEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_entry_encoding(_encoding)

        entry = cls(
            id=id,
            fields=fields,
            pairs=pairs,
            encoding=encoding,
        )

        return entry
