from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="SeekPosition")


@_attrs_define
class SeekPosition:
    """Where a page of `count` entries ends.

    Example:
        {'end': '1692632094485-0', 'count': 2, 'incarnation': '9f86d081884c7d65-1'}

    """

    end: None | str
    """ The id of the page's last entry; null if there is no entry at or after the start. """
    count: int
    """ How many entries the page has; fewer than asked for at the end of the stream. """
    incarnation: None | str
    """ An opaque text that tells the stream from every other one, also from one that is created under the same key
    after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps none. """

    def to_dict(self) -> dict[str, Any]:
        end: None | str
        end = self.end

        count = self.count

        incarnation: None | str
        incarnation = self.incarnation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "end": end,
                "count": count,
                "incarnation": incarnation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_end(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        end = _parse_end(d.pop("end", None))

        count = d.pop("count")

        def _parse_incarnation(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        incarnation = _parse_incarnation(d.pop("incarnation", None))

        seek_position = cls(
            end=end,
            count=count,
            incarnation=incarnation,
        )

        return seek_position
