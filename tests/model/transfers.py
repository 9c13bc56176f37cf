"""The naive model of transfers of pending entries, and of all commands that claim or show pending entries.

It extends `naive` with DELCONSUMER `transfer_to`, all options of XCLAIM, both forms of XAUTOCLAIM, XPENDING
with all filters, and XINFO CONSUMERS. A read whose work is limited may return fewer entries, so the model
knows only what the reads return together, until one has nothing to return.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from tests.model.naive import Model, Reply
from tests.model.streams import COUNT_MAX, ZERO, Consumer, Group, Id, Pending, text


@dataclass(frozen=True)
class Claim:
    """The options of one XCLAIM. `at_ms`: the time of delivery that it asks for."""

    min_idle_ms: int = 0
    at_ms: int | None = None
    retry_count: int | None = None
    last_id: Id | None = None
    force: bool = False
    just_id: bool = False


@dataclass(frozen=True)
class Filter:
    """What one XPENDING asks for."""

    first: Id
    last: Id
    count: int
    min_idle_ms: int = 0
    consumer: str | None = None


class TransferModel(Model):
    """As `Model`, with consumers that leave their entries to others."""

    def create_consumer(self, key: str, group: str, consumer: str) -> int:
        consumers = self.streams[key].groups[group].consumers
        is_new = consumer not in consumers
        consumers.setdefault(consumer, Consumer(self.now_ms))
        return int(is_new)

    def transfer(self, key: str, group: str, consumer: str, new_consumer: str) -> int | None:
        """Delete a consumer, whose entries another one gets as they are; a transfer to itself drops them."""
        found = self.streams[key].groups[group]
        if consumer not in found.consumers:
            return None
        if consumer == new_consumer:
            return self.delete_consumer(key, group, consumer)
        found.consumers.setdefault(new_consumer, Consumer(self.now_ms))
        mine = [item for item in found.pel if item.consumer == consumer]
        for item in mine:
            item.consumer = new_consumer
        del found.consumers[consumer]
        return 0

    def copy(self, key: str, new_key: str) -> int:
        self.streams[new_key] = deepcopy(self.streams[key])
        return 1

    # --- claims ------------------------------------------------------------------------------

    def claim_with(self, key: str, group: str, consumer: str, ids: list[Id], options: Claim) -> Reply:
        """XCLAIM (rules 47 to 51)."""
        stream = self.streams[key]
        found, reply = stream.groups[group], []
        if options.last_id is not None:
            found.last = max(found.last, options.last_id)
        who = self._see(found, consumer)
        at_ms = self.now_ms if options.at_ms is None or options.at_ms > self.now_ms else options.at_ms
        for value in ids:
            item, fields = found.find(value), stream.fields(value)
            if fields is None:
                found.drop(value)
                continue
            if item is None and options.force:
                item = Pending(value, None, 0, 1)
            if item is None or not self._is_idle(item, options.min_idle_ms):
                continue
            count = item.count if options.just_id else min(item.count + 1, COUNT_MAX)
            count = count if options.retry_count is None else options.retry_count
            found.put(Pending(value, consumer, at_ms, count))
            who.active_ms = self.now_ms
            reply.append(text(value) if options.just_id else [text(value), fields])
        return reply

    def _is_idle(self, item: Pending, min_idle_ms: int) -> bool:
        return item.consumer is None or max(self.now_ms - item.at_ms, 0) >= min_idle_ms

    def claim_all_from(
        self, key: str, group: str, consumer: str, min_idle_ms: int, start: Id, count: int, *, just_id: bool
    ) -> tuple[str, list[Reply], list[str]]:
        """What XAUTOCLAIM returns if its work is not limited, or several of them together."""
        stream = self.streams[key]
        found = stream.groups[group]
        who = self._see(found, consumer)
        claimed: list[Reply] = []
        deleted: list[str] = []
        rest = sorted((item for item in found.pel if item.id >= start), key=lambda item: item.id)
        while rest and len(claimed) + len(deleted) < count:
            item = rest.pop(0)
            fields = stream.fields(item.id)
            if fields is None:
                found.drop(item.id)
                deleted.append(text(item.id))
            elif self._is_idle(item, min_idle_ms):
                more = 0 if just_id else 1
                found.put(Pending(item.id, consumer, self.now_ms, min(item.count + more, COUNT_MAX)))
                who.active_ms = self.now_ms
                claimed.append(text(item.id) if just_id else [text(item.id), fields])
        return text(rest[0].id if rest else ZERO), claimed, deleted

    # --- views -------------------------------------------------------------------------------

    def pending_rows(self, key: str, group: str, wanted: Filter) -> list[Reply]:
        """XPENDING with a range (rule 53)."""
        rows = [
            [text(item.id), item.consumer or "", self._idle_ms(item), item.count]
            for item in sorted(self.streams[key].groups[group].pel, key=lambda item: item.id)
            if wanted.first <= item.id <= wanted.last
            and wanted.consumer in (None, item.consumer)
            and self._is_idle(item, wanted.min_idle_ms)
        ]
        return rows[: wanted.count]

    def _idle_ms(self, item: Pending) -> int:
        return -1 if item.consumer is None else max(self.now_ms - item.at_ms, 0)

    def pending_summary(self, key: str, group: str) -> Reply:
        """XPENDING without a range."""
        found = self.streams[key].groups[group]
        ids = sorted(item.id for item in found.pel)
        counts = [[name, str(_owned(found, name))] for name in sorted(found.consumers)]
        owners = [[name, count] for name, count in counts if count != "0"]
        return [len(ids), text(ids[0]), text(ids[-1]), owners] if ids else [0, None, None, None]

    def consumers(self, key: str, group: str) -> list[Reply]:
        """XINFO CONSUMERS."""
        found = self.streams[key].groups[group]
        rows: list[Reply] = []
        for name, who in sorted(found.consumers.items()):
            inactive_ms = -1 if who.active_ms == -1 else self.now_ms - who.active_ms
            idle_ms = self.now_ms - who.seen_ms
            rows.append(
                ["name", name, "pending", _owned(found, name), "idle", idle_ms, "inactive", inactive_ms]
            )
        return rows


def _owned(group: Group, consumer: str) -> int:
    return sum(item.consumer == consumer for item in group.pel)
