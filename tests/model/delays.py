"""The naive model with delays as well: scheduled entries, nacks that delay, and the backoff of `g`.

A scheduled entry has no id yet. It repeats each rule in a few lines.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.model.dead_letters import GROUP, SOURCE
from tests.model.policies import Fields, PolicyModel
from tests.model.streams import Id, Pending


class Backoff(NamedTuple):
    """The backoff of the group: the delay after a first delivery, its growth, its bound."""

    initial_ms: int
    factor: int
    max_ms: int

    def delay_ms(self, deliveries: int) -> int:
        delay_ms = self.initial_ms
        for _ in range(min(deliveries, 64) - 1):
            delay_ms = min(delay_ms * self.factor, self.max_ms)
        return delay_ms


class Scheduled(NamedTuple):
    """An entry that is appended at `at_ms`. `id`: as the engine named it."""

    at_ms: int
    id: int
    fields: Fields


class DelayModel(PolicyModel):
    """`scheduled`: in the order of the requests. `backoff`: of `g`. `nack_delay_ms`: of the next nack."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.scheduled: list[Scheduled] = []
        self.backoff: Backoff | None = None
        self.nack_delay_ms: int | None = None

    def until_ms(self, mode: str, count: int) -> int:
        delay_ms = self.nack_delay_ms
        if delay_ms is None and self.backoff is not None and mode != "SILENT":
            delay_ms = self.backoff.delay_ms(count)
        return self.now_ms + delay_ms if delay_ms else 0

    def schedule(self, at_ms: int, value: int, fields: Fields) -> None:
        self.scheduled.append(Scheduled(max(at_ms, self.now_ms), value, fields))

    def cancel(self, entry: Scheduled) -> None:
        self.scheduled.remove(entry)
        self.gone.add(entry.fields[1])

    def do_due(self) -> list[Id]:
        """Append what is due, by time, and let delayed entries be claimed. Return the new ids."""
        due = sorted(
            (each for each in self.scheduled if each.at_ms <= self.now_ms), key=lambda each: each.at_ms
        )
        for each in due:
            self.scheduled.remove(each)
            self.add(SOURCE, each.fields)
        group = self.streams[SOURCE].groups[GROUP]
        released = [item for item in group.pel if item.is_delayed and item.at_ms <= self.now_ms]
        for item in sorted(released, key=lambda item: item.at_ms):
            group.put(Pending(item.id, None, 0, item.count))
        return [
            value for value, _ in self.streams[SOURCE].entries[len(self.streams[SOURCE].entries) - len(due) :]
        ]
