from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.nack_body_mode import NackBodyMode, check_nack_body_mode
from ..types import UNSET, Unset

T = TypeVar("T", bound="NackBody")


@_attrs_define
class NackBody:
    """Entries that a consumer gives back.

    Example:
        {'ids': ['1692632094485-0'], 'mode': 'fail'}

    """

    ids: list[str]
    """ Entry ids. All are read before anything is done: one bad id and nothing happens. """
    mode: NackBodyMode | Unset = "fail"
    """ `silent`: the delivery does not count. `fail`: it counts. `fatal`: the count becomes the greatest there is,
    so that whoever bounds deliveries sets the entry aside. """
    retry_count: int | Unset = UNSET
    """ Set the count of deliveries to this. """
    force: bool | Unset = False
    """ Make entries pending that are not, if they exist. A token needs `admin` beside `consume`. """

    def to_dict(self) -> dict[str, Any]:
        ids = self.ids

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        retry_count = self.retry_count

        force = self.force

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

        nack_body = cls(
            ids=ids,
            mode=mode,
            retry_count=retry_count,
            force=force,
        )

        return nack_body
