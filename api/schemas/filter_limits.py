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
    filter_step_entries: int = _bound(
        limits.FILTER_STEP_ENTRIES,
        "Entries that a filter examines before other requests are served; for a group, in one command.",
    )
    filter_step_bytes: int = _bound(
        limits.FILTER_STEP_BYTES, "Bytes of entries that a filter examines before other requests are served."
    )
    filter_turn_entries_max: int = _bound(
        limits.FILTER_TURN_ENTRIES_MAX,
        "Entries that the filters of groups examine in one transaction, or in one turn of a pipeline.",
    )
    filter_read_ms_max: int = _bound(
        limits.FILTER_READ_MS_MAX,
        "Milliseconds for which a read of a group that does not wait looks for an entry that matches.",
    )
    filter_scan_entries_max: int = _bound(
        limits.FILTER_SCAN_ENTRIES_MAX,
        "Entries that one read with a filter examines, whether or not they match. `next` continues.",
    )
    filter_scan_bytes_max: int = _bound(
        limits.FILTER_SCAN_BYTES_MAX, "Bytes of entries that one read with a filter examines."
    )
