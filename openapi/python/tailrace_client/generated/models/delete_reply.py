from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.delete_outcome import DeleteOutcome


T = TypeVar("T", bound="DeleteReply")


@_attrs_define
class DeleteReply:
    """The result for each id.

    Example:
        {'deleted': 1, 'results': [{'id': '1692632086370-0', 'result': 'deleted'}, {'id': '1-0', 'result':
            'not_found'}]}

    """

    deleted: int
    """ How many entries were deleted. """
    results: list[DeleteOutcome]
    """ One item for each id of the request, in the same order. """

    def to_dict(self) -> dict[str, Any]:
        deleted = self.deleted

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "deleted": deleted,
                "results": results,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delete_outcome import DeleteOutcome  # noqa: PLC0415

        d = dict(src_dict)
        deleted = d.pop("deleted")

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = DeleteOutcome.from_dict(results_item_data)

            results.append(results_item)

        delete_reply = cls(
            deleted=deleted,
            results=results,
        )

        return delete_reply
