from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ErrorItem")


@_attrs_define
class ErrorItem:
    """One mistake in a request, and its place."""

    detail: str
    """ What is wrong, what is allowed, and what to do. """
    pointer: str | Unset = UNSET
    """ The place in the body as a JSON pointer; empty for the whole body. """
    line: int | Unset = UNSET
    """ The line of the body, counted from 1. """
    column: int | Unset = UNSET
    """ The column where the line stops being valid JSON, counted from 1. """
    parameter: str | Unset = UNSET
    """ The name of the parameter. """
    in_: str | Unset = UNSET
    """ The place of the parameter: `path`, `query` or `header`. """

    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        pointer = self.pointer

        line = self.line

        column = self.column

        parameter = self.parameter

        in_ = self.in_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "detail": detail,
            }
        )
        if pointer is not UNSET:
            field_dict["pointer"] = pointer
        if line is not UNSET:
            field_dict["line"] = line
        if column is not UNSET:
            field_dict["column"] = column
        if parameter is not UNSET:
            field_dict["parameter"] = parameter
        if in_ is not UNSET:
            field_dict["in"] = in_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        detail = d.pop("detail")

        pointer = d.pop("pointer", UNSET)

        line = d.pop("line", UNSET)

        column = d.pop("column", UNSET)

        parameter = d.pop("parameter", UNSET)

        in_ = d.pop("in", UNSET)

        error_item = cls(
            detail=detail,
            pointer=pointer,
            line=line,
            column=column,
            parameter=parameter,
            in_=in_,
        )

        return error_item
