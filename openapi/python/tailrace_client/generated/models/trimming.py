from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..models.trimming_references import TrimmingReferences, check_trimming_references
from ..types import UNSET, Unset

T = TypeVar("T", bound="Trimming")


@_attrs_define
class Trimming:
    """Which entries go: all but the newest `max_length`, or those below `min_id`. Exactly one.

    Example:
        {'max_length': 2}

    """

    max_length: int | Unset = UNSET
    """ Entries to keep. """
    min_id: str | Unset = UNSET
    """ The least id to keep. """
    approximate: bool | Unset = False
    """ Remove only whole blocks, which is cheaper: some more entries may stay. """
    limit: int | Unset = UNSET
    """ With `approximate`: the most entries to remove at once; 0 is no bound. """
    references: TrimmingReferences | Unset = "keep"
    """ What a deletion does with pending entries that point at the entry: `keep` leaves them, `delete` removes them
    too, `acknowledged` deletes only what every group has read and acknowledged. """

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
