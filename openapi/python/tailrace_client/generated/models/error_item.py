from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ErrorItem")


@_attrs_define
class ErrorItem:
    """One mistake in a request, and its place."""

    detail: str
    """ What is wrong, what is allowed, and what to do. """
    pointer: None | str
    """ The place in the body as a JSON pointer; empty for the whole body. """
    line: int | None
    """ The line of the body, counted from 1. """
    column: int | None
    """ The column where the line stops being valid JSON, counted from 1. """
    parameter: None | str
    """ The name of the parameter. """
    in_: None | str
    """ The place of the parameter: `path`, `query` or `header`. """

    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        pointer: None | str
        pointer = self.pointer

        line: int | None
        line = self.line

        column: int | None
        column = self.column

        parameter: None | str
        parameter = self.parameter

        in_: None | str
        in_ = self.in_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "detail": detail,
                "pointer": pointer,
                "line": line,
                "column": column,
                "parameter": parameter,
                "in": in_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        detail = d.pop("detail")

        def _parse_pointer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        pointer = _parse_pointer(d.pop("pointer", None))

        def _parse_line(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        line = _parse_line(d.pop("line", None))

        def _parse_column(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        column = _parse_column(d.pop("column", None))

        def _parse_parameter(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        parameter = _parse_parameter(d.pop("parameter", None))

        def _parse_in_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        in_ = _parse_in_(d.pop("in", None))

        error_item = cls(
            detail=detail,
            pointer=pointer,
            line=line,
            column=column,
            parameter=parameter,
            in_=in_,
        )

        return error_item
