"""What a target cannot hold of a stream, in words for the user. It reads facts and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tailrace.app.cli.migrate import retention
from tailrace.app.cli.migrate.facts import NO_EXPIRY, StreamFacts
from tailrace.app.cli.migrate.group_settings import Settings, shown
from tailrace.app.cli.migrate.port import Abilities, text
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT

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
        yield f"the retention {retention.shown(lost)}: only Tailrace with its own storage has these rules"
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
