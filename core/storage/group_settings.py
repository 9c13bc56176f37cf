"""The settings of a group in its state: two values at the end, which older data and most groups lack.

This module never reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings


def settings_row(group: Group) -> list[Any]:
    """Return the settings and the number of dead letters; nothing for a group that never had any, so that
    its state is that of earlier releases."""
    if group.settings is None and not group.dead_letter_count:
        return []
    return [group.settings or NO_SETTINGS, group.dead_letter_count]


def restore_settings(group: Group, row: Sequence[Any]) -> None:
    """Set what `settings_row` returned."""
    if row:
        settings = msgspec.convert(row[0], GroupSettings)
        group.settings = None if settings.is_empty else settings
        group.dead_letter_count = row[1]
