from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommandOutcome")


@_attrs_define
class CommandOutcome:
    """The reply of one command, or its error."""

    result: Any | Unset = UNSET
    error: str | Unset = UNSET
    """ The Redis error line; absent if the command succeeded. """

    def to_dict(self) -> dict[str, Any]:
        result = self.result

        error = self.error

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if result is not UNSET:
            field_dict["result"] = result
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        result = d.pop("result", UNSET)

        error = d.pop("error", UNSET)

        command_outcome = cls(
            result=result,
            error=error,
        )

        return command_outcome
