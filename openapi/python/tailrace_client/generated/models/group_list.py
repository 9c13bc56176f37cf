from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.group import Group


T = TypeVar("T", bound="GroupList")


@_attrs_define
class GroupList:
    """The groups of a stream, in byte order of their names.

    Example:
        {'groups': [{'name': 'judges', 'consumers': 1, 'pending': 2, 'last_delivered_id': '1692632094485-0',
            'entries_read': 2, 'lag': 1, 'lag_ms': 44997}]}

    """

    groups: list[Group]
    """ The groups of the stream. """

    def to_dict(self) -> dict[str, Any]:
        groups = []
        for groups_item_data in self.groups:
            groups_item = groups_item_data.to_dict()
            groups.append(groups_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "groups": groups,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.group import Group  # noqa: PLC0415

        d = dict(src_dict)
        groups = []
        _groups = d.pop("groups")
        for groups_item_data in _groups:
            groups_item = Group.from_dict(groups_item_data)

            groups.append(groups_item)

        group_list = cls(
            groups=groups,
        )

        return group_list
