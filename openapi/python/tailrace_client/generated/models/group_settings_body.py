from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.group_settings_body_encoding import (
    GroupSettingsBodyEncoding,
    check_group_settings_body_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.backoff import Backoff


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
    claim_min_idle_ms: int | Unset = UNSET
    """ Before new entries, a read of the group claims entries that are idle for at least this long, in
    milliseconds, unless the read has a `claim_min_idle_ms` of its own. """
    consumer_expiry_ms: int | Unset = UNSET
    """ A consumer that was not seen for this long, in milliseconds, gives its entries back to the group and is
    deleted. Reading, waiting, claiming and extending count as being seen. """
    max_lag_ms: int | Unset = UNSET
    """ The server warns in its log and its metrics while the oldest entry that the group has not read is at least
    this old, in milliseconds. """
    backoff: Backoff | Unset = UNSET
    """ How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`. """
    order_by: str | Unset = UNSET
    """ The name of a field. At most one entry of each value of this field is delivered and not acknowledged, so
    entries with equal values are processed in order, one after another. Entries without the field are not held
    back. """
    encoding: GroupSettingsBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        max_deliveries = self.max_deliveries

        dead_letter_stream = self.dead_letter_stream

        filter_ = self.filter_

        claim_min_idle_ms = self.claim_min_idle_ms

        consumer_expiry_ms = self.consumer_expiry_ms

        max_lag_ms = self.max_lag_ms

        backoff: dict[str, Any] | Unset = UNSET
        if not isinstance(self.backoff, Unset):
            backoff = self.backoff.to_dict()

        order_by = self.order_by

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
        if claim_min_idle_ms is not UNSET:
            field_dict["claim_min_idle_ms"] = claim_min_idle_ms
        if consumer_expiry_ms is not UNSET:
            field_dict["consumer_expiry_ms"] = consumer_expiry_ms
        if max_lag_ms is not UNSET:
            field_dict["max_lag_ms"] = max_lag_ms
        if backoff is not UNSET:
            field_dict["backoff"] = backoff
        if order_by is not UNSET:
            field_dict["order_by"] = order_by
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.backoff import Backoff  # noqa: PLC0415

        d = dict(src_dict)
        max_deliveries = d.pop("max_deliveries", UNSET)

        dead_letter_stream = d.pop("dead_letter_stream", UNSET)

        filter_ = d.pop("filter", UNSET)

        claim_min_idle_ms = d.pop("claim_min_idle_ms", UNSET)

        consumer_expiry_ms = d.pop("consumer_expiry_ms", UNSET)

        max_lag_ms = d.pop("max_lag_ms", UNSET)

        _backoff = d.pop("backoff", UNSET)
        backoff: Backoff | Unset
        if isinstance(_backoff, Unset):
            backoff = UNSET
        else:
            backoff = Backoff.from_dict(_backoff)

        order_by = d.pop("order_by", UNSET)

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
            claim_min_idle_ms=claim_min_idle_ms,
            consumer_expiry_ms=consumer_expiry_ms,
            max_lag_ms=max_lag_ms,
            backoff=backoff,
            order_by=order_by,
            encoding=encoding,
        )

        return group_settings_body
