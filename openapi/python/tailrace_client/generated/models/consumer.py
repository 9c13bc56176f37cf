from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.consumer_encoding_type_0 import (
    ConsumerEncodingType0,
    check_consumer_encoding_type_0,
)

T = TypeVar("T", bound="Consumer")


@_attrs_define
class Consumer:
    """A consumer of a group.

    Example:
        {'name': 'alice', 'pending': 2, 'idle_ms': 60000, 'inactive_ms': 60000}

    """

    name: str
    """ The consumer's name. """
    encoding: ConsumerEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    pending: int
    """ How many entries were delivered to the consumer and not yet acknowledged. """
    idle_ms: int
    """ Milliseconds since the consumer's last request. """
    inactive_ms: int | None
    """ Milliseconds since entries were last delivered to the consumer; null if never. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        pending = self.pending

        idle_ms = self.idle_ms

        inactive_ms: int | None
        inactive_ms = self.inactive_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "pending": pending,
                "idle_ms": idle_ms,
                "inactive_ms": inactive_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> ConsumerEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_consumer_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConsumerEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        pending = d.pop("pending")

        idle_ms = d.pop("idle_ms")

        def _parse_inactive_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        inactive_ms = _parse_inactive_ms(d.pop("inactive_ms", None))

        consumer = cls(
            name=name,
            encoding=encoding,
            pending=pending,
            idle_ms=idle_ms,
            inactive_ms=inactive_ms,
        )

        return consumer
