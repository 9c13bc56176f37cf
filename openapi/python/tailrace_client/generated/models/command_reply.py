from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="CommandReply")


@_attrs_define
class CommandReply:
    """The RESP2 reply as JSON: string, number, null, array, or a status such as `"OK"`.

    Example:
        {'result': 3}

    """

    result: Any

    def to_dict(self) -> dict[str, Any]:
        result = self.result

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "result": result,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        result = d.pop("result")

        command_reply = cls(
            result=result,
        )

        return command_reply
