from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.stream_state_encoding_type_0 import (
    StreamStateEncodingType0,
    check_stream_state_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.entry import Entry
    from ..models.group_detail import GroupDetail
    from ..models.idempotency_state import IdempotencyState
    from ..models.retention_state import RetentionState


T = TypeVar("T", bound="StreamState")


@_attrs_define
class StreamState:
    """The state of a stream.

    Example:
        {'key': 'race:france', 'incarnation': '9f86d081884c7d65-1', 'length': 3, 'first_id': '1692632086370-0',
            'last_id': '1692632102976-0', 'max_deleted_id': '0-0', 'entries_added': 3, 'recorded_first_id':
            '1692632086370-0', 'groups': 1, 'blocks': 1, 'bytes': 201, 'idempotency': {'duration_s': 100, 'maxsize': 100,
            'producers': 0, 'keys': 0, 'keys_added': 0, 'duplicates': 0}, 'first_entry': {'id': '1692632086370-0', 'fields':
            {'rider': 'Castilla', 'speed': '30.2', 'position': '1', 'location_id': '1'}}, 'last_entry': {'id':
            '1692632102976-0', 'fields': {'rider': 'Prickett', 'speed': '29.7', 'position': '2', 'location_id': '1'}}}

    """

    key: str
    """ The stream's key. """
    encoding: None | StreamStateEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    incarnation: None | str
    """ An opaque text that tells the stream from every other one, also from one that is created under the same key
    after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps none. """
    length: int
    """ How many entries the stream has. """
    first_id: None | str
    """ The id of the first entry; null if the stream is empty. """
    last_id: str
    """ An entry id, `ms-seq`, as a string. """
    max_deleted_id: str
    """ The greatest id that was ever deleted; `0-0` if none. """
    entries_added: int
    """ How many entries were ever added. """
    recorded_first_id: str
    """ The first id that the server uses to compute the lag of groups; `0-0` if the stream is empty. """
    groups: int
    """ How many consumer groups the stream has. """
    blocks: int
    """ How many blocks hold the entries. """
    bytes_: int | None
    """ The bytes of the entries as compact JSON, before compression. A deleted entry may count until its block
    goes. Null behind a gateway. """
    idempotency: IdempotencyState
    """ The idempotency keys that a stream remembers. """
    retention: None | RetentionState
    """ The rules by which the server removes the oldest entries; absent without rules. """
    scheduled: int | None
    """ How many entries are scheduled to be appended later; absent if none are. """
    first_entry: Entry | None
    """ The first entry; null if the stream is empty. """
    last_entry: Entry | None
    """ The last entry; null if the stream is empty. """
    entries: list[Entry] | None
    """ The first `count` entries; only with `full=true`. """
    group_details: list[GroupDetail] | None
    """ Each group with its pending entries; only with `full=true`. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.entry import Entry  # noqa: PLC0415
        from ..models.retention_state import RetentionState  # noqa: PLC0415

        key = self.key

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        incarnation: None | str
        incarnation = self.incarnation

        length = self.length

        first_id: None | str
        first_id = self.first_id

        last_id = self.last_id

        max_deleted_id = self.max_deleted_id

        entries_added = self.entries_added

        recorded_first_id = self.recorded_first_id

        groups = self.groups

        blocks = self.blocks

        bytes_: int | None
        bytes_ = self.bytes_

        idempotency = self.idempotency.to_dict()

        retention: dict[str, Any] | None
        if isinstance(self.retention, RetentionState):
            retention = self.retention.to_dict()
        else:
            retention = self.retention

        scheduled: int | None
        scheduled = self.scheduled

        first_entry: dict[str, Any] | None
        if isinstance(self.first_entry, Entry):
            first_entry = self.first_entry.to_dict()
        else:
            first_entry = self.first_entry

        last_entry: dict[str, Any] | None
        if isinstance(self.last_entry, Entry):
            last_entry = self.last_entry.to_dict()
        else:
            last_entry = self.last_entry

        entries: list[dict[str, Any]] | None
        if isinstance(self.entries, list):
            entries = []
            for entries_type_0_item_data in self.entries:
                entries_type_0_item = entries_type_0_item_data.to_dict()
                entries.append(entries_type_0_item)

        else:
            entries = self.entries

        group_details: list[dict[str, Any]] | None
        if isinstance(self.group_details, list):
            group_details = []
            for group_details_type_0_item_data in self.group_details:
                group_details_type_0_item = group_details_type_0_item_data.to_dict()
                group_details.append(group_details_type_0_item)

        else:
            group_details = self.group_details

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "incarnation": incarnation,
                "length": length,
                "first_id": first_id,
                "last_id": last_id,
                "max_deleted_id": max_deleted_id,
                "entries_added": entries_added,
                "recorded_first_id": recorded_first_id,
                "groups": groups,
                "blocks": blocks,
                "bytes": bytes_,
                "idempotency": idempotency,
                "retention": retention,
                "scheduled": scheduled,
                "first_entry": first_entry,
                "last_entry": last_entry,
                "entries": entries,
                "group_details": group_details,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry import Entry  # noqa: PLC0415
        from ..models.group_detail import GroupDetail  # noqa: PLC0415
        from ..models.idempotency_state import IdempotencyState  # noqa: PLC0415
        from ..models.retention_state import RetentionState  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> None | StreamStateEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_stream_state_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamStateEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        def _parse_incarnation(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        incarnation = _parse_incarnation(d.pop("incarnation", None))

        length = d.pop("length")

        def _parse_first_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        first_id = _parse_first_id(d.pop("first_id", None))

        last_id = d.pop("last_id")

        max_deleted_id = d.pop("max_deleted_id")

        entries_added = d.pop("entries_added")

        recorded_first_id = d.pop("recorded_first_id")

        groups = d.pop("groups")

        blocks = d.pop("blocks")

        def _parse_bytes_(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        bytes_ = _parse_bytes_(d.pop("bytes", None))

        idempotency = IdempotencyState.from_dict(d.pop("idempotency"))

        def _parse_retention(data: object) -> None | RetentionState:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                retention_type_1 = RetentionState.from_dict(data)

                return retention_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | RetentionState, data)

        retention = _parse_retention(d.pop("retention", None))

        def _parse_scheduled(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        scheduled = _parse_scheduled(d.pop("scheduled", None))

        def _parse_first_entry(data: object) -> Entry | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                first_entry_type_1 = Entry.from_dict(data)

                return first_entry_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Entry | None, data)

        first_entry = _parse_first_entry(d.pop("first_entry", None))

        def _parse_last_entry(data: object) -> Entry | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                last_entry_type_1 = Entry.from_dict(data)

                return last_entry_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Entry | None, data)

        last_entry = _parse_last_entry(d.pop("last_entry", None))

        def _parse_entries(data: object) -> list[Entry] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                entries_type_0 = []
                _entries_type_0 = data
                for entries_type_0_item_data in _entries_type_0:
                    entries_type_0_item = Entry.from_dict(entries_type_0_item_data)

                    entries_type_0.append(entries_type_0_item)

                return entries_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Entry] | None, data)

        entries = _parse_entries(d.pop("entries", None))

        def _parse_group_details(data: object) -> list[GroupDetail] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                group_details_type_0 = []
                _group_details_type_0 = data
                for group_details_type_0_item_data in _group_details_type_0:
                    group_details_type_0_item = GroupDetail.from_dict(group_details_type_0_item_data)

                    group_details_type_0.append(group_details_type_0_item)

                return group_details_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[GroupDetail] | None, data)

        group_details = _parse_group_details(d.pop("group_details", None))

        stream_state = cls(
            key=key,
            encoding=encoding,
            incarnation=incarnation,
            length=length,
            first_id=first_id,
            last_id=last_id,
            max_deleted_id=max_deleted_id,
            entries_added=entries_added,
            recorded_first_id=recorded_first_id,
            groups=groups,
            blocks=blocks,
            bytes_=bytes_,
            idempotency=idempotency,
            retention=retention,
            scheduled=scheduled,
            first_entry=first_entry,
            last_entry=last_entry,
            entries=entries,
            group_details=group_details,
        )

        return stream_state
