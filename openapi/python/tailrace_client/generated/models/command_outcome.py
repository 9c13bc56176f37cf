from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="CommandOutcome")


@_attrs_define
class CommandOutcome:
    """The reply of one command, or its error."""

    result: Any | None
    """ The reply; absent if the command failed. """
    error: None | str
    """ The Redis error line; absent if the command succeeded. """

    def to_dict(self) -> dict[str, Any]:
        result: Any | None
        result = self.result

        error: None | str
        error = self.error

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "result": result,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_result(data: object) -> Any | None:
            if data is None:
                return data
            return cast(Any | None, data)

        result = _parse_result(d.pop("result", None))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error", None))

        command_outcome = cls(
            result=result,
            error=error,
        )

        return command_outcome
