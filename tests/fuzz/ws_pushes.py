"""What the subscriptions of one connection push, compared with the entries that the connection appended.

A subscription to a stream pushes each matching entry after its position once, in order; a gap covers those
that a trim removed. A consumer gets each entry once. No subscription pushes before its reply, after its end,
or beyond its credit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.fuzz.http_shared import number_of

StreamNumber: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Appended:
    """An entry of a reply. `kind`: its field `f`."""

    number: StreamNumber
    value: str
    kind: str


@dataclass
class Feed:
    """What one stream of a subscription pushed. `position`: up to where."""

    after: StreamNumber
    position: StreamNumber
    pushed: list[tuple[StreamNumber, str]] = field(default_factory=list)
    gaps: list[tuple[StreamNumber, StreamNumber]] = field(default_factory=list)


@dataclass
class Sub:
    """One subscription. `granted`, `paid`: entries. `feeds`: by stream."""

    body: Mapping[str, Any]
    granted: int
    feeds: dict[str, Feed]
    paid: int = 0
    has_bytes: bool = False

    @property
    def is_group(self) -> bool:
        return "group" in self.body

    @property
    def claims(self) -> bool:
        """Whether it gets entries again that were returned."""
        return "claim_min_idle_ms" in self.body

    def push(self, message: Mapping[str, Any], nacked: AbstractSet[StreamNumber]) -> None:
        """Take a push. Fail unless it continues the ones before. `nacked`: entries that come again."""
        assert "end" not in message, f"a subscription ended: {message}"
        feed = self.feeds[message["key"]]
        if "gap" in message:
            gap = message["gap"]
            feed.gaps.append((number_of(gap["from"]), number_of(gap["to"])))
            return
        for entry in message["entries"]:
            number = number_of(entry["id"])
            assert number > feed.position or self.claims, f"{entry['id']} is not after {feed.position}"
            assert self.matches(entry["fields"].get("f", "")), f"does not match: {entry}"
            if number not in nacked:
                assert entry.get("deliveries", 0) == 0, f"delivered again: {entry}"
            feed.position = max(number, feed.position)
            feed.pushed.append((number, entry["fields"]["v"]))
            self.paid += 1
        if not self.is_group:
            following = number_of(message["next"])
            assert following >= feed.position, f"`next` is before the last entry: {message}"
            feed.position = following

    def matches(self, kind: str) -> bool:
        """Return whether the filter lets an entry through."""
        return _FILTERS[str(self.body.get("filter"))](kind)


_FILTERS: Final[Mapping[str, Callable[[str], bool]]] = {
    "None": lambda _: True,
    "{'f': '1'}": lambda kind: kind == "1",
    "{'f': ['1', '2']}": lambda kind: kind in "12",
    'fields.f != "2"': lambda kind: kind != "2",
}


class Subscriptions:
    """The subscriptions of one connection. `open`: by id. `ended`: the earlier ones. `nacked`: the entries
    that the connection returns to the group of its consumer."""

    def __init__(self, nacked: AbstractSet[StreamNumber]) -> None:
        self._nacked = nacked
        self.open: dict[object, Sub] = {}
        self.ended: list[Sub] = []
        self.ledger: dict[str, list[Appended]] = {}

    @property
    def all(self) -> list[Sub]:
        return [*self.ended, *self.open.values()]

    def replied(self, body: Mapping[str, Any], reply: Mapping[str, Any], *, is_alone: bool) -> None:
        """Take the reply to a request about a subscription."""
        op, ok = body["op"], reply.get("ok")
        if op == "credit":
            sub = self.open.get(body["sub"])
            assert (ok is None) is (sub is None), f"credit of {body['sub']}: {reply}"
            if ok is not None and sub is not None:
                self._credited(sub, body, ok, is_alone=is_alone)
        elif ok is not None and op == "unsubscribe":
            self.ended.append(self.open.pop(body["sub"]))
        elif ok is not None and op in {"subscribe", "consume"}:
            positions = ok.get("streams") or [{**each, "after": "0-0"} for each in body["streams"]]
            feeds = {each["key"]: number_of(each["after"]) for each in positions}
            for stream in body["streams"]:
                if stream.get("after") == "+":
                    self._require_before_last(stream["key"], feeds[stream["key"]])
            credit = body["credit"]
            granted = credit if isinstance(credit, int) else credit["entries"]
            assert body["id"] not in self.open
            made = {key: Feed(after, after) for key, after in feeds.items()}
            self.open[body["id"]] = Sub(body, granted, made, has_bytes=not isinstance(credit, int))

    def _require_before_last(self, key: str, after: StreamNumber) -> None:
        """Fail unless a position is just below the last entry."""
        last = max((each.number for each in self.ledger.get(key, [])), default=(0, 0))
        time_ms, sequence = after
        assert last in {(time_ms, sequence + 1), (time_ms + 1, 0), after}, f"{after} is not below {last}"

    def _credited(self, sub: Sub, body: Mapping[str, Any], ok: Mapping[str, Any], *, is_alone: bool) -> None:
        sub.granted += body["entries"]
        left = sub.granted - sub.paid
        if is_alone and not sub.is_group:
            assert ok["entries"] == left, f"{ok} is left, not {left}"
        assert left <= ok["entries"] <= sub.granted, f"{ok} is left of {sub.granted}, paid {sub.paid}"

    def push(self, message: Mapping[str, Any]) -> None:
        """Take a push."""
        sub = self.open.get(message["sub"])
        assert sub is not None, f"a push without a subscription: {message}"
        sub.push(message, self._nacked)

    def has_reached(self, key: str, number: StreamNumber) -> bool:
        """Return whether all subscriptions of a stream, or one of its consumers, have pushed an entry."""
        subs = [sub for sub in self.open.values() if key in sub.feeds]
        reached = [sub.feeds[key].position >= number for sub in subs]
        return not subs or (any(reached) if subs[0].is_group else all(reached))

    def require_complete(self, unknown: set[str], future_credit: Mapping[object, int]) -> None:
        """Fail unless the pushes are the entries of the ledger. `unknown`: the values without a reply.
        `future_credit`: entries of credits without a reply, by subscription."""
        for name, sub in [(None, sub) for sub in self.ended] + list(self.open.items()):
            granted = sub.granted + (0 if name is None else future_credit.get(name, 0))
            assert sub.paid <= granted, f"{sub.paid} entries for a credit of {granted}"
            for key, feed in sub.feeds.items():
                self._require_feed(sub, key, feed, unknown)
        taken = [
            number
            for sub in self.all
            if sub.is_group
            for feed in sub.feeds.values()
            for number, _ in feed.pushed
            if number not in self._nacked
        ]
        assert len(taken) == len(set(taken)), "a consumer gets each entry once"

    def _require_feed(self, sub: Sub, key: str, feed: Feed, unknown: set[str]) -> None:
        ledger = self.ledger.get(key, [])
        known = {(each.number, each.value) for each in ledger}
        strange = {value for number, value in feed.pushed if (number, value) not in known} - unknown
        assert not strange, f"entries of no request: {strange}"
        if sub.is_group:
            return
        pushed = {number for number, _ in feed.pushed}
        for each in ledger:
            if (
                feed.after < each.number <= feed.position
                and sub.matches(each.kind)
                and each.number not in pushed
            ):
                assert any(begin < each.number < end for begin, end in feed.gaps), (
                    f"not pushed: {each} of {sub}"
                )
