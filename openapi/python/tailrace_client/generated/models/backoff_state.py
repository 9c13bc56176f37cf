from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="BackoffState")


@_attrs_define
class BackoffState:
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`.

        Example:
            {'initial_ms': 1000, 'factor': 2.0, 'max_ms': 60000}

    """

    initial_ms: int
    """ The delay after the first delivery, in milliseconds. """
    factor: float | None = 2.0
    """ By which factor the delay grows with each delivery. """
    max_ms: int | None = 3600000
    """ The longest delay, in milliseconds; at least `initial_ms`. """

    def to_dict(self) -> dict[str, Any]:
        initial_ms = self.initial_ms

        factor: float | None
        factor = self.factor

        max_ms: int | None
        max_ms = self.max_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "initial_ms": initial_ms,
                "factor": factor,
                "max_ms": max_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        initial_ms = d.pop("initial_ms")

        def _parse_factor(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        factor = _parse_factor(d.pop("factor", None))

        def _parse_max_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_ms = _parse_max_ms(d.pop("max_ms", None))

        backoff_state = cls(
            initial_ms=initial_ms,
            factor=factor,
            max_ms=max_ms,
        )

        return backoff_state
