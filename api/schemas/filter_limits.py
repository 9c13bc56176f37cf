"""Wire model of the limits of filters, a part of all limits of the server."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from tailrace.core import limits


def _bound(value: int, description: str) -> Any:
    return Field(description=description, examples=[value])


class FilterLimits(BaseModel):
    """The limits of filters."""

    filter_characters_max: int = _bound(limits.FILTER_CHARACTERS_MAX, "Characters of a filter.")
    filter_depth_max: int = _bound(
        limits.FILTER_DEPTH_MAX, "How deeply the conditions of a filter can be nested."
    )
    filter_tests_max: int = _bound(limits.FILTER_TESTS_MAX, "Tests of single fields in one filter.")
    filter_scan_entries_max: int = _bound(
        limits.FILTER_SCAN_ENTRIES_MAX,
        "Entries that one read with a filter examines, whether or not they match. `next` continues.",
    )
    filter_scan_bytes_max: int = _bound(
        limits.FILTER_SCAN_BYTES_MAX, "Bytes of entries that one read with a filter examines."
    )
