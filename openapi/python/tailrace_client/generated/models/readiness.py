from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.readiness_status import ReadinessStatus, check_readiness_status

T = TypeVar("T", bound="Readiness")


@_attrs_define
class Readiness:
    """The server accepts requests.

    Example:
        {'status': 'ready'}

    """

    status: ReadinessStatus
    """ Always `ready`; a server that is not ready answers 503. """
    warnings: list[str] | None
    """ What to change at the engine behind a gateway; missing if there is nothing. """

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        warnings: list[str] | None
        if isinstance(self.warnings, list):
            warnings = self.warnings

        else:
            warnings = self.warnings

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
                "warnings": warnings,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = check_readiness_status(d.pop("status"))

        def _parse_warnings(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                warnings_type_0 = cast(list[str], data)

                return warnings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        warnings = _parse_warnings(d.pop("warnings", None))

        readiness = cls(
            status=status,
            warnings=warnings,
        )

        return readiness
