from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SplitPart")


@_attrs_define
class SplitPart:
    """One part of a range."""

    start: str
    """ The smallest id of the part, inclusive. """
    end: str
    """ The greatest id of the part, inclusive. """
    count: int
    """ How many entries the part has. """

    def to_dict(self) -> dict[str, Any]:
        start = self.start

        end = self.end

        count = self.count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "start": start,
                "end": end,
                "count": count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start = d.pop("start")

        end = d.pop("end")

        count = d.pop("count")

        split_part = cls(
            start=start,
            end=end,
            count=count,
        )

        return split_part
