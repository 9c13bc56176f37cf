"""The retention of streams in a migration: its rules, and how a Tailrace server shows and sets them.

Redis and Valkey have none. The rules are set when both places have been compared, and removed before anything
else changes: with them, the target would remove entries of the copy. This module sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

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


def held(rules: Rules, names: frozenset[str]) -> Rules:
    """Return the rules with these names; none if they remove nothing."""
    kept = {name: rule for name, rule in rules.items() if name in names}
    return kept if kept.keys() - {"protect_unread"} else NO_RULES


def shown(rules: Rules) -> str:
    """Return the rules as text."""
    return ", ".join(name if rule is True else f"{name} {rule}" for name, rule in rules.items()) or "none"
