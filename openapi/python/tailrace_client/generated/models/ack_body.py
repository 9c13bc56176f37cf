from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.ack_body_references import AckBodyReferences, check_ack_body_references
from ..types import UNSET, Unset

T = TypeVar("T", bound="AckBody")


@_attrs_define
class AckBody:
    """Entries to acknowledge.

    Example:
        {'ids': ['1692632086370-0']}

    """

    ids: list[str]
    """ Entry ids. If one of them is invalid, the request fails and changes nothing. """
    delete: bool | Unset = False
    """ Delete the entries from the stream in the same atomic step (XACKDEL). The token needs `admin` in addition to
    `consume`, unless `references` is `acknowledged`. """
    references: AckBodyReferences | Unset = UNSET
    """ With `delete`: what to do with the pending entries of other groups; `keep` by default. """

    def to_dict(self) -> dict[str, Any]:
        ids = self.ids

        delete = self.delete

        references: str | Unset = UNSET
        if not isinstance(self.references, Unset):
            references = self.references

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ids": ids,
            }
        )
        if delete is not UNSET:
            field_dict["delete"] = delete
        if references is not UNSET:
            field_dict["references"] = references

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ids = cast(list[str], d.pop("ids"))

        delete = d.pop("delete", UNSET)

        _references = d.pop("references", UNSET)
        references: AckBodyReferences | Unset
        if isinstance(_references, Unset):
            references = UNSET
        else:
            references = check_ack_body_references(_references)

        ack_body = cls(
            ids=ids,
            delete=delete,
            references=references,
        )

        return ack_body
