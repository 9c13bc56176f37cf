from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.pending_item_encoding import (
    PendingItemEncoding,
    check_pending_item_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="PendingItem")


@_attrs_define
class PendingItem:
    """A pending entry: delivered to a consumer, and not yet acknowledged."""

    id: str
    """ An entry id, `ms-seq`, as a string. """
    consumer: None | str
    """ The consumer that owns the entry; null after a nack. """
    idle_ms: int | None
    """ Milliseconds since the last delivery; null if the entry has no owner. """
    deliveries: int
    """ How often the entry was delivered. """
    delivered_at_ms: int
    """ The time of the last delivery, in Unix milliseconds; 0 after a nack. """
    encoding: PendingItemEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    claimable_at_ms: int | Unset = UNSET
    """ After a nack with a delay: the time before which no consumer can claim the entry, in Unix milliseconds; else
    absent. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        consumer: None | str
        consumer = self.consumer

        idle_ms: int | None
        idle_ms = self.idle_ms

        deliveries = self.deliveries

        delivered_at_ms = self.delivered_at_ms

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        claimable_at_ms = self.claimable_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "consumer": consumer,
                "idle_ms": idle_ms,
                "deliveries": deliveries,
                "delivered_at_ms": delivered_at_ms,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if claimable_at_ms is not UNSET:
            field_dict["claimable_at_ms"] = claimable_at_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        def _parse_consumer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        consumer = _parse_consumer(d.pop("consumer"))

        def _parse_idle_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        idle_ms = _parse_idle_ms(d.pop("idle_ms"))

        deliveries = d.pop("deliveries")

        delivered_at_ms = d.pop("delivered_at_ms")

        _encoding = d.pop("encoding", UNSET)
        encoding: PendingItemEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_pending_item_encoding(_encoding)

        claimable_at_ms = d.pop("claimable_at_ms", UNSET)

        pending_item = cls(
            id=id,
            consumer=consumer,
            idle_ms=idle_ms,
            deliveries=deliveries,
            delivered_at_ms=delivered_at_ms,
            encoding=encoding,
            claimable_at_ms=claimable_at_ms,
        )

        return pending_item
