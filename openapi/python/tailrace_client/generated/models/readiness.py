from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.readiness_status import ReadinessStatus, check_readiness_status
from ..types import UNSET, Unset

T = TypeVar("T", bound="Readiness")


@_attrs_define
class Readiness:
    """The server accepts requests.

    Example:
        {'status': 'ready'}

    """

    status: ReadinessStatus
    """ Always `ready`; a server that is not ready answers 503. """
    warnings: list[str] | Unset = UNSET
    """ What to change at the engine behind a gateway; missing if there is nothing. """

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = check_readiness_status(d.pop("status"))

        warnings = cast(list[str], d.pop("warnings", UNSET))

        readiness = cls(
            status=status,
            warnings=warnings,
        )

        return readiness
