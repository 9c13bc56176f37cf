"""The retention of streams, which no engine has: rules in the hash of the stream's settings, applied by
trims.

An append is followed by `retire`, and the gateways run it again and again (`keys.retiring`).
"""

from __future__ import annotations

from typing import Final

from tailrace.app.remote.functions.appends import new_incarnation
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import settings_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.functions.values import number
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import RetentionRules
from tailrace.core.replies import RetentionInfo

EMULATED: Final = ("max_age_ms", "max_length", "acknowledged", "protect_unread")
"""The rules that the library applies, in the order of its answers."""

_REMOVING: Final = ("max_age_ms", "max_length", "acknowledged")


def configure_retention(key: bytes, rules: RetentionRules | None) -> Call[None]:
    """Replace the rules of the stream: reply None. Raises NO_SUCH_STREAM."""
    words = [new_incarnation()]
    for name in EMULATED if rules is not None else ():
        value = getattr(rules, name)
        if value:
            words += [name.encode(), b"%d" % value]
    return Call(b"configure_retention", _keys(key), words, "grow", _nothing)


def _keys(key: bytes) -> tuple[bytes, bytes]:
    return key, settings_key(key)


def _nothing(answer: Resp) -> None:
    accepted(answer)


def retire(key: bytes, *, exact: bool) -> Call[tuple[int, bool]]:
    """Apply the rules of the stream: reply how many entries went, and whether more pending entries may have
    to go.

    Without `exact`, whole nodes go, which costs little. O(groups + entries removed)."""
    return Call(b"retire", _keys(key), [b"=" if exact else b"~"], "change", _retired)


def _retired(answer: Resp) -> tuple[int, bool]:
    count, is_more = accepted(answer)
    return number(count), bool(number(is_more))


def show_retention(key: bytes) -> Call[RetentionInfo | None]:
    """Ask for the rules and for what they did: reply `RetentionInfo`, None without rules. Examines up to
    10 000 entries that would be gone without protection."""
    return Call(b"retention", _keys(key), [], "read", _info)


def _info(answer: Resp) -> RetentionInfo | None:
    values = accepted(answer)
    if not values:
        return None
    age, length, acknowledged, protect, *removed, removed_at, count, size = values
    rules = RetentionRules(
        max_age_ms=_optional(age),
        max_length=_optional(length),
        acknowledged=bool(acknowledged),
        protect_unread=bool(protect),
    )
    counts = {name: number(value) for name, value in zip(_REMOVING, removed, strict=True)}
    return RetentionInfo(
        rules,
        removed={name: value for name, value in counts.items() if value},
        removed_at_ms=_optional(removed_at),
        protected_count=number(count),
        protected_bytes=number(size),
    )


def _optional(value: Resp) -> int | None:
    return number(value) if value else None
