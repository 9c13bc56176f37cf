from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.nack_body_mode import NackBodyMode, check_nack_body_mode
from ..types import UNSET, Unset

T = TypeVar("T", bound="NackBody")


@_attrs_define
class NackBody:
    """Entries that a consumer returns to its group unprocessed.

    Example:
        {'ids': ['1692632094485-0'], 'mode': 'fail'}

    """

    ids: list[str]
    """ Entry ids. If one of them is invalid, the request fails and changes nothing. """
    mode: NackBodyMode | Unset = "fail"
    """ How the delivery counts. `silent`: it does not count. `fail`: it counts. `fatal`: the delivery count becomes
    the greatest possible number, so that consumers with a limit of deliveries set the entry aside. """
    retry_count: int | Unset = UNSET
    """ The new delivery count. """
    force: bool | Unset = False
    """ Also make entries pending that are in the stream and not pending. The token needs `admin` in addition to
    `consume`. """
    delay_ms: int | Unset = UNSET
    """ How long the entries wait before they can be claimed, in milliseconds, a year (`delay_ms_max`) at most; 0:
    not at all. Without it, the `backoff` of the group applies, but not to the mode `silent`. """

    def to_dict(self) -> dict[str, Any]:
        ids = self.ids

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        retry_count = self.retry_count

        force = self.force

        delay_ms = self.delay_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ids": ids,
            }
        )
        if mode is not UNSET:
            field_dict["mode"] = mode
        if retry_count is not UNSET:
            field_dict["retry_count"] = retry_count
        if force is not UNSET:
            field_dict["force"] = force
        if delay_ms is not UNSET:
            field_dict["delay_ms"] = delay_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ids = cast(list[str], d.pop("ids"))

        _mode = d.pop("mode", UNSET)
        mode: NackBodyMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_nack_body_mode(_mode)

        retry_count = d.pop("retry_count", UNSET)

        force = d.pop("force", UNSET)

        delay_ms = d.pop("delay_ms", UNSET)

        nack_body = cls(
            ids=ids,
            mode=mode,
            retry_count=retry_count,
            force=force,
            delay_ms=delay_ms,
        )

        return nack_body
