from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.delete_body_references import (
    DeleteBodyReferences,
    check_delete_body_references,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="DeleteBody")


@_attrs_define
class DeleteBody:
    """Entries to delete.

    Example:
        {'ids': ['1692632086370-0', '1-0']}

    """

    ids: list[str]
    """ Entry ids. If one of them is invalid, the request fails and changes nothing. """
    references: DeleteBodyReferences | Unset = "keep"
    """ What a deletion does with the pending entries of consumer groups: `keep` keeps them, `delete` removes them
    too, `acknowledged` deletes only entries that every group has read and acknowledged. """

    def to_dict(self) -> dict[str, Any]:
        ids = self.ids

        references: str | Unset = UNSET
        if not isinstance(self.references, Unset):
            references = self.references

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ids": ids,
            }
        )
        if references is not UNSET:
            field_dict["references"] = references

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ids = cast(list[str], d.pop("ids"))

        _references = d.pop("references", UNSET)
        references: DeleteBodyReferences | Unset
        if isinstance(_references, Unset):
            references = UNSET
        else:
            references = check_delete_body_references(_references)

        delete_body = cls(
            ids=ids,
            references=references,
        )

        return delete_body
