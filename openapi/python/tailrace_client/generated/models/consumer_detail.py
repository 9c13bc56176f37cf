from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.consumer_detail_encoding_type_0 import (
    ConsumerDetailEncodingType0,
    check_consumer_detail_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.pending_item import PendingItem


T = TypeVar("T", bound="ConsumerDetail")


@_attrs_define
class ConsumerDetail:
    """A consumer with its pending entries."""

    name: str
    """ The consumer's name. """
    encoding: ConsumerDetailEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    seen_at_ms: int
    """ The time of the consumer's last request, in Unix milliseconds. """
    active_at_ms: int | None
    """ The time of the last delivery to the consumer, in Unix milliseconds; null if never. """
    pending: int
    """ How many entries were delivered to the consumer and not yet acknowledged. """
    pending_entries: list[PendingItem]
    """ The first `count` pending entries of the consumer, in id order. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        seen_at_ms = self.seen_at_ms

        active_at_ms: int | None
        active_at_ms = self.active_at_ms

        pending = self.pending

        pending_entries = []
        for pending_entries_item_data in self.pending_entries:
            pending_entries_item = pending_entries_item_data.to_dict()
            pending_entries.append(pending_entries_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "seen_at_ms": seen_at_ms,
                "active_at_ms": active_at_ms,
                "pending": pending,
                "pending_entries": pending_entries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pending_item import PendingItem  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> ConsumerDetailEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_consumer_detail_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConsumerDetailEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        seen_at_ms = d.pop("seen_at_ms")

        def _parse_active_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        active_at_ms = _parse_active_at_ms(d.pop("active_at_ms", None))

        pending = d.pop("pending")

        pending_entries = []
        _pending_entries = d.pop("pending_entries")
        for pending_entries_item_data in _pending_entries:
            pending_entries_item = PendingItem.from_dict(pending_entries_item_data)

            pending_entries.append(pending_entries_item)

        consumer_detail = cls(
            name=name,
            encoding=encoding,
            seen_at_ms=seen_at_ms,
            active_at_ms=active_at_ms,
            pending=pending,
            pending_entries=pending_entries,
        )

        return consumer_detail
