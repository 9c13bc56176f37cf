from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.delete_outcome import DeleteOutcome


T = TypeVar("T", bound="AckReply")


@_attrs_define
class AckReply:
    """The result of an acknowledgment.

    Example:
        {'acknowledged': 1}

    """

    acknowledged: int
    """ How many entries were acknowledged. """
    results: list[DeleteOutcome] | Unset = UNSET
    """ With `delete`: the result for each id, in the order of the request. `not_found`: it was not pending. """

    def to_dict(self) -> dict[str, Any]:
        acknowledged = self.acknowledged

        results: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.results, Unset):
            results = []
            for results_item_data in self.results:
                results_item = results_item_data.to_dict()
                results.append(results_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "acknowledged": acknowledged,
            }
        )
        if results is not UNSET:
            field_dict["results"] = results

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delete_outcome import DeleteOutcome  # noqa: PLC0415

        d = dict(src_dict)
        acknowledged = d.pop("acknowledged")

        _results = d.pop("results", UNSET)
        results: list[DeleteOutcome] | Unset = UNSET
        if _results is not UNSET:
            results = []
            for results_item_data in _results:
                results_item = DeleteOutcome.from_dict(results_item_data)

                results.append(results_item)

        ack_reply = cls(
            acknowledged=acknowledged,
            results=results,
        )

        return ack_reply
