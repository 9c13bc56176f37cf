"""One look of a read: sends it to the slots of its streams, joins the answers, and cuts them to the limits.

A read over several slots of a Cluster is one command for each slot, one after another. Each command is
atomic; the whole read is not. The group of every stream is checked before the first group changes. Replies
are cut for engines without MAXCOUNT and for reads that readers share.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from tailrace.app.remote.functions.library import is_missing
from tailrace.app.remote.functions.reads import Available, available
from tailrace.app.remote.link.port import EngineError, Link
from tailrace.app.remote.request_options import current_options
from tailrace.app.remote.tracking.tracker import READS
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.group_reads import UNKNOWN_NEXT, is_new, positions
from tailrace.app.remote.words.own_names import require_free_names
from tailrace.app.remote.words.pending import group_look
from tailrace.app.remote.words.plan import Plan, Result, value
from tailrace.app.remote.words.table import PLANNERS
from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.bounds.reply_room import ITEM_BYTES
from tailrace.core.commands import Malformed, Read, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.limits import READ_ENTRIES_MAX, REPLY_BYTES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream_id import StreamId


def cut_to(reply: ReadReply, limits: ReadLimits) -> ReadReply:
    """Return the first entries of the reply, up to the limits. O(entries), and O(bytes) with MAXSIZE."""
    budget = ReplyBudget(limits)
    left_bytes = REPLY_BYTES_MAX if limits.page_bytes is None else min(limits.page_bytes, REPLY_BYTES_MAX)
    reads = []
    for read in reply.streams:
        entries = read.entries if limits.count is None else read.entries.first(limits.count)
        entries = _fitting(entries, left_bytes)
        is_reached = bool(entries.ids) and not budget.is_spent
        if is_reached:
            budget.begin_stream(read.key)
            entries = entries.first(budget.spend(entries))
            budget.end_stream(len(entries))
        else:
            entries = NO_ENTRIES
        left_bytes -= _size_bytes(entries.fragments)
        is_whole = len(entries) == len(read.entries) and not (read.cut and budget.is_spent)
        reads.append(read if is_whole else _shorter(read, entries, is_cut=is_reached and not entries.ids))
    return ReadReply(reads)


def _fitting(entries: Entries, left_bytes: int) -> Entries:
    if _size_bytes(entries.fragments) <= left_bytes:
        return entries
    count = 0
    for fragment in entries.fragments:
        if left_bytes <= 0:
            break
        left_bytes -= ITEM_BYTES + len(fragment or b"")
        count += 1
    return entries.first(count)


def _size_bytes(fragments: Sequence[bytes | None]) -> int:
    return sum(len(each or b"") + ITEM_BYTES for each in fragments)


def _shorter(read: StreamRead, entries: Entries, *, is_cut: bool) -> StreamRead:
    following = read.next
    if len(entries) < len(read.entries):
        following = entries.ids[-1] if entries.ids else read.entries.ids[0] - 1
    return StreamRead(read.key, entries, following, read.new, read.history, is_cut)


def after(read: StreamRead, position: StreamId) -> StreamRead:
    """Return the read of one stream without the entries up to `position`. O(log entries)."""
    ids = read.entries.ids
    start = bisect_right(ids, position)
    entries = read.entries.part(start, len(ids)) if start else read.entries
    return StreamRead(read.key, entries, next=entries.ids[-1] if entries.ids else position)


AnyRead: TypeAlias = Read | ReadGroup

ARRAY_BYTES: Final = 4
"""The size of the array around a stream and its entries, in the reply of RESP2."""


class Looks:
    """Runs reads once, without waiting."""

    def __init__(self, link: Link, engine: Engine) -> None:
        self._link = link
        self._engine = engine

    async def look(self, command: AnyRead, *, is_armed: bool = False) -> ReadReply:
        """Return what the read finds now. `is_armed`: the engine reports changes of its streams from now on.

        Raises `EngineError`, `StreamError` and `LinkDown`.
        """
        require_free_names(command)
        parts = self._parts(command, is_armed=is_armed)
        if len(parts) == 1:
            reply = await self._part(command, is_armed=is_armed)
        else:
            reply = await self._several(command, parts, is_armed=is_armed)
        if isinstance(command, ReadGroup):
            return reply
        if len(parts) == 1 and self._engine.capabilities.read_budgets.is_native and not _looks(command):
            return reply
        return cut_to(reply, command.limits)

    async def available(self, command: ReadGroup, most: int) -> Available:
        """Return what the read of a group could return now, up to `most` new entries; the engine reports
        changes of its streams from now on. Raises `EngineError`, `StreamError` and `LinkDown`."""
        require_free_names(command)
        count, can_claim = 0, False
        for part in self._parts(command, is_armed=True):
            sources = tuple(command.streams[place] for place in part)
            reading = replace(command, streams=sources)
            has_settings = any(self._engine.has_settings(source.key) for source in sources)
            call = available(reading, max(most - count, 0), has_settings=has_settings)
            plan = self._engine.call(call, self._engine.capabilities.gathering)
            [result] = await self._sent(reading, plan, is_armed=True)
            found = call.read(value(result))
            count, can_claim = count + found.count, can_claim or found.can_claim
        return Available(count, can_claim)

    def _parts(self, command: AnyRead, *, is_armed: bool) -> list[list[int]]:
        """Divide the streams, as places in the command, by slot; without a Cluster, all are in one part.

        On a tracking connection XREAD answers with a map, which has each stream once, so a stream that is
        named again is in another part.
        """
        is_map = is_armed and isinstance(command, Read)
        parts: dict[tuple[int, int], list[int]] = {}
        named: Counter[bytes] = Counter()
        for place, source in enumerate(command.streams):
            slot = self._link.slot_of(source.key) if self._link.is_cluster else 0
            parts.setdefault((slot, named[source.key] if is_map else 0), []).append(place)
            named[source.key] += 1
        return list(parts.values())

    async def _several(
        self, command: AnyRead, parts: Sequence[Sequence[int]], *, is_armed: bool
    ) -> ReadReply:
        if isinstance(command, ReadGroup):
            await self._require_groups(command)
        found: dict[int, StreamRead] = {}
        left = min(command.limits.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX)
        for part in parts:
            sources = tuple(command.streams[place] for place in part)
            limits = _limited(command.limits, max(left, 1))
            reading = replace(command, streams=sources, limits=limits)
            if left <= 0 and isinstance(reading, ReadGroup):  # it has entries, so it does not wait
                reply = await self._completed(reading, ReadReply(list(map(_unread, sources))))
            else:  # the entries of a plain read are cut, so that each position becomes an id
                reply = await self._part(reading, is_armed=is_armed)
            left -= sum(len(read.entries.ids) for read in reply.streams)
            found.update(zip(part, reply.streams, strict=True))
        return ReadReply([found[place] for place in range(len(command.streams))])

    async def _require_groups(self, command: ReadGroup) -> None:
        for source in command.streams:
            words = group_look(source.key, command.group)
            await self._link.call(words, key=source.key, is_write=False)
            if isinstance(source.after, Malformed):
                raise source.after.error

    async def _part(self, command: AnyRead, *, is_armed: bool) -> ReadReply:
        plan = PLANNERS[type(command)](self._engine, command)
        if is_armed and command.limits.max_bytes is not None and plan.commands[-1][0] in READS:
            plan = PLANNERS[type(command)](self._engine, _for_tracking(command, command.limits.max_bytes))
        results = await self._sent(command, plan, is_armed=is_armed)
        reply = plan.read(results)
        assert isinstance(reply, ReadReply)
        return await self._completed(command, reply)

    async def _completed(self, command: AnyRead, reply: ReadReply) -> ReadReply:
        """Ask for the positions of a group that the engine's reply does not show."""
        plan = positions(command, reply) if isinstance(command, ReadGroup) else None
        if plan is None:
            return reply
        completed = plan.read(await self._once(command, plan, is_armed=False))
        assert isinstance(completed, ReadReply)
        return completed

    async def _sent(self, command: AnyRead, plan: Plan, *, is_armed: bool) -> list[Result]:
        """Send a plan; where a node lost the library, load it and send the plan again, which has done
        nothing."""
        results = await self._once(command, plan, is_armed=is_armed)
        library = self._engine.library
        if library is None or not any(isinstance(each, EngineError) and is_missing(each) for each in results):
            return results
        await library.load(self._link)
        return await self._once(command, plan, is_armed=is_armed)

    async def _once(self, command: AnyRead, plan: Plan, *, is_armed: bool) -> list[Result]:
        assert plan.key is not None
        if not is_armed:
            least, consistency = current_options()
            return await self._link.call_together(
                plan.commands,
                key=plan.key,
                is_write=plan.is_write,
                atomic=plan.is_atomic,
                min_replicas=least,
                consistency=consistency,
            )
        # XREADGROUP and functions register no key with the engine's tracking; EXISTS does.
        registering = [b"EXISTS", *(source.key for source in command.streams)]
        results = await self._link.read_armed(
            [registering, *plan.commands], key=plan.key, is_write=plan.is_write
        )
        value(results[0])
        return results[1:]


def _looks(command: Read) -> bool:
    """Return whether the gateway looks for an entry itself, which the engine's limits do not count."""
    return any(source.after is Special.LAST_ENTRY for source in command.streams)


def _for_tracking(command: AnyRead, max_bytes: int) -> AnyRead:
    """Return the read with the MAXSIZE that has the same effect on a tracking connection.

    It speaks RESP3, in which the reply has a map of streams, and the array around each stream is missing. For
    several streams, the effect is the same if the first one reaches the limit.
    """
    return replace(command, limits=replace(command.limits, max_bytes=max(max_bytes - ARRAY_BYTES, 1)))


def _limited(limits: ReadLimits, left: int) -> ReadLimits:
    count = limits.count if limits.count is None else min(limits.count, left)
    return replace(limits, count=count, max_count=left)


def _unread(source: ReadFrom) -> StreamRead:
    if is_new(source):
        return StreamRead(source.key, NO_ENTRIES, next=UNKNOWN_NEXT, new=True)
    after = source.after
    return StreamRead(source.key, NO_ENTRIES, next=after if isinstance(after, int) else 0)
