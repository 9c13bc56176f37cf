from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="BatchReply")


@_attrs_define
class BatchReply:
    """The entries that a batch or an import appended.

    Example:
        {'count': 2, 'first_id': '1692632147973-0', 'last_id': '1692632147973-1'}

    """

    count: int
    """ How many entries were appended. """
    first_id: str
    """ The id of the first appended entry. """
    last_id: str
    """ The id of the last appended entry. """
    ids: list[str] | None
    """ The ids of all appended entries, in order; only with `ids=true`. """

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        first_id = self.first_id

        last_id = self.last_id

        ids: list[str] | None
        if isinstance(self.ids, list):
            ids = self.ids

        else:
            ids = self.ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count": count,
                "first_id": first_id,
                "last_id": last_id,
                "ids": ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        count = d.pop("count")

        first_id = d.pop("first_id")

        last_id = d.pop("last_id")

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

        batch_reply = cls(
            count=count,
            first_id=first_id,
            last_id=last_id,
            ids=ids,
        )

        return batch_reply
