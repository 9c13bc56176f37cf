from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.group_settings_body_encoding import (
    GroupSettingsBodyEncoding,
    check_group_settings_body_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupSettingsBody")


@_attrs_define
class GroupSettingsBody:
    """Settings of a group. A setting that is not named stays as it is; null removes it.

    Example:
        {'max_deliveries': 5, 'dead_letter_stream': 'race:france:dead'}

    """

    max_deliveries: int | Unset = UNSET
    """ How often an entry is delivered at most. Before one more delivery, the entry moves to `dead_letter_stream`,
    which must be set as well. """
    dead_letter_stream: str | Unset = UNSET
    """ The key of the stream to which such entries move. It is created with its first entry. The token needs
    `admin` on it, too. """
    filter_: str | Unset = UNSET
    """ A condition, as in `GET .../entries`. The group delivers only entries that match; others count as read. """
    encoding: GroupSettingsBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        max_deliveries = self.max_deliveries

        dead_letter_stream = self.dead_letter_stream

        filter_ = self.filter_

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_deliveries is not UNSET:
            field_dict["max_deliveries"] = max_deliveries
        if dead_letter_stream is not UNSET:
            field_dict["dead_letter_stream"] = dead_letter_stream
        if filter_ is not UNSET:
            field_dict["filter"] = filter_
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        max_deliveries = d.pop("max_deliveries", UNSET)

        dead_letter_stream = d.pop("dead_letter_stream", UNSET)

        filter_ = d.pop("filter", UNSET)

        _encoding = d.pop("encoding", UNSET)
        encoding: GroupSettingsBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_group_settings_body_encoding(_encoding)

        group_settings_body = cls(
            max_deliveries=max_deliveries,
            dead_letter_stream=dead_letter_stream,
            filter_=filter_,
            encoding=encoding,
        )

        return group_settings_body
