from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ScheduledBatchReply")


@_attrs_define
class ScheduledBatchReply:
    """Entries that are stored, and appended later, all at the same time.

    Example:
        {'count': 1, 'deliver_at_ms': 1692632207973, 'scheduled_ids': ['s1692632207973-1692632147973000']}

    """

    count: int
    """ How many entries were stored. """
    deliver_at_ms: int
    """ When the entry is appended, in Unix milliseconds. """
    scheduled_ids: list[str]
    """ The scheduled ids, in the order of the entries. """

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        deliver_at_ms = self.deliver_at_ms

        scheduled_ids = self.scheduled_ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count": count,
                "deliver_at_ms": deliver_at_ms,
                "scheduled_ids": scheduled_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        count = d.pop("count")

        deliver_at_ms = d.pop("deliver_at_ms")

        scheduled_ids = cast(list[str], d.pop("scheduled_ids"))

        scheduled_batch_reply = cls(
            count=count,
            deliver_at_ms=deliver_at_ms,
            scheduled_ids=scheduled_ids,
        )

        return scheduled_batch_reply
