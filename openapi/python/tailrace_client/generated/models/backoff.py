from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Backoff")


@_attrs_define
class Backoff:
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`.

        Example:
            {'initial_ms': 1000, 'factor': 2.0, 'max_ms': 60000}

    """

    initial_ms: int
    """ The delay after the first delivery, in milliseconds. """
    factor: float | Unset = 2.0
    """ By which factor the delay grows with each delivery. """
    max_ms: int | Unset = 3600000
    """ The longest delay, in milliseconds; at least `initial_ms`. """

    def to_dict(self) -> dict[str, Any]:
        initial_ms = self.initial_ms

        factor = self.factor

        max_ms = self.max_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "initial_ms": initial_ms,
            }
        )
        if factor is not UNSET:
            field_dict["factor"] = factor
        if max_ms is not UNSET:
            field_dict["max_ms"] = max_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        initial_ms = d.pop("initial_ms")

        factor = d.pop("factor", UNSET)

        max_ms = d.pop("max_ms", UNSET)

        backoff = cls(
            initial_ms=initial_ms,
            factor=factor,
            max_ms=max_ms,
        )

        return backoff
