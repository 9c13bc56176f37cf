from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.claim_body_encoding import ClaimBodyEncoding, check_claim_body_encoding
from ..types import UNSET, Unset

T = TypeVar("T", bound="ClaimBody")


@_attrs_define
class ClaimBody:
    """Pending entries that a consumer takes over, by id.

    Example:
        {'consumer': 'bob', 'min_idle_ms': 30000, 'ids': ['1692632086370-0']}

    """

    consumer: str
    """ Who takes over; created if new. """
    min_idle_ms: int
    """ Only what was delivered at least this long ago. """
    ids: list[str]
    """ Entry ids. All are read before anything is done: one bad id and nothing happens. """
    encoding: ClaimBodyEncoding | Unset = UNSET
    """ `base64`: the names beside it are base64, since not all of them are UTF-8. """
    idle_ms: int | Unset = UNSET
    """ Set the idle time to this; 0 by default. """
    delivered_at_ms: int | Unset = UNSET
    """ Set the time of delivery, Unix milliseconds. """
    retry_count: int | Unset = UNSET
    """ Set the count of deliveries to this, in place of adding one. """
    force: bool | Unset = False
    """ Make entries pending that are not, if they exist. A token needs `admin` beside `consume`. """
    just_id: bool | Unset = False
    """ Answer ids only, and do not count a delivery. """
    last_id: str | Unset = UNSET
    """ Raise the group's last delivered id to this. A token needs `admin` beside `consume`. """

    def to_dict(self) -> dict[str, Any]:
        consumer = self.consumer

        min_idle_ms = self.min_idle_ms

        ids = self.ids

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        idle_ms = self.idle_ms

        delivered_at_ms = self.delivered_at_ms

        retry_count = self.retry_count

        force = self.force

        just_id = self.just_id

        last_id = self.last_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consumer": consumer,
                "min_idle_ms": min_idle_ms,
                "ids": ids,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if idle_ms is not UNSET:
            field_dict["idle_ms"] = idle_ms
        if delivered_at_ms is not UNSET:
            field_dict["delivered_at_ms"] = delivered_at_ms
        if retry_count is not UNSET:
            field_dict["retry_count"] = retry_count
        if force is not UNSET:
            field_dict["force"] = force
        if just_id is not UNSET:
            field_dict["just_id"] = just_id
        if last_id is not UNSET:
            field_dict["last_id"] = last_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer = d.pop("consumer")

        min_idle_ms = d.pop("min_idle_ms")

        ids = cast(list[str], d.pop("ids"))

        _encoding = d.pop("encoding", UNSET)
        encoding: ClaimBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_claim_body_encoding(_encoding)

        idle_ms = d.pop("idle_ms", UNSET)

        delivered_at_ms = d.pop("delivered_at_ms", UNSET)

        retry_count = d.pop("retry_count", UNSET)

        force = d.pop("force", UNSET)

        just_id = d.pop("just_id", UNSET)

        last_id = d.pop("last_id", UNSET)

        claim_body = cls(
            consumer=consumer,
            min_idle_ms=min_idle_ms,
            ids=ids,
            encoding=encoding,
            idle_ms=idle_ms,
            delivered_at_ms=delivered_at_ms,
            retry_count=retry_count,
            force=force,
            just_id=just_id,
            last_id=last_id,
        )

        return claim_body
