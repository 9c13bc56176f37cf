from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.redriven_entry import RedrivenEntry


T = TypeVar("T", bound="RedriveReply")


@_attrs_define
class RedriveReply:
    """The dead letters that were sent back.

    Example:
        {'redriven': [{'id': '1692632147973-0', 'new_id': '1692632147973-0'}], 'skipped': 0, 'next': None}

    """

    redriven: list[RedrivenEntry]
    """ The entries that were sent back, in the order of their ids. """
    skipped: int
    """ How many were examined and stay where they are: they are missing, or they are not dead letters of this
    group. """
    next_: None | str
    """ The id from which the next request continues; null at the end. """

    def to_dict(self) -> dict[str, Any]:
        redriven = []
        for redriven_item_data in self.redriven:
            redriven_item = redriven_item_data.to_dict()
            redriven.append(redriven_item)

        skipped = self.skipped

        next_: None | str
        next_ = self.next_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "redriven": redriven,
                "skipped": skipped,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.redriven_entry import RedrivenEntry  # noqa: PLC0415

        d = dict(src_dict)
        redriven = []
        _redriven = d.pop("redriven")
        for redriven_item_data in _redriven:
            redriven_item = RedrivenEntry.from_dict(redriven_item_data)

            redriven.append(redriven_item)

        skipped = d.pop("skipped")

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next", None))

        redrive_reply = cls(
            redriven=redriven,
            skipped=skipped,
            next_=next_,
        )

        return redrive_reply
