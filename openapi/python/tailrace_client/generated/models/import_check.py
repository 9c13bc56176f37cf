from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ImportCheck")


@_attrs_define
class ImportCheck:
    """What an import would do.

    Example:
        {'known': False, 'count': 2}

    """

    known: bool
    """ True if an import with this idempotency key appended the lines earlier; false if the import would append
    them now. """
    count: int
    """ How many entries the body has. """

    def to_dict(self) -> dict[str, Any]:
        known = self.known

        count = self.count

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "known": known,
                "count": count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        known = d.pop("known")

        count = d.pop("count")

        import_check = cls(
            known=known,
            count=count,
        )

        return import_check
