from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.entry import Entry


T = TypeVar("T", bound="RangePage")


@_attrs_define
class RangePage:
    """A page of entries.

    Example:
        {'entries': [{'id': '1692632086370-0', 'fields': {'rider': 'Castilla', 'speed': '30.2', 'position': '1',
            'location_id': '1'}}], 'next': '1692632086370-0'}

    """

    entries: list[Entry]
    """ The entries, in the order asked for. """
    next_: None | str
    """ The id of the page's last entry if more entries follow in the range, else null. For the next page send
    `start=(next`, or `end=(next` with `order=desc`. In a read with `after`, `next` is always an id (also if `after`
    was `$`): send it as the next `after`. With `filter`, a page with `next` can have no entries. """
    scanned: int | None
    """ With `filter`: how many entries this request examined. `next` is then the last one. """
    matched: int | None
    """ With `filter`: how many of them match; all are in `entries`. """

    def to_dict(self) -> dict[str, Any]:
        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        next_: None | str
        next_ = self.next_

        scanned: int | None
        scanned = self.scanned

        matched: int | None
        matched = self.matched

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "entries": entries,
                "next": next_,
                "scanned": scanned,
                "matched": matched,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry import Entry  # noqa: PLC0415

        d = dict(src_dict)
        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = Entry.from_dict(entries_item_data)

            entries.append(entries_item)

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next", None))

        def _parse_scanned(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        scanned = _parse_scanned(d.pop("scanned", None))

        def _parse_matched(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        matched = _parse_matched(d.pop("matched", None))

        range_page = cls(
            entries=entries,
            next_=next_,
            scanned=scanned,
            matched=matched,
        )

        return range_page
