from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.entry_to_append import EntryToAppend
    from ..models.trimming import Trimming


T = TypeVar("T", bound="XaddBatchBody")


@_attrs_define
class XaddBatchBody:
    """Entries to append in this order: either all of them are appended, or none.

    Example:
        {'entries': [{'fields': {'rider': 'Castilla', 'speed': '29.9'}}, {'pairs': [['rider', 'Norem'], ['speed',
            '28.8']]}]}

    """

    entries: list[EntryToAppend]
    """ The entries to append. """
    trim: Trimming | Unset = UNSET
    """ Which entries a trim removes: all but the newest `max_length`, or those below `min_id`. Give exactly
    one of the two. """
    if_last_id: str | Unset = UNSET
    """ Append only if this is the stream's last id (`0-0` if there is no stream); otherwise fail with 412. """
    delay_ms: int | Unset = UNSET
    """ Append later: after this many milliseconds, a year (`delay_ms_max`) at most. Until then the server stores
    the entry, and no reader sees it. It gets its id when it is appended. """
    deliver_at_ms: int | Unset = UNSET
    """ Append later: at this time, in Unix milliseconds. A time in the past is due at once. Not together with
    `delay_ms`. """

    def to_dict(self) -> dict[str, Any]:
        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        trim: dict[str, Any] | Unset = UNSET
        if not isinstance(self.trim, Unset):
            trim = self.trim.to_dict()

        if_last_id = self.if_last_id

        delay_ms = self.delay_ms

        deliver_at_ms = self.deliver_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "entries": entries,
            }
        )
        if trim is not UNSET:
            field_dict["trim"] = trim
        if if_last_id is not UNSET:
            field_dict["if_last_id"] = if_last_id
        if delay_ms is not UNSET:
            field_dict["delay_ms"] = delay_ms
        if deliver_at_ms is not UNSET:
            field_dict["deliver_at_ms"] = deliver_at_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry_to_append import EntryToAppend  # noqa: PLC0415
        from ..models.trimming import Trimming  # noqa: PLC0415

        d = dict(src_dict)
        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = EntryToAppend.from_dict(entries_item_data)

            entries.append(entries_item)

        _trim = d.pop("trim", UNSET)
        trim: Trimming | Unset
        if isinstance(_trim, Unset):
            trim = UNSET
        else:
            trim = Trimming.from_dict(_trim)

        if_last_id = d.pop("if_last_id", UNSET)

        delay_ms = d.pop("delay_ms", UNSET)

        deliver_at_ms = d.pop("deliver_at_ms", UNSET)

        xadd_batch_body = cls(
            entries=entries,
            trim=trim,
            if_last_id=if_last_id,
            delay_ms=delay_ms,
            deliver_at_ms=deliver_at_ms,
        )

        return xadd_batch_body
