"""The settings of a group in its state, and its order by key: values at the end, which older data and most
groups lack.

This module never reads or writes a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.id_keys import IdTable, OrderedIdTable
from tailrace.core.key_order import KeyOrder
from tailrace.core.storage.ids import ids_bytes, ids_of


def settings_row(group: Group) -> list[Any]:
    """Return the settings, the number of dead letters, and the order by key if there is one; nothing for a
    group that never had any, so that its state is that of earlier releases. O(parts of the order)."""
    if group.settings is None and not group.dead_letter_count and group.order is None:
        return []
    row = [group.settings or NO_SETTINGS, group.dead_letter_count]
    return row if group.order is None else [*row, _order_row(group.order)]


def restore_settings(group: Group, row: Sequence[Any]) -> None:
    """Set what `settings_row` returned."""
    if row:
        settings = msgspec.convert(row[0], GroupSettings)
        group.settings = None if settings.is_empty else settings
        group.dead_letter_count = row[1]
        group.order = _order_of(row[2]) if len(row) > 2 else None  # noqa: PLR2004 - the third value


def _order_row(order: KeyOrder) -> list[Any]:
    in_flight = [ids_bytes(list(order.key_of)), list(order.key_of.values())]
    held = [ids_bytes(list(order.held)), list(order.held.values())]
    return [order.field, *in_flight, *held, ids_bytes(list(order.ready))]


def _order_of(row: Sequence[Any]) -> KeyOrder:
    field, in_flight, keys, held, held_keys, ready = row
    key_of = IdTable.of(ids_of(in_flight), keys)
    held_of = OrderedIdTable.of(ids_of(held), held_keys)
    return KeyOrder.restored(field, key_of, held_of, ids_of(ready))
