from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ExtendReply")


@_attrs_define
class ExtendReply:
    """Which entries the consumer keeps.

    Example:
        {'extended': ['1692632086370-0'], 'lost': []}

    """

    extended: list[str]
    """ The ids that the consumer owns; their idle time begins again. """
    lost: list[str]
    """ The ids that the consumer does not own: another consumer claimed them, or they are no longer pending. Stop
    working on them. """

    def to_dict(self) -> dict[str, Any]:
        extended = self.extended

        lost = self.lost

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "extended": extended,
                "lost": lost,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        extended = cast(list[str], d.pop("extended"))

        lost = cast(list[str], d.pop("lost"))

        extend_reply = cls(
            extended=extended,
            lost=lost,
        )

        return extend_reply
