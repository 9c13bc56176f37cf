from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RedriveBody")


@_attrs_define
class RedriveBody:
    """Which dead letters to send back: all from `start` on, or those with these ids.

    Example:
        {'limit': 100}

    """

    ids: list[str] | Unset = UNSET
    """ Ids in the dead-letter stream; without them, all. """
    start: str | Unset = "-"
    """ The first id in the dead-letter stream to examine: `next` of the previous response. Not with `ids`. """
    limit: int | Unset = 100
    """ How many dead letters to examine at most. """

    def to_dict(self) -> dict[str, Any]:
        ids: list[str] | Unset = UNSET
        if not isinstance(self.ids, Unset):
            ids = self.ids

        start = self.start

        limit = self.limit

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if ids is not UNSET:
            field_dict["ids"] = ids
        if start is not UNSET:
            field_dict["start"] = start
        if limit is not UNSET:
            field_dict["limit"] = limit

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ids = cast(list[str], d.pop("ids", UNSET))

        start = d.pop("start", UNSET)

        limit = d.pop("limit", UNSET)

        redrive_body = cls(
            ids=ids,
            start=start,
            limit=limit,
        )

        return redrive_body
