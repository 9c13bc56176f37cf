from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.slow_operation import SlowOperation


T = TypeVar("T", bound="SlowLogPage")


@_attrs_define
class SlowLogPage:
    """The most recent slow operations, newest first.

    Example:
        {'threshold_ms': 10, 'capacity': 128, 'operations': [{'id': 7, 'at_ms': 1795180211331, 'operation':
            'import_entries', 'request_id': 'c02051d26e634ba9af4eea1f243a0353', 'engine_ms': 14.2, 'commit_ms': 1.9,
            'other_ms': 9.7, 'command_count': 1, 'commands': [{'command': 'xadd', 'keys': ['race:france'], 'sizes':
            {'entries': 1000, 'bytes': 61000}}]}]}

    """

    threshold_ms: int
    """ Milliseconds of the server's own time from which on an operation is recorded. 0 records all operations, -1
    none. """
    capacity: int
    """ How many operations the log keeps. """
    operations: list[SlowOperation]
    """ The operations, newest first. """

    def to_dict(self) -> dict[str, Any]:
        threshold_ms = self.threshold_ms

        capacity = self.capacity

        operations = []
        for operations_item_data in self.operations:
            operations_item = operations_item_data.to_dict()
            operations.append(operations_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "threshold_ms": threshold_ms,
                "capacity": capacity,
                "operations": operations,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.slow_operation import SlowOperation  # noqa: PLC0415

        d = dict(src_dict)
        threshold_ms = d.pop("threshold_ms")

        capacity = d.pop("capacity")

        operations = []
        _operations = d.pop("operations")
        for operations_item_data in _operations:
            operations_item = SlowOperation.from_dict(operations_item_data)

            operations.append(operations_item)

        slow_log_page = cls(
            threshold_ms=threshold_ms,
            capacity=capacity,
            operations=operations,
        )

        return slow_log_page
