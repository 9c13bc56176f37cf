from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.delete_outcome_result import (
    DeleteOutcomeResult,
    check_delete_outcome_result,
)

T = TypeVar("T", bound="DeleteOutcome")


@_attrs_define
class DeleteOutcome:
    """The result for one id."""

    id: str
    """ An entry id, `ms-seq`, as a string. """
    result: DeleteOutcomeResult
    """ `referenced`: the entry was kept, because a group still refers to it. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        result: str = self.result

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "result": result,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        result = check_delete_outcome_result(d.pop("result"))

        delete_outcome = cls(
            id=id,
            result=result,
        )

        return delete_outcome
