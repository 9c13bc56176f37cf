from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.pending_of_consumer_encoding_type_0 import (
    PendingOfConsumerEncodingType0,
    check_pending_of_consumer_encoding_type_0,
)

T = TypeVar("T", bound="PendingOfConsumer")


@_attrs_define
class PendingOfConsumer:
    """The number of pending entries of one consumer."""

    name: str
    """ The consumer's name. """
    encoding: None | PendingOfConsumerEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    pending: int
    """ How many entries are pending for the consumer. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        pending = self.pending

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "pending": pending,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> None | PendingOfConsumerEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_pending_of_consumer_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PendingOfConsumerEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        pending = d.pop("pending")

        pending_of_consumer = cls(
            name=name,
            encoding=encoding,
            pending=pending,
        )

        return pending_of_consumer
