from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="EngineNode")


@_attrs_define
class EngineNode:
    """A node of the engine behind a gateway.

    Example:
        {'address': '10.0.0.1:6379', 'role': 'master', 'is_up': True}

    """

    address: str
    """ The host and port of the node. """
    role: str
    """ `master` or `replica`. """
    is_up: bool
    """ Whether the server has a connection to the node. """

    def to_dict(self) -> dict[str, Any]:
        address = self.address

        role = self.role

        is_up = self.is_up

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "address": address,
                "role": role,
                "is_up": is_up,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        address = d.pop("address")

        role = d.pop("role")

        is_up = d.pop("is_up")

        engine_node = cls(
            address=address,
            role=role,
            is_up=is_up,
        )

        return engine_node
