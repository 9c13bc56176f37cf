from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.consumer_encoding import ConsumerEncoding, check_consumer_encoding
from ..types import UNSET, Unset

T = TypeVar("T", bound="Consumer")


@_attrs_define
class Consumer:
    """A consumer of a group.

    Example:
        {'name': 'alice', 'pending': 2, 'idle_ms': 60000, 'inactive_ms': 60000}

    """

    name: str
    """ The consumer's name. """
    pending: int
    """ How many entries were delivered to the consumer and not yet acknowledged. """
    idle_ms: int
    """ Milliseconds since the consumer's last request. """
    inactive_ms: int | None
    """ Milliseconds since entries were last delivered to the consumer; null if never. """
    encoding: ConsumerEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        pending = self.pending

        idle_ms = self.idle_ms

        inactive_ms: int | None
        inactive_ms = self.inactive_ms

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "pending": pending,
                "idle_ms": idle_ms,
                "inactive_ms": inactive_ms,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        pending = d.pop("pending")

        idle_ms = d.pop("idle_ms")

        def _parse_inactive_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        inactive_ms = _parse_inactive_ms(d.pop("inactive_ms"))

        _encoding = d.pop("encoding", UNSET)
        encoding: ConsumerEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_consumer_encoding(_encoding)

        consumer = cls(
            name=name,
            pending=pending,
            idle_ms=idle_ms,
            inactive_ms=inactive_ms,
            encoding=encoding,
        )

        return consumer
