from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.entry import Entry


T = TypeVar("T", bound="AutoClaimReply")


@_attrs_define
class AutoClaimReply:
    """The entries that a scan claimed, and where the next scan begins.

    Example:
        {'cursor': '1692632094485-0', 'entries': [{'id': '1692632086370-0', 'fields': {'rider': 'Castilla', 'speed':
            '30.2', 'position': '1', 'location_id': '1'}}], 'deleted_ids': []}

    """

    cursor: str
    """ Send it as `start` of the next scan; `0-0` if the scan is complete. """
    deleted_ids: list[str]
    """ Ids of entries that are no longer in the stream. The scan removed them from the pending entries. """
    entries: list[Entry] | Unset = UNSET
    """ The claimed entries; absent with `just_id`. """
    ids: list[str] | Unset = UNSET
    """ The ids of the claimed entries; only with `just_id`. """

    def to_dict(self) -> dict[str, Any]:
        cursor = self.cursor

        deleted_ids = self.deleted_ids

        entries: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.entries, Unset):
            entries = []
            for entries_item_data in self.entries:
                entries_item = entries_item_data.to_dict()
                entries.append(entries_item)

        ids: list[str] | Unset = UNSET
        if not isinstance(self.ids, Unset):
            ids = self.ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "cursor": cursor,
                "deleted_ids": deleted_ids,
            }
        )
        if entries is not UNSET:
            field_dict["entries"] = entries
        if ids is not UNSET:
            field_dict["ids"] = ids

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry import Entry  # noqa: PLC0415

        d = dict(src_dict)
        cursor = d.pop("cursor")

        deleted_ids = cast(list[str], d.pop("deleted_ids"))

        _entries = d.pop("entries", UNSET)
        entries: list[Entry] | Unset = UNSET
        if _entries is not UNSET:
            entries = []
            for entries_item_data in _entries:
                entries_item = Entry.from_dict(entries_item_data)

                entries.append(entries_item)

        ids = cast(list[str], d.pop("ids", UNSET))

        auto_claim_reply = cls(
            cursor=cursor,
            deleted_ids=deleted_ids,
            entries=entries,
            ids=ids,
        )

        return auto_claim_reply
