"""The policies of streams and groups in a migration, and how a Tailrace server reads and changes them.

Redis and Valkey have none: no retention, no settings of groups. The settings are set last, and removed before
anything else changes: with them, a claim or a nack of the migration would move entries to the dead-letter
stream.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

# --- retention ----------------------------------------------------------------------------------


Rules: TypeAlias = Mapping[str, int | bool]
"""The rules of one stream that are set, by name."""

NO_RULES: Final[Rules] = {}


class StreamPolicies(NamedTuple):
    """The rules of a stream's retention, and how many entries it is to append later."""

    rules: Rules = NO_RULES
    scheduled_count: int = 0


NO_POLICIES: Final = StreamPolicies()

ALL_RULES: Final = ("max_age_ms", "max_length", "max_bytes", "acknowledged", "protect_unread")

_FEATURE: Final = "retention"
_REFUSED: Final = "refused"


def rules_of(retention: Mapping[str, Any] | None) -> Rules:
    """Return the rules in a server's description of a retention, None without one."""
    return {name: retention[name] for name in ALL_RULES if retention.get(name)} if retention else NO_RULES


def retention_body(rules: Rules) -> dict[str, Any]:
    """Return the body that sets these rules and removes all others."""
    return {"retention": dict(rules) or None}


def rules_had(limits: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the rules that a server with these limits has: all, or those that a gateway
    emulates."""
    if not limits["engine"]:
        return frozenset(ALL_RULES)
    titles = [each["name"] for each in limits["engine"] if each["support"] != _REFUSED]
    return frozenset(
        rule for title in titles for rule in ALL_RULES if title.startswith(_FEATURE) and f"`{rule}`" in title
    )


def held_rules(rules: Rules, names: frozenset[str]) -> Rules:
    """Return the rules with these names; none if they remove nothing."""
    kept = {name: rule for name, rule in rules.items() if name in names}
    return kept if kept.keys() - {"protect_unread"} else NO_RULES


def shown_rules(rules: Rules) -> str:
    """Return the rules as text."""
    return ", ".join(name if rule is True else f"{name} {rule}" for name, rule in rules.items()) or "none"


# --- settings of groups -------------------------------------------------------------------------


Settings: TypeAlias = Mapping[str, float | str | bytes]
"""The settings of one group that are set, by name."""

NO_SETTINGS: Final[Settings] = {}

_PLAIN: Final = (
    "max_deliveries",
    "filter",
    "claim_min_idle_ms",
    "consumer_expiry_ms",
    "max_lag_ms",
    "order_by",
)
"""The settings that are a number or text."""
_STREAM: Final = "dead_letter_stream"
_BACKOFF: Final = "backoff"
_PARTS: Final = ("initial_ms", "factor", "max_ms")
"""The parts of the backoff, which a server shows as one member. Each is a setting here, as in a directory."""


def settings_of(groups: list[dict[str, Any]]) -> Iterator[tuple[bytes, Settings]]:
    """Return the name and the settings of each group in a server's list of groups that has any."""
    for group in groups:
        found: dict[str, float | str | bytes] = {name: group[name] for name in _PLAIN if name in group}
        found |= {f"{_BACKOFF}_{part}": value for part, value in group.get(_BACKOFF, {}).items()}
        if _STREAM in group:
            found[_STREAM] = _name_of(group, _STREAM)
        if found:
            yield _name_of(group, "name"), found


def _name_of(group: dict[str, Any], member: str) -> bytes:
    name: str = group[member]
    return b64decode(name) if group.get("encoding") == "base64" else name.encode()


def held(settings: Settings, names: frozenset[str] | None) -> Settings:
    """Return the settings with these names; None: all of them."""
    return settings if names is None else {name: settings[name] for name in settings if name in names}


def held_by_gateway(features: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """Return the names of the settings that a gateway emulates, by the features that it shows."""
    titles = [each["name"] for each in features if each["support"] != "refused"]
    return frozenset(name for title in titles for name in (*_PLAIN, _STREAM) if f"`{name}`" in title)


def body_of(settings: Settings) -> dict[str, Any]:
    """Return the body that sets these settings and removes all others."""
    body: dict[str, Any] = {name: settings.get(name) for name in _PLAIN}
    backoff = {part: settings.get(f"{_BACKOFF}_{part}") for part in _PARTS}
    body[_BACKOFF] = None if backoff["initial_ms"] is None else backoff
    stream = settings.get(_STREAM)
    if isinstance(stream, bytes):
        return {**body, _STREAM: b64encode(stream).decode(), "encoding": "base64"}
    return {**body, _STREAM: None}


def shown(settings: Settings) -> str:
    """Return the settings as text."""
    values = (
        f"{name} {value.decode(errors='backslashreplace') if isinstance(value, bytes) else value}"
        for name, value in sorted(settings.items())
    )
    return ", ".join(values) or "none"


# --- engines ------------------------------------------------------------------------------------


class WithoutPolicies:
    """The part of a `Place` without policies, whose `abilities` say so."""

    def group_settings(self, key: bytes) -> dict[bytes, Settings]:
        """Return none: the engine has no settings of groups."""
        del key
        return {}

    def configure(self, key: bytes, group: bytes, settings: Settings) -> None:
        """Fail: the engine has no settings of groups."""
        raise NotImplementedError(key, group, settings)

    def stream_policies(self, key: bytes) -> StreamPolicies:
        """Return none: the engine has no retention, and schedules nothing."""
        del key
        return NO_POLICIES

    def retain(self, key: bytes, rules: Rules) -> None:
        """Fail: the engine has no retention."""
        raise NotImplementedError(key, rules)
