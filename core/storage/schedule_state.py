"""The scheduled entries of a stream in its state. This module never reads or writes a file."""

from __future__ import annotations

from typing import Any

from tailrace.core.schedule import Schedule
from tailrace.core.storage.ids import ids_bytes, ids_of


def schedule_row(schedule: Schedule | None) -> list[Any] | None:
    """Return ids, fragments and the greatest number. O(scheduled entries)."""
    if schedule is None:
        return None
    return [ids_bytes(list(schedule.ids())), list(schedule.entries.values()), schedule.last_number]


def schedule_of(row: list[Any] | None) -> Schedule | None:
    """Return the schedule: the inverse of `schedule_row`."""
    if row is None:
        return None
    ids, fragments, last_number = row
    schedule = Schedule()
    if fragments:
        schedule.add(ids_of(ids), fragments)
    schedule.last_number = last_number
    return schedule
