from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.consumer_created_encoding import (
    ConsumerCreatedEncoding,
    check_consumer_created_encoding,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConsumerCreated")


@_attrs_define
class ConsumerCreated:
    """A consumer that now exists, created or already there.

    Example:
        {'name': 'alice', 'created': True}

    """

    name: str
    """ The consumer's name. """
    created: bool
    """ True if the request created the consumer, false if it existed already. """
    encoding: ConsumerCreatedEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        created = self.created

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "created": created,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        created = d.pop("created")

        _encoding = d.pop("encoding", UNSET)
        encoding: ConsumerCreatedEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_consumer_created_encoding(_encoding)

        consumer_created = cls(
            name=name,
            created=created,
            encoding=encoding,
        )

        return consumer_created
