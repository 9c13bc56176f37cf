"""Filters: conditions on the fields of entries, in a subset of CEL.

`compile_filter` turns the text of a filter into a `Filter`, which tests stored entries. The package never
reads a stream, and never decides what happens with entries that do not match.
"""

from __future__ import annotations

from tailrace.core.filters.filter import Filter, compile_filter
from tailrace.core.filters.places import invalid_filter

__all__ = ["Filter", "compile_filter", "invalid_filter"]
