from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

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

    entries: list[Entry] | None
    """ The claimed entries; absent with `just_id`. """
    ids: list[str] | None
    """ The ids of the claimed entries; only with `just_id`. """
    cursor: str
    """ Send it as `start` of the next scan; `0-0` if the scan is complete. """
    deleted_ids: list[str]
    """ Ids of entries that are no longer in the stream. The scan removed them from the pending entries. """

    def to_dict(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] | None
        if isinstance(self.entries, list):
            entries = []
            for entries_type_0_item_data in self.entries:
                entries_type_0_item = entries_type_0_item_data.to_dict()
                entries.append(entries_type_0_item)

        else:
            entries = self.entries

        ids: list[str] | None
        if isinstance(self.ids, list):
            ids = self.ids

        else:
            ids = self.ids

        cursor = self.cursor

        deleted_ids = self.deleted_ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "entries": entries,
                "ids": ids,
                "cursor": cursor,
                "deleted_ids": deleted_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry import Entry  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_entries(data: object) -> list[Entry] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                entries_type_0 = []
                _entries_type_0 = data
                for entries_type_0_item_data in _entries_type_0:
                    entries_type_0_item = Entry.from_dict(entries_type_0_item_data)

                    entries_type_0.append(entries_type_0_item)

                return entries_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Entry] | None, data)

        entries = _parse_entries(d.pop("entries", None))

        def _parse_ids(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                ids_type_0 = cast(list[str], data)

                return ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        ids = _parse_ids(d.pop("ids", None))

        cursor = d.pop("cursor")

        deleted_ids = cast(list[str], d.pop("deleted_ids"))

        auto_claim_reply = cls(
            entries=entries,
            ids=ids,
            cursor=cursor,
            deleted_ids=deleted_ids,
        )

        return auto_claim_reply
