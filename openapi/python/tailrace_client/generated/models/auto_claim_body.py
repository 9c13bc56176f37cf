from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.auto_claim_body_encoding import (
    AutoClaimBodyEncoding,
    check_auto_claim_body_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="AutoClaimBody")


@_attrs_define
class AutoClaimBody:
    """Idle pending entries that a consumer takes over, found by a scan in id order.

    Example:
        {'consumer': 'bob', 'min_idle_ms': 30000, 'count': 1}

    """

    consumer: str
    """ The consumer that takes the entries over; created if it does not exist. """
    min_idle_ms: int
    """ Claim only entries whose last delivery is at least this many milliseconds ago. """
    encoding: AutoClaimBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    start: str | Unset = "0-0"
    """ The id where the scan begins: `cursor` of the previous scan. """
    count: int | Unset = 100
    """ How many entries to claim at most. """
    just_id: bool | Unset = False
    """ Return only ids, and do not count a delivery. """

    def to_dict(self) -> dict[str, Any]:
        consumer = self.consumer

        min_idle_ms = self.min_idle_ms

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        start = self.start

        count = self.count

        just_id = self.just_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consumer": consumer,
                "min_idle_ms": min_idle_ms,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if start is not UNSET:
            field_dict["start"] = start
        if count is not UNSET:
            field_dict["count"] = count
        if just_id is not UNSET:
            field_dict["just_id"] = just_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer = d.pop("consumer")

        min_idle_ms = d.pop("min_idle_ms")

        _encoding = d.pop("encoding", UNSET)
        encoding: AutoClaimBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_auto_claim_body_encoding(_encoding)

        start = d.pop("start", UNSET)

        count = d.pop("count", UNSET)

        just_id = d.pop("just_id", UNSET)

        auto_claim_body = cls(
            consumer=consumer,
            min_idle_ms=min_idle_ms,
            encoding=encoding,
            start=start,
            count=count,
            just_id=just_id,
        )

        return auto_claim_body
