"""The naive model with dead letters: the group `g` of `s` moves entries to `t`.

It repeats the rules of each delivery in a few lines, without bounds on the work of one command.
"""

from __future__ import annotations

from typing import Any

from tests.model.naive import Budget, Model
from tests.model.streams import COUNT_MAX, Group, Id, Pending, Stream, text

SOURCE, GROUP, DEAD = "s", "g", "t"


class DeadLetterModel(Model):
    """`most`: `max_deliveries`; None: not set."""

    most: int | None = None

    def bury(self, item: Pending, reason: str = "max_deliveries") -> None:
        fields = self.streams[SOURCE].fields(item.id)
        assert fields is not None
        origin = ["_source_stream", SOURCE, "_source_id", text(item.id), "_group", GROUP]
        rest = ["_deliveries", str(item.count), "_last_consumer", item.consumer or "", "_reason", reason]
        self.add(DEAD, [*fields, *origin, *rest])
        self.streams[SOURCE].groups[GROUP].drop(item.id)

    def is_exhausted(self, count: int) -> bool:
        """Whether an entry that was delivered `count` times is not delivered again."""
        return self.most is not None and count >= self.most

    def idle_ms(self, item: Pending) -> int:
        return max(self.now_ms - item.at_ms, 0)

    def nack_here(self, mode: str, ids: list[Id], retry: int | None) -> int:
        found, done = self.streams[SOURCE].groups[GROUP], 0
        for value in ids:
            item = found.find(value)
            if item is None:
                continue
            counts = {"SILENT": max(item.count - 1, 0), "FAIL": item.count, "FATAL": COUNT_MAX}
            count = counts[mode] if retry is None else retry
            if self.is_exhausted(count) and self.streams[SOURCE].fields(value) is not None:
                self.bury(item, "fatal" if mode == "FATAL" and retry is None else "max_deliveries")
            else:
                found.put(Pending(value, None, self.until_ms(mode, count), count))
            done += 1
        return done

    def until_ms(self, mode: str, count: int) -> int:
        """When an entry that is given back can be claimed; 0: at once."""
        del mode, count
        return 0

    def may_claim(self, item: Pending, min_idle_ms: int) -> bool:
        if item.consumer is None:
            return not item.is_delayed
        return self.idle_ms(item) >= min_idle_ms

    def claim_here(self, consumer: str, min_idle_ms: int, ids: list[Id], *, force: bool) -> list[Any]:
        stream = self.streams[SOURCE]
        found = stream.groups[GROUP]
        reply: list[Any] = []
        who = self._see(found, consumer)
        for value in ids:
            item, fields = found.find(value), stream.fields(value)
            if fields is None:
                found.drop(value)
                continue
            if item is None and force:
                found.put(Pending(value, consumer, self.now_ms, 2))
            elif item is None or not self.may_claim(item, min_idle_ms):
                continue
            elif self.is_exhausted(item.count):
                self.bury(item)
                reply = [entry for entry in reply if entry[0] != text(value)]
                continue
            else:
                found.put(Pending(value, consumer, self.now_ms, item.count + 1))
            reply.append([text(value), fields])
        if reply:
            who.active_ms = self.now_ms
        return reply

    def auto_claim_here(self, consumer: str, min_idle_ms: int, count: int) -> list[Any]:
        stream = self.streams[SOURCE]
        found = stream.groups[GROUP]
        who = self._see(found, consumer)
        claimed: list[Any] = []
        deleted: list[str] = []
        rest = sorted(found.pel, key=lambda item: item.id)
        used = examined = 0
        while rest and examined < 10 * count and used < count:
            item = rest.pop(0)
            examined += 1
            fields = stream.fields(item.id)
            if fields is None:
                found.drop(item.id)
                deleted.append(text(item.id))
            elif not self.may_claim(item, min_idle_ms):
                continue
            elif self.is_exhausted(item.count):
                self.bury(item)
            else:
                found.put(Pending(item.id, consumer, self.now_ms, item.count + 1))
                who.active_ms = self.now_ms
                claimed.append([text(item.id), fields])
            used += 1
        return [text(rest[0].id) if rest else "0-0", claimed, deleted]

    def redrive(self, limit: int) -> int:
        """Send the first `limit` dead letters back."""
        first = self.streams[DEAD].entries[:limit] if DEAD in self.streams else []
        for value, fields in first:
            self.streams[DEAD].remove(value)
            self.add(SOURCE, fields[:-12])
        return len(first)

    # --- XREADGROUP ------------------------------------------------------------------------------

    def _claimed(
        self, stream: Stream, group: Group, consumer: str, min_idle_ms: int, budget: Budget
    ) -> list[Any]:
        entries: list[Any] = []
        for item in [each for each in group.pel if not each.is_delayed]:
            idle_ms = self.idle_ms(item)
            if idle_ms < min_idle_ms or budget.in_stream >= budget.count:
                break
            fields = stream.fields(item.id)
            if fields is None:
                continue
            if self.is_exhausted(item.count):
                self.bury(item)
                continue
            budget.take()
            entries.append([text(item.id), fields, idle_ms, item.count])
            group.put(Pending(item.id, consumer, self.now_ms, item.count + 1))
        return entries

    def _history(self, stream: Stream, group: Group, consumer: str, after: Id, budget: Budget) -> list[Any]:
        entries: list[Any] = []
        mine = [item for item in group.pel if item.consumer == consumer and item.id > after]
        for item in sorted(mine, key=lambda item: item.id):
            fields = stream.fields(item.id)
            if budget.in_stream >= budget.count:
                break
            if fields is not None and self.is_exhausted(item.count):
                self.bury(item)
                continue
            budget.take()
            entries.append([text(item.id), fields])
            if fields is not None:
                group.put(Pending(item.id, consumer, self.now_ms, item.count + 1))
        return entries
