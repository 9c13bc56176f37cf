from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.retention_state_removed import RetentionStateRemoved


T = TypeVar("T", bound="RetentionState")


@_attrs_define
class RetentionState:
    """The retention of a stream, and what it has removed.

    Example:
        {'max_age_ms': 604800000, 'acknowledged': False, 'protect_unread': True, 'removed': {'max_age_ms': 2},
            'removed_at_ms': 1692632147973, 'protected_entries': 0, 'protected_bytes': 0}

    """

    max_age_ms: int | None
    """ How long an entry is kept, in milliseconds, from the time in its id on. """
    max_length: int | None
    """ How many entries are kept. """
    max_bytes: int | None
    """ How many bytes of entries are kept, as compact JSON before compression. Whole blocks are removed; the last
    block stays. """
    removed: RetentionStateRemoved
    """ How many entries were ever removed, by the rule that removed the most at that time. """
    removed_at_ms: int | None
    """ When the last entries were removed, in Unix milliseconds; null if none were. """
    protected_entries: int
    """ How many entries remain only because of `protect_unread`. """
    protected_bytes: int
    """ The bytes of the blocks that have only such entries. """
    acknowledged: bool | None = False
    """ Whether to remove entries that every group has read and acknowledged, up to the first one that a group has
    not. A stream without groups keeps all. """
    protect_unread: bool | None = False
    """ Whether to keep entries that a group has not read, whatever the other rules say. """

    def to_dict(self) -> dict[str, Any]:
        max_age_ms: int | None
        max_age_ms = self.max_age_ms

        max_length: int | None
        max_length = self.max_length

        max_bytes: int | None
        max_bytes = self.max_bytes

        acknowledged: bool | None
        acknowledged = self.acknowledged

        protect_unread: bool | None
        protect_unread = self.protect_unread

        removed = self.removed.to_dict()

        removed_at_ms: int | None
        removed_at_ms = self.removed_at_ms

        protected_entries = self.protected_entries

        protected_bytes = self.protected_bytes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "max_age_ms": max_age_ms,
                "max_length": max_length,
                "max_bytes": max_bytes,
                "acknowledged": acknowledged,
                "protect_unread": protect_unread,
                "removed": removed,
                "removed_at_ms": removed_at_ms,
                "protected_entries": protected_entries,
                "protected_bytes": protected_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_state_removed import RetentionStateRemoved  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_max_age_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_age_ms = _parse_max_age_ms(d.pop("max_age_ms", None))

        def _parse_max_length(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_length = _parse_max_length(d.pop("max_length", None))

        def _parse_max_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_bytes = _parse_max_bytes(d.pop("max_bytes", None))

        def _parse_acknowledged(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        acknowledged = _parse_acknowledged(d.pop("acknowledged", None))

        def _parse_protect_unread(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        protect_unread = _parse_protect_unread(d.pop("protect_unread", None))

        removed = RetentionStateRemoved.from_dict(d.pop("removed"))

        def _parse_removed_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        removed_at_ms = _parse_removed_at_ms(d.pop("removed_at_ms", None))

        protected_entries = d.pop("protected_entries")

        protected_bytes = d.pop("protected_bytes")

        retention_state = cls(
            max_age_ms=max_age_ms,
            max_length=max_length,
            max_bytes=max_bytes,
            acknowledged=acknowledged,
            protect_unread=protect_unread,
            removed=removed,
            removed_at_ms=removed_at_ms,
            protected_entries=protected_entries,
            protected_bytes=protected_bytes,
        )

        return retention_state
