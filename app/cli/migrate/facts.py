"""Facts about a stream: what XINFO STREAM FULL tells, apart from the entries and the pending entries.

It also says in words for the user what a target cannot hold. It reads facts and compares them, and never
changes a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from tailrace.app.cli.migrate.policies import NO_RULES, NO_SETTINGS, Rules, Settings, shown, shown_rules
from tailrace.app.cli.migrate.port import (
    Abilities,
    CannotMigrate,
    Place,
    Refusal,
    Reply,
    accepted,
    as_map,
    id_of,
    items,
    number,
    one,
    text,
)
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT
from tailrace.core.stream_id import StreamId, format_id

NO_EXPIRY: Final = -1
"""`expires_at_ms` of a key that does not expire."""

_NO_KEY: Final = -2
_NO_SUCH_KEY: Final = "no such key"
_WRONG_TYPE: Final = "WRONGTYPE"


class Anchor(NamedTuple):
    """A pending entry with its absolute time of delivery, from which idle times of others become absolute."""

    id: StreamId
    delivered_at_ms: int


class GroupFacts(NamedTuple):
    """A group without its pending entries. `entries_read` None: unknown. `consumers`: the names with the time
    of their last attempt to read; no command can set these times."""

    last_delivered_id: StreamId
    entries_read: int | None
    pending_count: int
    unowned_count: int
    consumers: dict[bytes, int]
    anchor: Anchor | None
    settings: Settings = NO_SETTINGS


class StreamFacts(NamedTuple):
    """A stream without its entries. `settings`: those of XCFGSET by name; empty if the place has none.

    `first_id`: of the first entry; None for an empty stream. `keys_remembered`: idempotency keys.
    `scheduled_count`: entries that are to be appended later.
    """

    length: int
    first_id: StreamId | None
    last_id: StreamId
    max_deleted_id: StreamId
    entries_added: int
    settings: dict[bytes, int]
    keys_remembered: int
    expires_at_ms: int
    groups: dict[bytes, GroupFacts]
    retention: Rules = NO_RULES
    scheduled_count: int = 0


class WrongType(CannotMigrate):
    """The key exists and is not a stream."""


def facts_of(place: Place, key: bytes) -> StreamFacts | None:
    """Return the facts of a stream, None if the key does not exist. Raises `WrongType`."""
    words = (b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"1")
    expires_at_ms = number(one(place, b"PEXPIRETIME", key)) if place.abilities.expiry else NO_EXPIRY
    reply = place.run([words], key)[0]
    if isinstance(reply, Refusal):
        if _NO_SUCH_KEY in reply.line:
            return None
        if reply.line.startswith(_WRONG_TYPE) or "wrong kind of value" in reply.line:
            raise WrongType(f"{text(key)} of {place.name} is not a stream")
        accepted(reply, words)
    facts = _facts(as_map(reply), NO_EXPIRY if expires_at_ms == _NO_KEY else expires_at_ms)
    if place.abilities.retention:
        rules, scheduled_count = place.stream_policies(key)
        facts = facts._replace(retention=rules, scheduled_count=scheduled_count)
    if not (facts.groups and place.abilities.group_settings):
        return facts
    settings = place.group_settings(key)
    groups = {
        name: group._replace(settings=settings.get(name, NO_SETTINGS)) for name, group in facts.groups.items()
    }
    return facts._replace(groups=groups)


def _facts(stream: dict[bytes, Reply], expires_at_ms: int) -> StreamFacts:
    names = (b"idmp-duration", b"idmp-maxsize")
    first = items(stream[b"entries"])
    groups = [as_map(row) for row in items(stream[b"groups"])]
    return StreamFacts(
        number(stream[b"length"]),
        id_of(items(first[0])[0]) if first else None,
        id_of(stream[b"last-generated-id"]),
        id_of(stream[b"max-deleted-entry-id"]),
        number(stream[b"entries-added"]),
        {name: number(stream[name]) for name in names if name in stream},
        number(stream.get(b"iids-tracked", 0)),
        expires_at_ms,
        {cast("bytes", group[b"name"]): _group(group) for group in groups},
    )


def _group(group: dict[bytes, Reply]) -> GroupFacts:
    read, held = group[b"entries-read"], group.get(b"first-held-id")
    consumers = [as_map(row) for row in items(group[b"consumers"])]
    # No command sets which entries a group holds back: in the target, it continues before the first of them.
    return GroupFacts(
        id_of(group[b"last-delivered-id"] if held is None else held) - (held is not None),
        None if read is None or held is not None or number(read) < 0 else number(read),
        number(group[b"pel-count"]),
        number(group.get(b"nacked-count", 0)),
        {cast("bytes", each[b"name"]): number(each[b"seen-time"]) for each in consumers},
        next(_anchors(consumers), None),
    )


def _anchors(consumers: list[dict[bytes, Reply]]) -> Iterator[Anchor]:
    """Return the first pending entry of each consumer that has one."""
    for consumer in consumers:
        for row in items(consumer[b"pending"]):
            value, delivered_at_ms, *_ = items(row)
            yield Anchor(id_of(value), number(delivered_at_ms))


def differences(source: StreamFacts, target: StreamFacts) -> Iterator[str]:
    """Return what differs and both places can hold, in words."""
    for name in ("length", "first_id", "last_id", "max_deleted_id", "entries_added"):
        one_value, other = getattr(source, name), getattr(target, name)
        if one_value != other:
            yield f"{name} is {_shown(name, one_value)} in the source and {_shown(name, other)} in the target"
    for setting in sorted(source.settings.keys() & target.settings.keys()):
        values = source.settings[setting], target.settings[setting]
        if values[0] != values[1]:
            yield f"{text(setting)} is {values[0]} in the source and {values[1]} in the target"
    for group in sorted(source.groups.keys() ^ target.groups.keys()):
        yield f"group {text(group)} is only in the {'source' if group in source.groups else 'target'}"
    for group in sorted(source.groups.keys() & target.groups.keys()):
        for difference in _group_differences(source.groups[group], target.groups[group]):
            yield f"group {text(group)}: {difference}"


def _group_differences(source: GroupFacts, target: GroupFacts) -> Iterator[str]:
    if source.last_delivered_id != target.last_delivered_id:
        ids = format_id(source.last_delivered_id), format_id(target.last_delivered_id)
        yield f"the last delivered id is {ids[0]} in the source and {ids[1]} in the target"
    if source.entries_read != target.entries_read:
        yield f"entries-read is {source.entries_read} in the source and {target.entries_read} in the target"
    for name in sorted(source.consumers.keys() ^ target.consumers.keys()):
        yield f"consumer {text(name)} is only in the {'source' if name in source.consumers else 'target'}"


def _shown(name: str, value: int | None) -> str:
    return format_id(value) if name.endswith("_id") and value is not None else str(value)


def without_times(facts: StreamFacts) -> StreamFacts:
    """Return the facts without the times at which consumers last tried to read: these change without any
    data."""
    groups = {
        name: group._replace(consumers=dict.fromkeys(group.consumers, 0))
        for name, group in facts.groups.items()
    }
    return facts._replace(groups=groups)


# --- losses -------------------------------------------------------------------------------------


_DEFAULT_SETTINGS: Final = {
    b"idmp-duration": IDMP_DURATION_S_DEFAULT,
    b"idmp-maxsize": IDMP_MAXSIZE_DEFAULT,
}


def longest_name(key: bytes, facts: StreamFacts) -> bytes:
    """Return the longest name of the stream, its groups and its consumers."""
    consumers = (name for group in facts.groups.values() for name in group.consumers)
    return max((key, *facts.groups, *consumers), key=len)


def is_left_out(key: bytes, facts: StreamFacts, target: Abilities) -> bool:
    """Return whether the target cannot hold the stream at all."""
    return target.name_bytes_max is not None and len(longest_name(key, facts)) > target.name_bytes_max


def losses_of(key: bytes, facts: StreamFacts, target: Abilities) -> Iterator[str]:
    """Return what the target cannot hold of the stream."""
    if is_left_out(key, facts, target):
        size = len(longest_name(key, facts))
        yield f"the whole stream: a name has {size} bytes, and the target allows {target.name_bytes_max}"
        return
    if facts.expires_at_ms != NO_EXPIRY and not target.expiry:
        yield "the time to live: the target's streams do not expire"
    if facts.settings not in ({}, _DEFAULT_SETTINGS) and not target.settings:
        values = ", ".join(f"{text(name)} {value}" for name, value in sorted(facts.settings.items()))
        yield f"the settings {values}: the target has no XCFGSET"
    lost = {name: rule for name, rule in facts.retention.items() if name not in target.retention}
    if lost:
        yield f"the retention {shown_rules(lost)}: only Tailrace with its own storage has these rules"
    if facts.scheduled_count:
        yield (
            f"{facts.scheduled_count} scheduled entries: they stay in the source, which appends them later; "
            "wait for them, or cancel them and schedule them in the target"
        )
    if facts.keys_remembered:
        yield (
            f"{facts.keys_remembered} idempotency keys: no command can set them, so an append that a "
            "producer repeats after the switch can be stored twice"
        )
    yield from _losses_of_groups(facts, target)


def _losses_of_groups(facts: StreamFacts, target: Abilities) -> Iterator[str]:
    for name, group in facts.groups.items():
        yield from _lost_settings(name, group.settings, target)
        if group.unowned_count and not target.unowned:
            yield (
                f"group {text(name)}: {group.unowned_count} pending entries without an owner: the "
                "target has no XNACK; they get the owner tailrace-unowned, and everybody can claim them"
            )


def _lost_settings(name: bytes, settings: Settings, target: Abilities) -> Iterator[str]:
    if settings and not target.group_settings:
        yield (
            f"group {text(name)}: its settings ({shown(settings)}), which only Tailrace has; a gateway in "
            "front of the engine has some: migrate to its URL"
        )
        return
    names = target.settings_held
    lost = {each: value for each, value in settings.items() if names is not None and each not in names}
    if lost:
        yield f"group {text(name)}: the settings {shown(lost)}, which need a server with its own storage"
