from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.group_encoding import GroupEncoding, check_group_encoding
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.backoff import Backoff


T = TypeVar("T", bound="Group")


@_attrs_define
class Group:
    """A consumer group.

    Example:
        {'name': 'judges', 'consumers': 1, 'pending': 2, 'last_delivered_id': '1692632094485-0', 'entries_read': 2,
            'lag': 1, 'lag_ms': 44997}

    """

    name: str
    """ The group's name. """
    consumers: int
    """ How many consumers the group has. """
    pending: int
    """ How many entries were delivered and not yet acknowledged. """
    last_delivered_id: str
    """ The id of the last entry delivered to the group. Entries after it are new. """
    entries_read: int | None
    """ How many entries the group has read, from the stream's first on; null if unknown. """
    lag: int | None
    """ How many entries are not yet delivered; null if unknown. """
    encoding: GroupEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    lag_ms: int | Unset = UNSET
    """ The age of the oldest entry that is not yet delivered, in milliseconds, by the time in its id; absent if all
    are delivered, and behind a gateway. """
    max_deliveries: int | Unset = UNSET
    """ How often an entry is delivered at most; absent if not set. """
    dead_letter_stream: str | Unset = UNSET
    """ The key of the stream to which an entry moves instead of one more delivery; absent if not set. """
    filter_: str | Unset = UNSET
    """ The condition on the entries that the group delivers; absent if not set. """
    claim_min_idle_ms: int | Unset = UNSET
    """ A read of the group first claims entries that are idle for at least this long, in milliseconds; absent if
    not set. """
    consumer_expiry_ms: int | Unset = UNSET
    """ A consumer that was not seen for this long, in milliseconds, gives its entries back and is deleted; absent
    if not set. """
    max_lag_ms: int | Unset = UNSET
    """ The `lag_ms` from which the server warns; absent if not set. """
    backoff: Backoff | Unset = UNSET
    """ How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`. """
    order_by: str | Unset = UNSET
    """ The field by whose values the group delivers in order; absent if not set. """
    held: int | Unset = UNSET
    """ How many entries wait until an earlier one with the same value of `order_by` is acknowledged. `lag` includes
    them. Absent without `order_by`. """
    keys_in_flight: int | Unset = UNSET
    """ How many values of `order_by` the pending entries have; absent without `order_by`. """
    dead_letters: int | Unset = UNSET
    """ How many entries of the group ever moved to a dead-letter stream; absent if the group never had one. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        consumers = self.consumers

        pending = self.pending

        last_delivered_id = self.last_delivered_id

        entries_read: int | None
        entries_read = self.entries_read

        lag: int | None
        lag = self.lag

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        lag_ms = self.lag_ms

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

        held = self.held

        keys_in_flight = self.keys_in_flight

        dead_letters = self.dead_letters

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "consumers": consumers,
                "pending": pending,
                "last_delivered_id": last_delivered_id,
                "entries_read": entries_read,
                "lag": lag,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if lag_ms is not UNSET:
            field_dict["lag_ms"] = lag_ms
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
        if held is not UNSET:
            field_dict["held"] = held
        if keys_in_flight is not UNSET:
            field_dict["keys_in_flight"] = keys_in_flight
        if dead_letters is not UNSET:
            field_dict["dead_letters"] = dead_letters

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.backoff import Backoff  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        consumers = d.pop("consumers")

        pending = d.pop("pending")

        last_delivered_id = d.pop("last_delivered_id")

        def _parse_entries_read(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        entries_read = _parse_entries_read(d.pop("entries_read"))

        def _parse_lag(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lag = _parse_lag(d.pop("lag"))

        _encoding = d.pop("encoding", UNSET)
        encoding: GroupEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_group_encoding(_encoding)

        lag_ms = d.pop("lag_ms", UNSET)

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

        held = d.pop("held", UNSET)

        keys_in_flight = d.pop("keys_in_flight", UNSET)

        dead_letters = d.pop("dead_letters", UNSET)

        group = cls(
            name=name,
            consumers=consumers,
            pending=pending,
            last_delivered_id=last_delivered_id,
            entries_read=entries_read,
            lag=lag,
            encoding=encoding,
            lag_ms=lag_ms,
            max_deliveries=max_deliveries,
            dead_letter_stream=dead_letter_stream,
            filter_=filter_,
            claim_min_idle_ms=claim_min_idle_ms,
            consumer_expiry_ms=consumer_expiry_ms,
            max_lag_ms=max_lag_ms,
            backoff=backoff,
            order_by=order_by,
            held=held,
            keys_in_flight=keys_in_flight,
            dead_letters=dead_letters,
        )

        return group
