from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.consumer import Consumer


T = TypeVar("T", bound="ConsumerList")


@_attrs_define
class ConsumerList:
    """The consumers of a group, in byte order of their names.

    Example:
        {'consumers': [{'name': 'alice', 'pending': 2, 'idle_ms': 60000, 'inactive_ms': 60000}]}

    """

    consumers: list[Consumer]
    """ The consumers of the group. """

    def to_dict(self) -> dict[str, Any]:
        consumers = []
        for consumers_item_data in self.consumers:
            consumers_item = consumers_item_data.to_dict()
            consumers.append(consumers_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consumers": consumers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.consumer import Consumer  # noqa: PLC0415

        d = dict(src_dict)
        consumers = []
        _consumers = d.pop("consumers")
        for consumers_item_data in _consumers:
            consumers_item = Consumer.from_dict(consumers_item_data)

            consumers.append(consumers_item)

        consumer_list = cls(
            consumers=consumers,
        )

        return consumer_list
