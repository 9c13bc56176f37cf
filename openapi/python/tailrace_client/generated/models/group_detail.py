from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.group_detail_encoding_type_0 import (
    GroupDetailEncodingType0,
    check_group_detail_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.consumer_detail import ConsumerDetail
    from ..models.pending_item import PendingItem


T = TypeVar("T", bound="GroupDetail")


@_attrs_define
class GroupDetail:
    """A group with its pending entries and consumers."""

    name: str
    """ The group's name. """
    encoding: GroupDetailEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    last_delivered_id: str
    """ The id of the last entry delivered to the group. Entries after it are new. """
    entries_read: int | None
    """ How many entries the group has read; null if unknown. """
    lag: int | None
    """ How many entries are not yet delivered; null if unknown. """
    pending: int
    """ How many entries were delivered and not yet acknowledged. """
    nacked: int
    """ How many of the pending entries have no owner, because of a nack. """
    pending_entries: list[PendingItem]
    """ The first `count` pending entries of the group, in id order. """
    consumers: list[ConsumerDetail]
    """ The consumers of the group. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        last_delivered_id = self.last_delivered_id

        entries_read: int | None
        entries_read = self.entries_read

        lag: int | None
        lag = self.lag

        pending = self.pending

        nacked = self.nacked

        pending_entries = []
        for pending_entries_item_data in self.pending_entries:
            pending_entries_item = pending_entries_item_data.to_dict()
            pending_entries.append(pending_entries_item)

        consumers = []
        for consumers_item_data in self.consumers:
            consumers_item = consumers_item_data.to_dict()
            consumers.append(consumers_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "last_delivered_id": last_delivered_id,
                "entries_read": entries_read,
                "lag": lag,
                "pending": pending,
                "nacked": nacked,
                "pending_entries": pending_entries,
                "consumers": consumers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.consumer_detail import ConsumerDetail  # noqa: PLC0415
        from ..models.pending_item import PendingItem  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> GroupDetailEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_group_detail_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GroupDetailEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        last_delivered_id = d.pop("last_delivered_id")

        def _parse_entries_read(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        entries_read = _parse_entries_read(d.pop("entries_read", None))

        def _parse_lag(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lag = _parse_lag(d.pop("lag", None))

        pending = d.pop("pending")

        nacked = d.pop("nacked")

        pending_entries = []
        _pending_entries = d.pop("pending_entries")
        for pending_entries_item_data in _pending_entries:
            pending_entries_item = PendingItem.from_dict(pending_entries_item_data)

            pending_entries.append(pending_entries_item)

        consumers = []
        _consumers = d.pop("consumers")
        for consumers_item_data in _consumers:
            consumers_item = ConsumerDetail.from_dict(consumers_item_data)

            consumers.append(consumers_item)

        group_detail = cls(
            name=name,
            encoding=encoding,
            last_delivered_id=last_delivered_id,
            entries_read=entries_read,
            lag=lag,
            pending=pending,
            nacked=nacked,
            pending_entries=pending_entries,
            consumers=consumers,
        )

        return group_detail
