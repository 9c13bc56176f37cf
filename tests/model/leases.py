"""The naive model with leases: the group `g` of `s` claims by its own setting, and its consumers expire.

It repeats each rule in a few lines, without bounds on the work of one command.
"""

from __future__ import annotations

from typing import Any

from tests.model.dead_letters import GROUP, SOURCE, DeadLetterModel
from tests.model.naive import Budget
from tests.model.streams import Id, Pending, text


class LeaseModel(DeadLetterModel):
    """`claim_ms`, `expiry_ms`: the settings; None: not set. `since_ms`: consumers count as seen then."""

    claim_ms: int | None = None
    expiry_ms: int | None = None
    since_ms: int = 0

    def read_leased(self, consumer: str, budget: Budget, claim_ms: int | None, *, noack: bool) -> Any:
        """XREADGROUP of new entries: without CLAIM, the group's setting applies, unless NOACK is given."""
        used = self.claim_ms if claim_ms is None and not noack else claim_ms
        reply = self.read_group(GROUP, consumer, [(SOURCE, None)], budget, claim_ms=used, noack=noack)
        if reply is None or claim_ms is not None:
            return reply
        return [[key, [entry[:2] for entry in entries]] for key, entries in reply]

    def extend(self, consumer: str, ids: list[Id]) -> tuple[list[str], list[str]]:
        group = self.streams[SOURCE].groups[GROUP]
        distinct = list(dict.fromkeys(ids))
        items = {value: group.find(value) for value in distinct}
        own = [value for value, item in items.items() if item is not None and item.consumer == consumer]
        if consumer in group.consumers:
            group.consumers[consumer].seen_ms = self.now_ms
        for value in own:
            item = items[value]
            assert item is not None
            group.put(Pending(value, consumer, self.now_ms, item.count))
        return [text(value) for value in own], [text(value) for value in distinct if value not in own]

    def look(self, waiting: list[str]) -> tuple[int, int]:
        """Expire consumers, and return how many, and how many entries they had."""
        group = self.streams[SOURCE].groups[GROUP]
        gone = given_back = 0
        if self.expiry_ms is None:
            return 0, 0
        for name in waiting:
            who = group.consumers.get(name)
            if who and (who.seen_ms > self.now_ms or self.now_ms - who.seen_ms >= self.expiry_ms // 4):
                who.seen_ms = self.now_ms
        for name, who in sorted(group.consumers.items()):
            seen_ms = who.seen_ms if who.seen_ms <= self.now_ms else self.since_ms
            if self.now_ms - max(seen_ms, self.since_ms) < self.expiry_ms:
                continue
            own = sorted((item for item in group.pel if item.consumer == name), key=lambda item: item.id)
            for item in own:
                group.put(Pending(item.id, None, 0, item.count))
            del group.consumers[name]
            gone, given_back = gone + 1, given_back + len(own)
        return gone, given_back
