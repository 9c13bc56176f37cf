from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.trimming_references import TrimmingReferences, check_trimming_references
from ..types import UNSET, Unset

T = TypeVar("T", bound="Trimming")


@_attrs_define
class Trimming:
    """Which entries a trim removes: all but the newest `max_length`, or those below `min_id`. Give exactly
    one of the two.

        Example:
            {'max_length': 2}

    """

    max_length: int | Unset = UNSET
    """ How many entries to keep, the newest ones. """
    min_id: str | Unset = UNSET
    """ The smallest id to keep; the trim removes all entries below it. """
    approximate: bool | Unset = False
    """ Remove only whole blocks of entries. This is faster, but may keep more entries than asked for. """
    limit: int | Unset = UNSET
    """ With `approximate`: how many entries to remove at most; 0 means no limit. """
    references: TrimmingReferences | Unset = "keep"
    """ What a deletion does with the pending entries of consumer groups: `keep` keeps them, `delete` removes them
    too, `acknowledged` deletes only entries that every group has read and acknowledged. """

    def to_dict(self) -> dict[str, Any]:
        max_length = self.max_length

        min_id = self.min_id

        approximate = self.approximate

        limit = self.limit

        references: str | Unset = UNSET
        if not isinstance(self.references, Unset):
            references = self.references

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_length is not UNSET:
            field_dict["max_length"] = max_length
        if min_id is not UNSET:
            field_dict["min_id"] = min_id
        if approximate is not UNSET:
            field_dict["approximate"] = approximate
        if limit is not UNSET:
            field_dict["limit"] = limit
        if references is not UNSET:
            field_dict["references"] = references

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        max_length = d.pop("max_length", UNSET)

        min_id = d.pop("min_id", UNSET)

        approximate = d.pop("approximate", UNSET)

        limit = d.pop("limit", UNSET)

        _references = d.pop("references", UNSET)
        references: TrimmingReferences | Unset
        if isinstance(_references, Unset):
            references = UNSET
        else:
            references = check_trimming_references(_references)

        trimming = cls(
            max_length=max_length,
            min_id=min_id,
            approximate=approximate,
            limit=limit,
            references=references,
        )

        return trimming
