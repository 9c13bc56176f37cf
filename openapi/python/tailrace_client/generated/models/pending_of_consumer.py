from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.pending_of_consumer_encoding import (
    PendingOfConsumerEncoding,
    check_pending_of_consumer_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="PendingOfConsumer")


@_attrs_define
class PendingOfConsumer:
    """The number of pending entries of one consumer."""

    name: str
    """ The consumer's name. """
    pending: int
    """ How many entries are pending for the consumer. """
    encoding: PendingOfConsumerEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        pending = self.pending

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "pending": pending,
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

        _encoding = d.pop("encoding", UNSET)
        encoding: PendingOfConsumerEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_pending_of_consumer_encoding(_encoding)

        pending_of_consumer = cls(
            name=name,
            pending=pending,
            encoding=encoding,
        )

        return pending_of_consumer
