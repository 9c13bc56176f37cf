from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.pending_item_encoding_type_0 import (
    PendingItemEncodingType0,
    check_pending_item_encoding_type_0,
)

T = TypeVar("T", bound="PendingItem")


@_attrs_define
class PendingItem:
    """A pending entry: delivered to a consumer, and not yet acknowledged."""

    id: str
    """ An entry id, `ms-seq`, as a string. """
    consumer: None | str
    """ The consumer that owns the entry; null after a nack. """
    encoding: None | PendingItemEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    idle_ms: int | None
    """ Milliseconds since the last delivery; null if the entry has no owner. """
    deliveries: int
    """ How often the entry was delivered. """
    delivered_at_ms: int
    """ The time of the last delivery, in Unix milliseconds; 0 after a nack. """
    claimable_at_ms: int | None
    """ After a nack with a delay: the time before which no consumer can claim the entry, in Unix milliseconds; else
    absent. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        consumer: None | str
        consumer = self.consumer

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        idle_ms: int | None
        idle_ms = self.idle_ms

        deliveries = self.deliveries

        delivered_at_ms = self.delivered_at_ms

        claimable_at_ms: int | None
        claimable_at_ms = self.claimable_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "consumer": consumer,
                "encoding": encoding,
                "idle_ms": idle_ms,
                "deliveries": deliveries,
                "delivered_at_ms": delivered_at_ms,
                "claimable_at_ms": claimable_at_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        def _parse_consumer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        consumer = _parse_consumer(d.pop("consumer", None))

        def _parse_encoding(data: object) -> None | PendingItemEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_pending_item_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PendingItemEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        def _parse_idle_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        idle_ms = _parse_idle_ms(d.pop("idle_ms", None))

        deliveries = d.pop("deliveries")

        delivered_at_ms = d.pop("delivered_at_ms")

        def _parse_claimable_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        claimable_at_ms = _parse_claimable_at_ms(d.pop("claimable_at_ms", None))

        pending_item = cls(
            id=id,
            consumer=consumer,
            encoding=encoding,
            idle_ms=idle_ms,
            deliveries=deliveries,
            delivered_at_ms=delivered_at_ms,
            claimable_at_ms=claimable_at_ms,
        )

        return pending_item
