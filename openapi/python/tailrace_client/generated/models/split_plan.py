from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.split_part import SplitPart


T = TypeVar("T", bound="SplitPlan")


@_attrs_define
class SplitPlan:
    """Consecutive parts of about equal size that together cover the whole range.

    Example:
        {'parts': [{'start': '0-0', 'end': '1692632094484-18446744073709551615', 'count': 1}, {'start':
            '1692632094485-0', 'end': '18446744073709551615-18446744073709551615', 'count': 2}], 'count': 3, 'incarnation':
            '9f86d081884c7d65-1'}

    """

    parts: list[SplitPart]
    """ The parts, in id order. """
    count: int
    """ How many entries the whole range has. """
    incarnation: None | str
    """ An opaque text that tells the stream from every other one, also from one that is created under the same key
    after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps none. """

    def to_dict(self) -> dict[str, Any]:
        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        count = self.count

        incarnation: None | str
        incarnation = self.incarnation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "parts": parts,
                "count": count,
                "incarnation": incarnation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.split_part import SplitPart  # noqa: PLC0415

        d = dict(src_dict)
        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = SplitPart.from_dict(parts_item_data)

            parts.append(parts_item)

        count = d.pop("count")

        def _parse_incarnation(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        incarnation = _parse_incarnation(d.pop("incarnation", None))

        split_plan = cls(
            parts=parts,
            count=count,
            incarnation=incarnation,
        )

        return split_plan
