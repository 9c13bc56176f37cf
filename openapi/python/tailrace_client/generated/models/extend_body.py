from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.extend_body_encoding import ExtendBodyEncoding, check_extend_body_encoding
from ..types import UNSET, Unset

T = TypeVar("T", bound="ExtendBody")


@_attrs_define
class ExtendBody:
    """Entries that a consumer still works on.

    Example:
        {'consumer': 'alice', 'ids': ['1692632086370-0']}

    """

    consumer: str
    """ The consumer that owns the entries. """
    ids: list[str]
    """ Entry ids. If one of them is invalid, the request fails and changes nothing. """
    encoding: ExtendBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        consumer = self.consumer

        ids = self.ids

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "consumer": consumer,
                "ids": ids,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        consumer = d.pop("consumer")

        ids = cast(list[str], d.pop("ids"))

        _encoding = d.pop("encoding", UNSET)
        encoding: ExtendBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_extend_body_encoding(_encoding)

        extend_body = cls(
            consumer=consumer,
            ids=ids,
            encoding=encoding,
        )

        return extend_body
