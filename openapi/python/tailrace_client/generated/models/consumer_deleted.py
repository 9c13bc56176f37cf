from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ConsumerDeleted")


@_attrs_define
class ConsumerDeleted:
    """The result of deleting a consumer.

    Example:
        {'pending_dropped': 0}

    """

    pending_dropped: int
    """ How many pending entries were dropped. The group will not deliver them again. """

    def to_dict(self) -> dict[str, Any]:
        pending_dropped = self.pending_dropped

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pending_dropped": pending_dropped,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        pending_dropped = d.pop("pending_dropped")

        consumer_deleted = cls(
            pending_dropped=pending_dropped,
        )

        return consumer_deleted
