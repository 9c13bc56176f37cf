from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

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

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        status = check_readiness_status(d.pop("status"))

        readiness = cls(
            status=status,
        )

        return readiness
