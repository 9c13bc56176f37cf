from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="MemoryState")


@_attrs_define
class MemoryState:
    """The memory of the process.

    Example:
        {'resident_bytes': 61000000, 'limit_bytes': None, 'is_limit_reached': False, 'cache_bytes': 1200000,
            'cache_max_bytes': 67633152}

    """

    resident_bytes: int
    """ The resident memory of the process. """
    limit_bytes: int | None
    """ The resident memory above which appends are refused; null for no limit. """
    is_limit_reached: bool
    """ Whether appends are refused now. """
    cache_bytes: int | None
    """ The memory of decoded blocks; null behind a gateway. """
    cache_max_bytes: int | None
    """ The largest memory of decoded blocks; null behind a gateway. """

    def to_dict(self) -> dict[str, Any]:
        resident_bytes = self.resident_bytes

        limit_bytes: int | None
        limit_bytes = self.limit_bytes

        is_limit_reached = self.is_limit_reached

        cache_bytes: int | None
        cache_bytes = self.cache_bytes

        cache_max_bytes: int | None
        cache_max_bytes = self.cache_max_bytes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "resident_bytes": resident_bytes,
                "limit_bytes": limit_bytes,
                "is_limit_reached": is_limit_reached,
                "cache_bytes": cache_bytes,
                "cache_max_bytes": cache_max_bytes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        resident_bytes = d.pop("resident_bytes")

        def _parse_limit_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        limit_bytes = _parse_limit_bytes(d.pop("limit_bytes", None))

        is_limit_reached = d.pop("is_limit_reached")

        def _parse_cache_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        cache_bytes = _parse_cache_bytes(d.pop("cache_bytes", None))

        def _parse_cache_max_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        cache_max_bytes = _parse_cache_max_bytes(d.pop("cache_max_bytes", None))

        memory_state = cls(
            resident_bytes=resident_bytes,
            limit_bytes=limit_bytes,
            is_limit_reached=is_limit_reached,
            cache_bytes=cache_bytes,
            cache_max_bytes=cache_max_bytes,
        )

        return memory_state
