from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

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

    removed: RetentionStateRemoved
    """ How many entries were ever removed, by the rule that removed the most at that time. """
    removed_at_ms: int | None
    """ When the last entries were removed, in Unix milliseconds; null if none were. """
    protected_entries: int
    """ How many entries remain only because of `protect_unread`. """
    protected_bytes: int
    """ The bytes of the blocks that have only such entries. """
    max_age_ms: int | Unset = UNSET
    """ How long an entry is kept, in milliseconds, from the time in its id on. """
    max_length: int | Unset = UNSET
    """ How many entries are kept. """
    max_bytes: int | Unset = UNSET
    """ How many bytes of entries are kept, as compact JSON before compression. Whole blocks are removed; the last
    block stays. """
    acknowledged: bool | Unset = False
    """ Whether to remove entries that every group has read and acknowledged, up to the first one that a group has
    not. A stream without groups keeps all. """
    protect_unread: bool | Unset = False
    """ Whether to keep entries that a group has not read, whatever the other rules say. """

    def to_dict(self) -> dict[str, Any]:
        removed = self.removed.to_dict()

        removed_at_ms: int | None
        removed_at_ms = self.removed_at_ms

        protected_entries = self.protected_entries

        protected_bytes = self.protected_bytes

        max_age_ms = self.max_age_ms

        max_length = self.max_length

        max_bytes = self.max_bytes

        acknowledged = self.acknowledged

        protect_unread = self.protect_unread

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "removed": removed,
                "removed_at_ms": removed_at_ms,
                "protected_entries": protected_entries,
                "protected_bytes": protected_bytes,
            }
        )
        if max_age_ms is not UNSET:
            field_dict["max_age_ms"] = max_age_ms
        if max_length is not UNSET:
            field_dict["max_length"] = max_length
        if max_bytes is not UNSET:
            field_dict["max_bytes"] = max_bytes
        if acknowledged is not UNSET:
            field_dict["acknowledged"] = acknowledged
        if protect_unread is not UNSET:
            field_dict["protect_unread"] = protect_unread

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_state_removed import RetentionStateRemoved  # noqa: PLC0415

        d = dict(src_dict)
        removed = RetentionStateRemoved.from_dict(d.pop("removed"))

        def _parse_removed_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        removed_at_ms = _parse_removed_at_ms(d.pop("removed_at_ms"))

        protected_entries = d.pop("protected_entries")

        protected_bytes = d.pop("protected_bytes")

        max_age_ms = d.pop("max_age_ms", UNSET)

        max_length = d.pop("max_length", UNSET)

        max_bytes = d.pop("max_bytes", UNSET)

        acknowledged = d.pop("acknowledged", UNSET)

        protect_unread = d.pop("protect_unread", UNSET)

        retention_state = cls(
            removed=removed,
            removed_at_ms=removed_at_ms,
            protected_entries=protected_entries,
            protected_bytes=protected_bytes,
            max_age_ms=max_age_ms,
            max_length=max_length,
            max_bytes=max_bytes,
            acknowledged=acknowledged,
            protect_unread=protect_unread,
        )

        return retention_state
