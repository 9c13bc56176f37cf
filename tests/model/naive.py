"""A naive model of the commands: the reply and the changes of each, in about ten lines.

It covers the commands that current servers have and Redis 7.0 lacks, and the commands that they need. It does
not model errors: its caller sends valid commands only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from tests.model.streams import (
    COUNT_MAX,
    Consumer,
    Group,
    Id,
    Pending,
    Stream,
    capped,
    delete_one,
    text,
)

Reply: TypeAlias = Any

UNLIMITED: Final = 1 << 62


class Budget:
    """COUNT for each stream, MAXCOUNT over all of them."""

    def __init__(self, count: int | None, max_count: int | None) -> None:
        self.count = count or UNLIMITED
        self.left = max_count or UNLIMITED
        self.in_stream = 0

    def next_stream(self) -> bool:
        """Whether the next stream is read at all."""
        self.in_stream = 0
        return self.left > 0

    def take(self) -> bool:
        if self.in_stream >= self.count or self.left <= 0:
            return False
        self.in_stream += 1
        self.left -= 1
        return True


class Model:
    """All streams, under a clock that the caller advances."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.streams: dict[str, Stream] = {}

    def stream(self, key: str) -> Stream:
        return self.streams.setdefault(key, Stream())

    # --- writing -----------------------------------------------------------------------------

    def add(
        self,
        key: str,
        fields: list[str],
        value: Id | None = None,
        trim: Callable[[Stream], int] | None = None,
        idempotency: tuple[str, str] | None = None,
    ) -> str:
        stream = self.stream(key)
        if idempotency and (known := stream.producers.get(idempotency[0], {}).get(idempotency[1])):
            stream.duplicates += 1
            return text(known)
        if value is None:
            value = (self.now_ms, 0) if self.now_ms > stream.last[0] else (stream.last[0], stream.last[1] + 1)
        stream.entries.append((value, fields))
        stream.last, stream.added = value, stream.added + 1
        if idempotency:
            self._remember(stream, *idempotency, value)
        if trim:
            trim(stream)
        return text(value)

    def _remember(self, stream: Stream, producer: str, key: str, value: Id) -> None:
        keys = stream.producers.setdefault(producer, {})
        keys[key] = value
        stream.keys_added += 1
        while len(keys) > stream.maxsize:
            del keys[next(iter(keys))]

    def expire_keys(self) -> None:
        for stream in self.streams.values():
            oldest_ms = self.now_ms - stream.duration_s * 1000
            for producer, keys in list(stream.producers.items()):
                stream.producers[producer] = {
                    key: value for key, value in keys.items() if value[0] > oldest_ms
                }
            stream.producers = {producer: keys for producer, keys in stream.producers.items() if keys}

    def configure(self, key: str, duration_s: int, maxsize: int) -> str:
        stream = self.streams[key]
        if (stream.duration_s, stream.maxsize) != (duration_s, maxsize):
            stream.producers = {}
        stream.duration_s, stream.maxsize = duration_s, maxsize
        return "OK"

    def trim(self, key: str, rule: Callable[[Stream], int]) -> int:
        return rule(self.streams[key]) if key in self.streams else 0

    def delete(self, key: str, ids: list[Id]) -> int:
        return sum(self.stream(key).remove(value) for value in ids) if key in self.streams else 0

    def delete_by_policy(self, key: str, policy: str, ids: list[Id]) -> list[int]:
        stream = self.streams.get(key)
        return [-1 if stream is None else delete_one(stream, policy, value) for value in ids]

    # --- groups ------------------------------------------------------------------------------

    def create_group(self, key: str, group: str, after: Id, read: int | None) -> str:
        stream = self.stream(key)
        if group in stream.groups:
            return "BUSYGROUP Consumer Group name already exists"
        stream.groups[group] = Group(after, capped(stream, read))
        return "OK"

    def move_group(self, key: str, group: str, after: Id, read: int | None) -> str:
        found = self.streams[key].groups[group]
        found.last, found.read = after, capped(self.streams[key], read)
        return "OK"

    def destroy_group(self, key: str, group: str) -> int:
        return int(self.streams[key].groups.pop(group, None) is not None)

    def delete_consumer(self, key: str, group: str, consumer: str) -> int:
        found = self.streams[key].groups[group]
        mine = [item for item in found.pel if item.consumer == consumer]
        found.pel = [item for item in found.pel if item.consumer != consumer]
        found.consumers.pop(consumer, None)
        return len(mine)

    def ack(self, key: str, group: str, ids: list[Id]) -> int:
        return sum(self.streams[key].groups[group].drop(value) for value in ids)

    def ack_and_delete(self, key: str, group: str, policy: str, ids: list[Id]) -> list[int]:
        stream = self.streams[key]
        return [
            delete_one(stream, policy, value, acked=True) if stream.groups[group].drop(value) else -1
            for value in ids
        ]

    def nack(self, key: str, group: str, mode: str, ids: list[Id], retry: int | None, *, force: bool) -> int:
        found, done = self.streams[key].groups[group], 0
        for value in ids:
            item = found.find(value)
            if item is None and force and self.streams[key].fields(value) is not None:
                item = Pending(value, None, 0, 0)
            if item is None:
                continue
            counts = {"SILENT": max(item.count - 1, 0), "FAIL": item.count, "FATAL": COUNT_MAX}
            found.put(Pending(value, None, 0, counts[mode] if retry is None else retry))
            done += 1
        return done

    def claim(
        self,
        key: str,
        group: str,
        consumer: str,
        min_idle_ms: int,
        ids: list[Id],
        *,
        idle_ms: int = 0,
        force: bool,
    ) -> Reply:
        """XCLAIM with IDLE, with or without FORCE (rules 47 to 50)."""
        stream = self.streams[key]
        found, reply = stream.groups[group], []
        who = self._see(found, consumer)
        for value in ids:
            item, fields = found.find(value), stream.fields(value)
            if fields is None:
                found.drop(value)
                continue
            if item is None and force:
                item = Pending(value, None, self.now_ms, 1)
            if item is None or (item.consumer is not None and self.now_ms - item.at_ms < min_idle_ms):
                continue
            found.put(Pending(value, consumer, self.now_ms - idle_ms, min(item.count + 1, COUNT_MAX)))
            who.active_ms = self.now_ms
            reply.append([text(value), fields])
        return reply

    def auto_claim(
        self, key: str, group: str, consumer: str, min_idle_ms: int, start: Id, count: int
    ) -> Reply:
        """XAUTOCLAIM JUSTID (rules 48 and 52)."""
        stream = self.streams[key]
        found = stream.groups[group]
        who = self._see(found, consumer)
        claimed: list[str] = []
        deleted: list[str] = []
        rest = sorted((item for item in found.pel if item.id >= start), key=lambda item: item.id)
        examined = 0
        while rest and examined < 10 * count and len(claimed) + len(deleted) < count:
            item = rest.pop(0)
            examined += 1
            if stream.fields(item.id) is None:
                found.drop(item.id)
                deleted.append(text(item.id))
            elif item.consumer is None or self.now_ms - item.at_ms >= min_idle_ms:
                found.put(Pending(item.id, consumer, self.now_ms, item.count))
                who.active_ms = self.now_ms
                claimed.append(text(item.id))
        return [text(rest[0].id) if rest else "0-0", claimed, deleted]

    def _see(self, group: Group, consumer: str) -> Consumer:
        who = group.consumers.setdefault(consumer, Consumer(self.now_ms))
        who.seen_ms = self.now_ms
        return who

    # --- reading -----------------------------------------------------------------------------

    def read(self, sources: list[tuple[str, Id]], budget: Budget) -> Reply:
        reply = []
        for key, after in sources:
            if not budget.next_stream():
                break
            entries = [
                [text(value), fields]
                for value, fields in self.stream(key).entries
                if value > after and budget.take()
            ]
            if entries:
                reply.append([key, entries])
        return reply or None

    def read_group(
        self,
        group: str,
        consumer: str,
        sources: list[tuple[str, Id | None]],
        budget: Budget,
        *,
        claim_ms: int | None = None,
        noack: bool = False,
    ) -> Reply:
        """XREADGROUP; a source's id None is ``>``."""
        reply = []
        for key, after in sources:
            if not budget.next_stream():
                break
            stream, found = self.streams[key], self.streams[key].groups[group]
            who = self._see(found, consumer)
            if after is not None:
                claim_ms = None  # rule 39: also for all streams that follow
                reply.append([key, self._history(stream, found, consumer, after, budget)])
                continue
            entries = [] if claim_ms is None else self._claimed(stream, found, consumer, claim_ms, budget)
            fresh = self._fresh(stream, found, consumer, budget, noack=noack)
            if entries or (fresh and not noack):
                who.active_ms = self.now_ms
            entries += [[*entry, 0, 0] for entry in fresh] if claim_ms is not None else fresh
            if entries:
                reply.append([key, entries])
        return reply or None

    def _history(self, stream: Stream, group: Group, consumer: str, after: Id, budget: Budget) -> list[Reply]:
        entries: list[Reply] = []
        mine = [item for item in group.pel if item.consumer == consumer and item.id > after]
        for item in sorted(mine, key=lambda item: item.id):
            if not budget.take():
                break
            fields = stream.fields(item.id)
            entries.append([text(item.id), fields])
            if fields is not None:
                group.put(Pending(item.id, consumer, self.now_ms, min(item.count + 1, COUNT_MAX)))
        return entries

    def _claimed(
        self, stream: Stream, group: Group, consumer: str, min_idle_ms: int, budget: Budget
    ) -> list[Reply]:
        entries: list[Reply] = []
        for item in list(group.pel):
            idle_ms = self.now_ms - item.at_ms
            if idle_ms < min_idle_ms:
                break
            fields = stream.fields(item.id)
            if fields is None:
                continue
            if not budget.take():
                break
            entries.append([text(item.id), fields, idle_ms, item.count])
            group.put(Pending(item.id, consumer, self.now_ms, min(item.count + 1, COUNT_MAX)))
        return entries

    def _fresh(
        self, stream: Stream, group: Group, consumer: str, budget: Budget, *, noack: bool
    ) -> list[Reply]:
        entries: list[Reply] = []
        for value, fields in stream.entries:
            if value <= group.last or not budget.take():
                continue
            entries.append([text(value), fields])
            behind = group.last < stream.first or stream.has_tombstone_from(group.last)
            group.read = stream.estimate(value) if group.read is None or behind else group.read + 1
            group.last = value
            if not noack:
                group.put(Pending(value, consumer, self.now_ms, 1))
        return entries
