from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Base64Argument")


@_attrs_define
class Base64Argument:
    """An argument that is not UTF-8."""

    base64: str
    """ The argument's bytes in base64. """

    def to_dict(self) -> dict[str, Any]:
        base64 = self.base64

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "base64": base64,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        base64 = d.pop("base64")

        base_64_argument = cls(
            base64=base64,
        )

        return base_64_argument
