from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.engine_support_support import (
    EngineSupportSupport,
    check_engine_support_support,
)

T = TypeVar("T", bound="EngineSupport")


@_attrs_define
class EngineSupport:
    """How one feature of streams is provided by the engine behind the server.

    Example:
        {'name': 'XNACK', 'support': 'native', 'note': 'the engine has it'}

    """

    name: str
    """ The feature. """
    support: EngineSupportSupport
    """ `native`: the engine has it. `emulated`: the server does it with what the engine has. `refused`: requests
    for it are answered with 501. """
    note: str
    """ What that means for a client, or what the engine would need. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        support: str = self.support

        note = self.note

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "support": support,
                "note": note,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        support = check_engine_support_support(d.pop("support"))

        note = d.pop("note")

        engine_support = cls(
            name=name,
            support=support,
            note=note,
        )

        return engine_support
