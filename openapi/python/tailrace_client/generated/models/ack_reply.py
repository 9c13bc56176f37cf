from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

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
    results: list[DeleteOutcome] | None
    """ With `delete`: the result for each id, in the order of the request. `not_found`: it was not pending. """

    def to_dict(self) -> dict[str, Any]:
        acknowledged = self.acknowledged

        results: list[dict[str, Any]] | None
        if isinstance(self.results, list):
            results = []
            for results_type_0_item_data in self.results:
                results_type_0_item = results_type_0_item_data.to_dict()
                results.append(results_type_0_item)

        else:
            results = self.results

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "acknowledged": acknowledged,
                "results": results,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delete_outcome import DeleteOutcome  # noqa: PLC0415

        d = dict(src_dict)
        acknowledged = d.pop("acknowledged")

        def _parse_results(data: object) -> list[DeleteOutcome] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                results_type_0 = []
                _results_type_0 = data
                for results_type_0_item_data in _results_type_0:
                    results_type_0_item = DeleteOutcome.from_dict(results_type_0_item_data)

                    results_type_0.append(results_type_0_item)

                return results_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[DeleteOutcome] | None, data)

        results = _parse_results(d.pop("results", None))

        ack_reply = cls(
            acknowledged=acknowledged,
            results=results,
        )

        return ack_reply
