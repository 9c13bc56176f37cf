from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.claim_body_encoding import ClaimBodyEncoding, check_claim_body_encoding
from ..types import UNSET, Unset

T = TypeVar("T", bound="ClaimBody")


@_attrs_define
class ClaimBody:
    """Pending entries that a consumer takes over, named by id.

    Example:
        {'consumer': 'bob', 'min_idle_ms': 30000, 'ids': ['1692632086370-0']}

    """

    consumer: str
    """ The consumer that takes the entries over; created if it does not exist. """
    min_idle_ms: int
    """ Claim only entries whose last delivery is at least this many milliseconds ago. """
    ids: list[str]
    """ Entry ids. If one of them is invalid, the request fails and changes nothing. """
    encoding: ClaimBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    idle_ms: int | Unset = UNSET
    """ The new idle time, in milliseconds; 0 by default. """
    delivered_at_ms: int | Unset = UNSET
    """ The new time of delivery, in Unix milliseconds. """
    retry_count: int | Unset = UNSET
    """ The new delivery count; by default the claim adds one. """
    force: bool | Unset = False
    """ Also make entries pending that are in the stream and not pending. The token needs `admin` in addition to
    `consume`. """
    just_id: bool | Unset = False
    """ Return only ids, and do not count a delivery. """
    last_id: str | Unset = UNSET
    """ Raise the group's last delivered id to this id. The token needs `admin` in addition to `consume`. """

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
