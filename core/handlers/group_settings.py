"""Changing the settings of a group. Each handler that a setting concerns applies it.

Setting `order_by` on a group that has pending or held entries reads their keys from the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from msgspec import UNSET
from msgspec.structs import astuple, replace

from tailrace.core.commands import ConfigureGroup
from tailrace.core.effects import Effect, EntriesHeld, GroupConfigured, KeysTaken
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.execution import Execution
from tailrace.core.filters import compile_filter
from tailrace.core.filters.conditions import UTF8
from tailrace.core.group import Group
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.handlers.groups import require_group
from tailrace.core.handlers.ordered_delivery import keys_of
from tailrace.core.limits import (
    BACKOFF_FACTOR_MAX,
    CONSUMER_EXPIRY_MS_MIN,
    DELAY_MS_MAX,
    FILTER_SCAN_BYTES_MAX,
    NAME_BYTES_MAX,
    ORDERED_ENTRIES_MAX,
)
from tailrace.core.stream_id import StreamId


def begun_order(
    execution: Execution, key: bytes, group: Group, before: str | None, after: str | None
) -> list[Effect]:
    """Return what follows a change of `order_by`: the keys of pending entries are in flight, and held entries
    wait for their new keys. O(pending + held entries).

    Raises LIMIT_EXCEEDED if there are more than `ORDERED_ENTRIES_MAX`, or if they are too large.
    """
    if after is None or after == before:
        return []
    held = [] if group.order is None else list(group.order.held)
    count = group.pending.count + len(held)
    if count > ORDERED_ENTRIES_MAX:
        _refuse(group, f"has {count} pending and held entries, and {ORDERED_ENTRIES_MAX} are allowed")
    effects: list[Effect] = []
    pending, keys = _with_keys(execution, key, group, list(group.pending.ids()), after)
    taken = [(value, each) for value, each in zip(pending, keys, strict=True) if each is not None]
    if taken:
        effects.append(KeysTaken(key, group.name, [value for value, _ in taken], [each for _, each in taken]))
    if held:
        effects.append(EntriesHeld(key, group.name, *_with_keys(execution, key, group, held, after)))
    return effects


def _with_keys(
    execution: Execution, key: bytes, group: Group, ids: Sequence[StreamId], field: str
) -> tuple[list[StreamId], list[bytes | None]]:
    """Return the live ones of `ids`, with their keys."""
    fragments = execution.keyspace.streams[key].log.get_many(ids, FILTER_SCAN_BYTES_MAX)
    if len(fragments) < len(ids):
        _refuse(group, f"has more than {FILTER_SCAN_BYTES_MAX} bytes of pending and held entries")
    live = [value for value, fragment in zip(ids, fragments, strict=True) if fragment is not None]
    return live, keys_of(field, [fragment for fragment in fragments if fragment is not None])


def _refuse(group: Group, what: str) -> NoReturn:
    raise StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR order_by cannot be set now: the group '{printable(group.name)}' {what}; acknowledge some "
        "first, or create another group",
    )


_LEAST: Final = {
    "max_deliveries": 1,
    "claim_min_idle_ms": 1,
    "consumer_expiry_ms": CONSUMER_EXPIRY_MS_MIN,
    "max_lag_ms": 1,
    "backoff_initial_ms": 1,
    "backoff_factor": 1,
}
"""The least value of each setting that is a number."""


def configure_group(execution: Execution, command: ConfigureGroup) -> None:
    """Change settings of a group; the same values again change nothing. O(1).

    Waiting readers run their commands again, because they may claim earlier now. Raises NO_SUCH_STREAM,
    NOGROUP, INVALID_ARGUMENT for settings that are too small or do not fit together, and INVALID_FILTER. A
    new `order_by` reads the pending and held entries, and raises LIMIT_EXCEEDED if they are too many.
    """
    group = require_group(execution, command.key, command.group)
    before = group.settings or NO_SETTINGS
    values = {name: getattr(command, name) for name in GroupSettings.__struct_fields__}
    after = replace(before, **{name: value for name, value in values.items() if value is not UNSET})
    _require_great_enough(after)
    _require_fitting_dead_letters(after, command.key)
    _require_fitting_backoff(after)
    if after.filter is not None:
        compile_filter(after.filter)
    _require_usable_field(after.order_by)
    if after != before:
        begun = begun_order(execution, command.key, group, before.order_by, after.order_by)
        execution.do(GroupConfigured(command.key, command.group, *astuple(after)))
        for effect in begun:
            execution.do(effect)
        execution.wake(command.key)


def _require_great_enough(settings: GroupSettings) -> None:
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise invalid_setting(f"{name} is {value}, but it must be at least {least}")


def _require_fitting_dead_letters(settings: GroupSettings, key: bytes) -> None:
    most, stream = settings.max_deliveries, settings.dead_letter_stream
    if (most is None) != (stream is None):
        has, lacks = ("max_deliveries", "dead_letter_stream") if stream is None else (
            "dead_letter_stream", "max_deliveries"
        )  # fmt: skip
        raise invalid_setting(
            f"the group would have {has} without {lacks}; set both, or remove both with null"
        )
    if stream == key:
        raise invalid_setting(
            f"dead_letter_stream is '{printable(stream)}', the group's own stream; name another stream"
        )


def _require_fitting_backoff(settings: GroupSettings) -> None:
    initial_ms, factor, max_ms = settings.backoff_initial_ms, settings.backoff_factor, settings.backoff_max_ms
    if initial_ms is factor is max_ms is None:
        return
    if initial_ms is None or factor is None or max_ms is None:
        raise invalid_setting("a backoff needs initial_ms, factor and max_ms; set all three")
    if not factor <= BACKOFF_FACTOR_MAX:
        raise invalid_setting(
            f"the factor of the backoff is {factor}; it may be at most {BACKOFF_FACTOR_MAX}"
        )
    if not initial_ms <= max_ms <= DELAY_MS_MAX:
        raise invalid_setting(
            f"max_ms of the backoff is {max_ms}; it must be at least initial_ms, {initial_ms}, and at most "
            f"{DELAY_MS_MAX}"
        )


def _require_usable_field(name: str | None) -> None:
    if name is not None and not 0 < len(name.encode(*UTF8)) <= NAME_BYTES_MAX:
        raise invalid_setting(
            f"order_by has {len(name.encode(*UTF8))} bytes, but the name of a field must have 1 to "
            f"{NAME_BYTES_MAX}"
        )


def invalid_setting(detail: str) -> StreamError:
    """Return the error for settings that a command cannot use."""
    return StreamError(ErrorCode.INVALID_ARGUMENT, f"ERR {detail}")
