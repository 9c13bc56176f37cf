"""Settings of groups, which no engine has: they are in a hash next to the stream (`names.settings_key`).

The calls read and change that hash, and run the commands that apply the settings: claims, nacks and reads
take the key of the hash from `with_settings`. Which streams may have such a hash is known to `keys.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import UNSET

from tailrace.app.remote.functions.appends import new_incarnation
from tailrace.app.remote.functions.call import (
    Call,
    id_word,
    id_words,
    items,
    number,
    stream_id,
    text,
)
from tailrace.app.remote.functions.names import REGISTRY, settings_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import ConfigureGroup, CreateGroup, DestroyGroup, Redrive
from tailrace.core.group_settings import GroupSettings
from tailrace.core.id_keys import rising
from tailrace.core.replies import RedriveReply

SettingsByGroup: TypeAlias = Mapping[bytes, tuple[GroupSettings, int]]
"""The settings of each group that has any, and how many of its entries became dead letters."""

EMULATED: Final = ("max_deliveries", "dead_letter_stream", "claim_min_idle_ms")
"""The settings of groups that the library applies, in the order of its answers."""


def refused_setting(command: ConfigureGroup) -> str | None:
    """Return the name, as clients know it, of a setting that the command sets and the library does not have;
    None if there is none."""
    for name in GroupSettings.__struct_fields__:
        if name not in EMULATED and getattr(command, name) not in {UNSET, None}:
            return "backoff" if name.startswith("backoff_") else name
    return None


def configure_group(command: ConfigureGroup) -> Call[None]:
    """Change settings of a group: reply None. Raises NO_SUCH_STREAM, NOGROUP and INVALID_ARGUMENT."""
    words = [new_incarnation(), command.group]
    for name in EMULATED:
        value = getattr(command, name)
        if value is not UNSET:
            words += [name.encode(), _word(value)]
    return Call(b"configure_group", (command.key, settings_key(command.key)), words, "grow", _nothing)


def _word(value: int | bytes | None) -> bytes:
    """Return the value after a mark, because the name of a stream may be empty; without a value, nothing."""
    if value is None:
        return b""
    return b"=" + (value if isinstance(value, bytes) else b"%d" % value)


def _nothing(answer: Resp) -> None:
    accepted(answer)


def list_settings(key: bytes) -> Call[SettingsByGroup]:
    """Ask for the settings of all groups of a stream that have any: reply `SettingsByGroup`. O(groups)."""
    return Call(b"group_settings", (key, settings_key(key)), [], "read", _settings)


def _settings(answer: Resp) -> SettingsByGroup:
    return dict(_group(*items(row)) for row in accepted(answer))


def _group(
    name: Resp, count: Resp, most: Resp, stream: Resp, min_idle_ms: Resp
) -> tuple[bytes, tuple[GroupSettings, int]]:
    settings = GroupSettings(
        max_deliveries=_number_of(most),
        dead_letter_stream=_value_of(stream),
        claim_min_idle_ms=_number_of(min_idle_ms),
    )
    return text(name), (settings, number(count))


def _value_of(word: Resp) -> bytes | None:
    return text(word)[1:] if word else None


def _number_of(word: Resp) -> int | None:
    value = _value_of(word)
    return None if value is None else int(value)


def renew_group(command: CreateGroup | DestroyGroup, words: list[bytes]) -> Call[int]:
    """Run `words`, which create or destroy the group, and forget the settings of an earlier group of its
    name: reply the engine's number, 1 for a new group."""
    keys = (command.key, settings_key(command.key))
    return Call(b"renew_group", keys, [command.group, *words], "change", _number)


def _number(answer: Resp) -> int:
    return number(accepted(answer)[0])


def redrive(command: Redrive) -> Call[RedriveReply]:
    """Send dead letters back: reply `RedriveReply`. O(limit).

    Raises NO_SUCH_STREAM, NOGROUP, and INVALID_ARGUMENT if the group has no dead-letter stream, or another
    than the command names.
    """
    ids = [] if command.ids is None else rising(command.ids)
    stream = command.dead_letter_stream
    named = stream if isinstance(stream, bytes) else b""
    arguments = [command.group, b"%d" % command.limit, id_word(command.start), named, *id_words(ids)]
    return Call(b"redrive", (command.key, settings_key(command.key)), arguments, "grow", _redriven)


def _redriven(answer: Resp) -> RedriveReply:
    old, new, skipped, following = accepted(answer)
    return RedriveReply(
        list(map(stream_id, items(old))),
        list(map(stream_id, items(new))),
        number(skipped),
        stream_id(following) if following else None,
    )


def forget_announced(field: bytes, stamp: bytes) -> Call[int]:
    """Forget a field of the registry, unless it has another stamp now: reply 1 if it was forgotten. O(1)."""
    return Call(b"forget_announced", (REGISTRY,), [field, stamp, new_incarnation()], "change", _number)
