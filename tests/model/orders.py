"""The naive model with all policies, with delays, and with an order by key of the group `g`.

The model does not foresee which of the ready entries a read with a count takes, nor how far its position
moves: it takes both from the engine, and checks by looking at all other entries that they are allowed and
complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.model.dead_letters import GROUP, SOURCE
from tests.model.delays import DelayModel
from tests.model.naive import Budget
from tests.model.streams import Id, Pending


class OrderModel(DelayModel):
    """`order_by`: the field; None: no order. `earlier`: the entries that were pending when it was set."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.order_by: str | None = None
        self.earlier: set[Id] = set()

    @property
    def is_ordered(self) -> bool:
        """Whether reads of `g` follow these rules: also until the last held entry is delivered."""
        return self.order_by is not None or bool(self.streams[SOURCE].groups[GROUP].held)

    def set_order(self, field: str | None) -> None:
        if field != self.order_by:
            self.earlier = {item.id for item in self.streams[SOURCE].groups[GROUP].pel}
        self.order_by = field

    def key_of(self, value: Id) -> str | None:
        fields = self.streams[SOURCE].fields(value)
        if self.order_by is None or fields is None:
            return None
        return dict(zip(fields[::2], fields[1::2], strict=True)).get(self.order_by)

    def keys_in_flight(self) -> list[str]:
        """The keys of the pending entries, except of those that were pending before the order was set."""
        pel = self.streams[SOURCE].groups[GROUP].pel
        keys = [self.key_of(item.id) for item in pel if item.id not in self.earlier]
        return [key for key in keys if key is not None]

    def ready(self, *, whole_queues: bool) -> set[Id]:
        """The held entries that may be delivered now: the first of each key that is not in flight."""
        group = self.streams[SOURCE].groups[GROUP]
        in_flight = {self.key_of(item.id) for item in group.pel}
        found: set[Id] = set()
        seen: set[str] = set()
        for value in group.held:
            key = self.key_of(value)
            if key is None:
                found.add(value)
            elif key not in in_flight and (whole_queues or key not in seen):
                found.add(value)
                seen.add(key)
        return found

    def claim_first(self, consumer: str, count: int | None, claim_ms: int | None, *, noack: bool) -> list[Id]:
        """Claim what a read of new entries claims before it delivers any. Return the ids."""
        stream = self.streams[SOURCE]
        group = stream.groups[GROUP]
        self._see(group, consumer)
        used = self.claim_ms if claim_ms is None and not noack else claim_ms
        if used is None:
            return []
        budget = Budget(count, None)
        claimed = self._claimed(stream, group, consumer, used, budget)
        return [_parsed(value) for value, *_ in claimed]

    def take_fresh(
        self, consumer: str, fresh: Sequence[Id], position: Id, most: int | None, *, noack: bool
    ) -> None:
        """Deliver `fresh`, and move the group to `position`. Raises `AssertionError` if that is wrong."""
        stream = self.streams[SOURCE]
        group = stream.groups[GROUP]
        ready = self.ready(whole_queues=noack)
        first = [value for value in fresh if value in group.held]
        assert list(fresh) == sorted(set(fresh))
        assert set(first) <= ready
        assert len(first) == (len(ready) if most is None else min(most, len(ready)))
        is_draining = self.order_by is None
        assert not is_draining or position == group.last
        new_held = self._pass_over(fresh, position, noack=noack)
        assert group.last == position
        if not is_draining and (most is None or len(fresh) < most):
            assert all(value <= position for value, _ in stream.entries)
        group.held = sorted({*group.held, *new_held} - set(fresh))
        for value in fresh:
            if not noack:
                group.put(Pending(value, consumer, self.now_ms, 1))

    def _pass_over(self, fresh: Sequence[Id], position: Id, *, noack: bool) -> list[Id]:
        """Move the group over new entries, and return those that it holds: their keys are taken."""
        stream = self.streams[SOURCE]
        group = stream.groups[GROUP]
        taken = {self.key_of(item.id) for item in group.pel} | {self.key_of(value) for value in group.held}
        new_held: list[Id] = []
        for value, fields in stream.entries:
            if not group.last < value <= position:
                continue
            behind = group.last < stream.first or stream.has_tombstone_from(group.last)
            group.read = stream.estimate(value) if group.read is None or behind else group.read + 1
            group.last = value
            key = self.key_of(value)
            is_blocked = key is not None and key in taken
            assert (value in fresh) == (self.matches(fields) and not is_blocked), value
            if self.matches(fields) and is_blocked:
                new_held.append(value)
            if value in fresh and not noack:
                taken.add(key)
        return new_held


def _parsed(value: str) -> Id:
    ms, seq = value.split("-")
    return int(ms), int(seq)
