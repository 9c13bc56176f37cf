from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ScheduledReply")


@_attrs_define
class ScheduledReply:
    """An entry that is stored, and appended later.

    Example:
        {'scheduled_id': 's1692632207973-1692632147973000', 'deliver_at_ms': 1692632207973}

    """

    scheduled_id: str
    """ The scheduled id: an opaque text, not an entry id. It can cancel the entry. """
    deliver_at_ms: int
    """ When the entry is appended, in Unix milliseconds. """

    def to_dict(self) -> dict[str, Any]:
        scheduled_id = self.scheduled_id

        deliver_at_ms = self.deliver_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "scheduled_id": scheduled_id,
                "deliver_at_ms": deliver_at_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        scheduled_id = d.pop("scheduled_id")

        deliver_at_ms = d.pop("deliver_at_ms")

        scheduled_reply = cls(
            scheduled_id=scheduled_id,
            deliver_at_ms=deliver_at_ms,
        )

        return scheduled_reply
