from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.entry_to_append_encoding import (
    EntryToAppendEncoding,
    check_entry_to_append_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.entry_to_append_fields import EntryToAppendFields


T = TypeVar("T", bound="EntryToAppend")


@_attrs_define
class EntryToAppend:
    """One entry of a batch, or one line of an import with `shape=entry`."""

    fields: EntryToAppendFields | Unset = UNSET
    """ Names and values, in this order. Each name must be unique; use `pairs` to repeat a name. """
    pairs: list[list[str]] | Unset = UNSET
    """ Names and values as `[name, value]` pairs; names may repeat. """
    encoding: EntryToAppendEncoding | Unset = UNSET
    """ `base64`: all names and values of this entry are base64, so they can hold any bytes. """
    id: str | Unset = UNSET
    """ The id: `ms-seq`, `ms`, or `ms-*`. With `*` (the default) the server chooses the id. """

    def to_dict(self) -> dict[str, Any]:
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

        id = self.id

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if fields is not UNSET:
            field_dict["fields"] = fields
        if pairs is not UNSET:
            field_dict["pairs"] = pairs
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if id is not UNSET:
            field_dict["id"] = id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry_to_append_fields import EntryToAppendFields  # noqa: PLC0415

        d = dict(src_dict)
        _fields = d.pop("fields", UNSET)
        fields: EntryToAppendFields | Unset
        if isinstance(_fields, Unset):
            fields = UNSET
        else:
            fields = EntryToAppendFields.from_dict(_fields)

        _pairs = d.pop("pairs", UNSET)
        pairs: list[list[str]] | Unset = UNSET
        if _pairs is not UNSET:
            pairs = []
            for pairs_item_data in _pairs:
                pairs_item = cast(list[str], pairs_item_data)

                pairs.append(pairs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: EntryToAppendEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_entry_to_append_encoding(_encoding)

        id = d.pop("id", UNSET)

        entry_to_append = cls(
            fields=fields,
            pairs=pairs,
            encoding=encoding,
            id=id,
        )

        return entry_to_append
