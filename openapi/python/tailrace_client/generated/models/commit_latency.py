from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="CommitLatency")


@_attrs_define
class CommitLatency:
    """The durations of the last commits: from the start of the transaction to the end of its sync.

    Example:
        {'commits': 1000, 'p50_ms': 0.41, 'p99_ms': 1.93, 'max_ms': 4.2}

    """

    commits: int
    """ How many commits these are, up to 1000. """
    p50_ms: float | None
    """ Half of the commits took at most this long; null before the first. """
    p99_ms: float | None
    """ 99 of 100 commits took at most this long; null before the first. """
    max_ms: float | None
    """ The longest commit; null before the first. """

    def to_dict(self) -> dict[str, Any]:
        commits = self.commits

        p50_ms: float | None
        p50_ms = self.p50_ms

        p99_ms: float | None
        p99_ms = self.p99_ms

        max_ms: float | None
        max_ms = self.max_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "commits": commits,
                "p50_ms": p50_ms,
                "p99_ms": p99_ms,
                "max_ms": max_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        commits = d.pop("commits")

        def _parse_p50_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p50_ms = _parse_p50_ms(d.pop("p50_ms", None))

        def _parse_p99_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p99_ms = _parse_p99_ms(d.pop("p99_ms", None))

        def _parse_max_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        max_ms = _parse_max_ms(d.pop("max_ms", None))

        commit_latency = cls(
            commits=commits,
            p50_ms=p50_ms,
            p99_ms=p99_ms,
            max_ms=max_ms,
        )

        return commit_latency
