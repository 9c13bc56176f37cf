from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.group_encoding_type_0 import (
    GroupEncodingType0,
    check_group_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.backoff_state import BackoffState


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
    encoding: GroupEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    consumers: int
    """ How many consumers the group has. """
    pending: int
    """ How many entries were delivered and not yet acknowledged. """
    last_delivered_id: str
    """ The id of the last entry delivered to the group. Entries after it are new. """
    entries_read: int | None
    """ How many entries the group has read, from the stream's first on; null if unknown. """
    lag: int | None
    """ How many entries are not yet delivered; null if the engine of a gateway does not know it. """
    lag_ms: int | None
    """ The age of the oldest entry that is not yet delivered, in milliseconds, by the time in its id; absent if all
    are delivered, and behind a gateway. """
    max_deliveries: int | None
    """ How often an entry is delivered at most; absent if not set. """
    dead_letter_stream: None | str
    """ The key of the stream to which an entry moves instead of one more delivery; absent if not set. """
    filter_: None | str
    """ The condition on the entries that the group delivers; absent if not set. """
    claim_min_idle_ms: int | None
    """ A read of the group first claims entries that are idle for at least this long, in milliseconds; absent if
    not set. """
    consumer_expiry_ms: int | None
    """ A consumer that was not seen for this long, in milliseconds, gives its entries back and is deleted; absent
    if not set. """
    max_lag_ms: int | None
    """ The `lag_ms` from which the server warns; absent if not set. """
    backoff: BackoffState | None
    """ How long a nack delays the next delivery of an entry; absent if not set. """
    order_by: None | str
    """ The field by whose values the group delivers in order; absent if not set. """
    held: int | None
    """ How many entries wait until an earlier one with the same value of `order_by` is acknowledged. `lag` includes
    them. Absent without `order_by`. """
    keys_in_flight: int | None
    """ How many values of `order_by` the pending entries have; absent without `order_by`. """
    dead_letters: int | None
    """ How many entries of the group ever moved to a dead-letter stream; absent if the group never had one. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.backoff_state import BackoffState  # noqa: PLC0415

        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        consumers = self.consumers

        pending = self.pending

        last_delivered_id = self.last_delivered_id

        entries_read: int | None
        entries_read = self.entries_read

        lag: int | None
        lag = self.lag

        lag_ms: int | None
        lag_ms = self.lag_ms

        max_deliveries: int | None
        max_deliveries = self.max_deliveries

        dead_letter_stream: None | str
        dead_letter_stream = self.dead_letter_stream

        filter_: None | str
        filter_ = self.filter_

        claim_min_idle_ms: int | None
        claim_min_idle_ms = self.claim_min_idle_ms

        consumer_expiry_ms: int | None
        consumer_expiry_ms = self.consumer_expiry_ms

        max_lag_ms: int | None
        max_lag_ms = self.max_lag_ms

        backoff: dict[str, Any] | None
        if isinstance(self.backoff, BackoffState):
            backoff = self.backoff.to_dict()
        else:
            backoff = self.backoff

        order_by: None | str
        order_by = self.order_by

        held: int | None
        held = self.held

        keys_in_flight: int | None
        keys_in_flight = self.keys_in_flight

        dead_letters: int | None
        dead_letters = self.dead_letters

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "consumers": consumers,
                "pending": pending,
                "last_delivered_id": last_delivered_id,
                "entries_read": entries_read,
                "lag": lag,
                "lag_ms": lag_ms,
                "max_deliveries": max_deliveries,
                "dead_letter_stream": dead_letter_stream,
                "filter": filter_,
                "claim_min_idle_ms": claim_min_idle_ms,
                "consumer_expiry_ms": consumer_expiry_ms,
                "max_lag_ms": max_lag_ms,
                "backoff": backoff,
                "order_by": order_by,
                "held": held,
                "keys_in_flight": keys_in_flight,
                "dead_letters": dead_letters,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.backoff_state import BackoffState  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> GroupEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_group_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GroupEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        consumers = d.pop("consumers")

        pending = d.pop("pending")

        last_delivered_id = d.pop("last_delivered_id")

        def _parse_entries_read(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        entries_read = _parse_entries_read(d.pop("entries_read", None))

        def _parse_lag(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lag = _parse_lag(d.pop("lag", None))

        def _parse_lag_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        lag_ms = _parse_lag_ms(d.pop("lag_ms", None))

        def _parse_max_deliveries(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_deliveries = _parse_max_deliveries(d.pop("max_deliveries", None))

        def _parse_dead_letter_stream(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        dead_letter_stream = _parse_dead_letter_stream(d.pop("dead_letter_stream", None))

        def _parse_filter_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        filter_ = _parse_filter_(d.pop("filter", None))

        def _parse_claim_min_idle_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        claim_min_idle_ms = _parse_claim_min_idle_ms(d.pop("claim_min_idle_ms", None))

        def _parse_consumer_expiry_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        consumer_expiry_ms = _parse_consumer_expiry_ms(d.pop("consumer_expiry_ms", None))

        def _parse_max_lag_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_lag_ms = _parse_max_lag_ms(d.pop("max_lag_ms", None))

        def _parse_backoff(data: object) -> BackoffState | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                backoff_type_1 = BackoffState.from_dict(data)

                return backoff_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BackoffState | None, data)

        backoff = _parse_backoff(d.pop("backoff", None))

        def _parse_order_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        order_by = _parse_order_by(d.pop("order_by", None))

        def _parse_held(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        held = _parse_held(d.pop("held", None))

        def _parse_keys_in_flight(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        keys_in_flight = _parse_keys_in_flight(d.pop("keys_in_flight", None))

        def _parse_dead_letters(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        dead_letters = _parse_dead_letters(d.pop("dead_letters", None))

        group = cls(
            name=name,
            encoding=encoding,
            consumers=consumers,
            pending=pending,
            last_delivered_id=last_delivered_id,
            entries_read=entries_read,
            lag=lag,
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
