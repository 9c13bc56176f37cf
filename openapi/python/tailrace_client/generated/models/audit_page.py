from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.audit_line import AuditLine


T = TypeVar("T", bound="AuditPage")


@_attrs_define
class AuditPage:
    """The most recent lines of the audit log. The log of the process has all of them.

    Example:
        {'capacity': 128, 'acts': [{'at_ms': 1795180211331, 'token_id': '3f9a0c27b1d4', 'token': 'operator',
            'operation': 'delete_stream', 'keys': ['race:italy'], 'keys_count': 1, 'outcome': 'done', 'request_id':
            'c02051d26e634ba9af4eea1f243a0353'}]}

    """

    capacity: int
    """ How many lines the server keeps in memory. """
    acts: list[AuditLine]
    """ The lines, newest first. """

    def to_dict(self) -> dict[str, Any]:
        capacity = self.capacity

        acts = []
        for acts_item_data in self.acts:
            acts_item = acts_item_data.to_dict()
            acts.append(acts_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "capacity": capacity,
                "acts": acts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_line import AuditLine  # noqa: PLC0415

        d = dict(src_dict)
        capacity = d.pop("capacity")

        acts = []
        _acts = d.pop("acts")
        for acts_item_data in _acts:
            acts_item = AuditLine.from_dict(acts_item_data)

            acts.append(acts_item)

        audit_page = cls(
            capacity=capacity,
            acts=acts,
        )

        return audit_page
