from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.retention_body import RetentionBody


T = TypeVar("T", bound="StreamSettings")


@_attrs_define
class StreamSettings:
    """The settings of a stream. Settings that are left out keep their value.

    Example:
        {'idmp_duration_s': 300, 'idmp_maxsize': 1000}

    """

    idmp_duration_s: int | Unset = UNSET
    """ How long the stream remembers an idempotency key, in seconds. """
    idmp_maxsize: int | Unset = UNSET
    """ How many idempotency keys the stream remembers for each producer. """
    retention: RetentionBody | Unset = UNSET
    """ The rules by which the server removes the oldest entries of a stream. An entry goes if one rule removes
    it. At least one rule other than `protect_unread` is needed. """

    def to_dict(self) -> dict[str, Any]:
        idmp_duration_s = self.idmp_duration_s

        idmp_maxsize = self.idmp_maxsize

        retention: dict[str, Any] | Unset = UNSET
        if not isinstance(self.retention, Unset):
            retention = self.retention.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if idmp_duration_s is not UNSET:
            field_dict["idmp_duration_s"] = idmp_duration_s
        if idmp_maxsize is not UNSET:
            field_dict["idmp_maxsize"] = idmp_maxsize
        if retention is not UNSET:
            field_dict["retention"] = retention

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.retention_body import RetentionBody  # noqa: PLC0415

        d = dict(src_dict)
        idmp_duration_s = d.pop("idmp_duration_s", UNSET)

        idmp_maxsize = d.pop("idmp_maxsize", UNSET)

        _retention = d.pop("retention", UNSET)
        retention: RetentionBody | Unset
        if isinstance(_retention, Unset):
            retention = UNSET
        else:
            retention = RetentionBody.from_dict(_retention)

        stream_settings = cls(
            idmp_duration_s=idmp_duration_s,
            idmp_maxsize=idmp_maxsize,
            retention=retention,
        )

        return stream_settings
