from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.consumer_created_encoding_type_0 import (
    ConsumerCreatedEncodingType0,
    check_consumer_created_encoding_type_0,
)

T = TypeVar("T", bound="ConsumerCreated")


@_attrs_define
class ConsumerCreated:
    """A consumer that now exists, created or already there.

    Example:
        {'name': 'alice', 'created': True}

    """

    name: str
    """ The consumer's name. """
    encoding: ConsumerCreatedEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    created: bool
    """ True if the request created the consumer, false if it existed already. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        created = self.created

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "encoding": encoding,
                "created": created,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        def _parse_encoding(data: object) -> ConsumerCreatedEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_consumer_created_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConsumerCreatedEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        created = d.pop("created")

        consumer_created = cls(
            name=name,
            encoding=encoding,
            created=created,
        )

        return consumer_created
