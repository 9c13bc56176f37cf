"""Runs commands on the engine: one, several in order, or several as one step.

It owns the order in which commands are sent, and reloads the library if a node lost it. The link keeps the
order of calls on one way to a node, so most commands are sent without waiting for the answers to those
before; `sequences` finds the commands for which this order is not enough. It raises errors of the engine and
of the link; the store turns them into errors of the API.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, TypeGuard

from tailrace.app.remote.functions.library import is_missing
from tailrace.app.remote.keys import listing, named, planning, server
from tailrace.app.remote.keys.planning import marked, of_one
from tailrace.app.remote.keys.registry import announced, fields_of
from tailrace.app.remote.link.port import EngineError, Link
from tailrace.app.remote.readers.parts import Looks
from tailrace.app.remote.request_options import current_options
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.own_names import require_free_names
from tailrace.app.remote.words.plan import Plan, Result
from tailrace.app.remote.words.table import plan_of
from tailrace.core import commands as c
from tailrace.core.command_table import READ_ONLY, spelled
from tailrace.core.commands import Command, InfoStream, Range, Read, ReadGroup
from tailrace.core.errors import StreamError, cross_slot, engine_lacks
from tailrace.core.replies import RangeReply, Reply, StreamFullInfo, StreamInfo


def in_order(commands: Sequence[Command], *, are_confirmed: bool) -> Iterator[Sequence[Command]]:
    """Divide commands, which keep their order, into runs. The commands of a run may be under way together;
    the next run begins after the last answer. O(commands).

    `are_confirmed`: whether replicas must confirm the writes. Then writes and reads go different ways to a
    node, and could overtake each other.
    """
    start = 0
    for end in range(1, len(commands) + 1):
        if end == len(commands) or _are_apart(*commands[end - 1 : end + 1], are_confirmed=are_confirmed):
            yield commands[start:end]
            start = end


def _are_apart(first: Command, second: Command, *, are_confirmed: bool) -> bool:
    if _has_steps(first) or _has_steps(second):
        return True
    return are_confirmed and (type(first) in READ_ONLY) != (type(second) in READ_ONLY)


def _has_steps(command: Command) -> bool:
    """Return whether a command can take several calls, one after another."""
    if isinstance(command, Range):
        return command.with_incarnation
    if isinstance(command, Read | ReadGroup | InfoStream):
        return True
    return type(command) in JOBS or bool(fields_of(command))


Job: TypeAlias = Callable[[Link, Engine, Any], Awaitable[Reply]]

JOBS: Final[Mapping[type[c.Command], Job]] = {
    c.ListStreams: listing.list_streams,
    c.KeyspaceSize: listing.count_streams,
    c.MatchKeys: listing.match_keys,
    c.ScanKeys: listing.scan_keys,
    c.DeleteKeys: named.delete_keys,
    c.CountKeys: named.count_keys,
    c.RenameKey: named.rename_key,
    c.CopyKey: named.copy_key,
    c.Flush: server.flush,
    c.GetConfig: server.get_config,
    c.SetConfig: server.set_config,
    c.ServerTime: server.server_time,
    c.ServerInfo: server.server_info,
    c.SplitRange: planning.split_range,
    c.SeekRange: planning.seek_range,
}
"""Commands that concern many keys, or the whole engine."""

TOGETHER: Final[Mapping[type[c.Command], Callable[[Any], Plan]]] = {
    c.CountKeys: named.count_together,
    c.DeleteKeys: named.delete_together,
}
"""Such commands, for keys in one slot, as a part of a transaction."""


class Runner:
    """Runs commands. `looks`: runs reads."""

    def __init__(self, link: Link, engine: Engine, looks: Looks) -> None:
        self._link = link
        self._engine = engine
        self._looks = looks

    async def run(self, command: c.Command) -> Reply:
        """Run one command without waiting. Raises `EngineError`, `StreamError` and `LinkDown`."""
        if isinstance(command, c.Read | c.ReadGroup):
            return await self._looks.look(command)
        require_free_names(command)
        job = JOBS.get(type(command))
        if job is not None:
            return await job(self._link, self._engine, command)
        plan = plan_of(self._engine, command)
        assert plan is not None, "every command is a plan or a job"
        given = fields_of(command)
        if given:
            async with announced(self._link, self._engine.configured, given):
                return await self._planned(plan)
        if isinstance(command, c.Range) and command.with_incarnation:
            return await self._page_of_one(command.key, plan)
        reply = await self._planned(plan)
        if isinstance(command, c.InfoStream) and not _has_incarnation(reply):
            return await self._with_incarnation(command, plan, reply)
        return reply

    async def _with_incarnation(self, command: c.InfoStream, plan: Plan, reply: Reply) -> Reply:
        """Give the stream an incarnation, and describe it again."""
        return await self._planned(plan) if await self._is_marked(command) else reply

    async def _is_marked(self, command: c.InfoStream) -> bool:
        """Give the stream an incarnation. Return False if the engine refuses it."""
        library = self._engine.library
        return library is not None and await marked(self._link, library, command.key) is not None

    async def _page_of_one(self, key: bytes, plan: Plan) -> Reply:
        """Return a page whose entries are all of the incarnation that it names.

        A replica may still have entries of an earlier stream, so a page of a replica names none.
        """
        library = self._engine.library
        if library is None or current_options().consistency == "eventual":
            return await self._planned(plan)

        async def page(incarnation: str | None) -> Reply:
            reply = await self._planned(plan)
            assert isinstance(reply, RangeReply)
            return RangeReply(reply.entries, reply.more, reply.exists, incarnation)

        return await of_one(self._link, library, key, page)

    async def _planned(self, plan: Plan) -> Reply:
        results = await self._sent(plan)
        reply = plan.read(results)
        if plan.wakes and plan.key is not None:
            self._link.wake(plan.key)
        return reply

    async def _sent(self, plan: Plan) -> Sequence[Result]:
        """Send a plan; where a node lost the library, load it and send the plan again, which has done
        nothing."""
        results = await self._once(plan)
        if self._engine.library is not None and _lost_library(plan, results):
            await self._engine.library.load(self._link)
            results = await self._once(plan)
        return results

    async def _once(self, plan: Plan) -> Sequence[Result]:
        if not plan.commands:
            return []
        least, consistency = current_options()
        if len(plan.commands) > 1:
            return await self._link.call_together(
                plan.commands,
                key=plan.key,
                is_write=plan.is_write,
                atomic=plan.is_atomic,
                min_replicas=least,
                consistency=consistency,
            )
        words = plan.commands[0]
        try:
            return [
                await self._link.call(
                    words, key=plan.key, is_write=plan.is_write, min_replicas=least, consistency=consistency
                )
            ]
        except EngineError as error:
            return [error]

    # --- several -------------------------------------------------------------------------------

    async def run_together(self, commands: Sequence[c.Command]) -> list[Reply | EngineError | StreamError]:
        """Run commands as one step: MULTI and EXEC in one slot. A refused command does not stop the others.

        Raises CROSSSLOT if their keys are in several slots, and ENGINE_LACKS_FEATURE for a command on all
        keys; then none was run. One command alone needs neither.
        """
        if len(commands) == 1:
            return [await self._tried(commands[0])]
        given = [field for command in commands for field in fields_of(command)]
        async with announced(self._link, self._engine.configured, given):
            replies = await self._run_atomically(commands)
        if _lack_incarnation(commands, replies) and await self._is_marked(commands[0]):
            return await self._run_atomically(commands)
        return replies

    async def _run_atomically(self, commands: Sequence[c.Command]) -> list[Reply | EngineError | StreamError]:
        plans = [self._part(command) for command in commands]
        key = self._common_key([plan for plan in plans if isinstance(plan, Plan)])
        planned = [plan for plan in plans if isinstance(plan, Plan)]
        results = await self._all_sent(planned, key)
        if self._engine.library is not None and _did_nothing(planned, results):
            await self._engine.library.load(self._link)
            results = await self._all_sent(planned, key)
        following = iter(results)
        return [
            plan if isinstance(plan, StreamError) else _read(plan, [next(following) for _ in plan.commands])
            for plan in plans
        ]

    def _part(self, command: c.Command) -> Plan | StreamError:
        """Return the plan of a command of a transaction, or the error with which it is refused alone."""
        make = TOGETHER.get(type(command))
        try:
            require_free_names(command)
            plan = plan_of(self._engine, command) if make is None else make(command)
        except StreamError as refusal:
            return refusal
        if plan is None:
            raise engine_lacks(f"{spelled(type(command))} in a transaction", "a request of its own")
        return plan

    def _common_key(self, plans: Sequence[Plan]) -> bytes | None:
        keys = [plan.key for plan in plans if plan.key is not None]
        if self._link.is_cluster and len({self._link.slot_of(key) for key in keys}) > 1:
            raise cross_slot()
        return keys[0] if keys else None

    async def _all_sent(self, plans: Sequence[Plan], key: bytes | None) -> Sequence[Result]:
        words = [each for plan in plans for each in plan.commands]
        if not words:
            return []
        is_write = any(plan.is_write for plan in plans)
        least, consistency = current_options()
        results = await self._link.call_together(
            words, key=key, is_write=is_write, atomic=True, min_replicas=least, consistency=consistency
        )
        for plan in plans:
            if plan.wakes and plan.key is not None:
                self._link.wake(plan.key)
        return results

    async def _tried(self, command: c.Command) -> Reply | EngineError | StreamError:
        try:
            return await self.run(command)
        except (EngineError, StreamError) as error:
            return error

    async def run_each(self, commands: Sequence[c.Command]) -> list[Reply | Exception]:
        """Run commands one after another; those on one key take effect in their order. Their answers, or
        errors.

        Most are sent before the first answer arrives: see `in_order`.
        """
        least, _ = current_options()
        needed = self._link.min_replicas if least is None else least
        answers: list[Reply | Exception] = []
        for some in in_order(commands, are_confirmed=bool(needed)):
            answers += await asyncio.gather(*map(self.run, some), return_exceptions=True)  # type: ignore[arg-type] # no BaseException but Exception
        return answers


def _has_incarnation(reply: Reply) -> bool:
    info = reply.info if isinstance(reply, StreamFullInfo) else reply
    assert isinstance(info, StreamInfo)
    return info.incarnation is not None


def _lack_incarnation(
    commands: Sequence[c.Command], replies: Sequence[Reply | EngineError | StreamError]
) -> TypeGuard[Sequence[c.InfoStream]]:
    """Whether the commands only describe one stream, which has no incarnation yet."""
    keys = {each.key if isinstance(each, c.InfoStream) else None for each in commands}
    if len(keys) > 1 or None in keys:
        return False
    return any(
        isinstance(each, StreamInfo | StreamFullInfo) and not _has_incarnation(each) for each in replies
    )


def _did_nothing(plans: Sequence[Plan], results: Sequence[Result]) -> bool:
    """Whether each change of a transaction failed because a node lost the library."""
    following = iter(results)
    failed = [_lost_library(plan, list(islice(following, len(plan.commands)))) for plan in plans]
    return any(failed) and all(each or not plan.is_write for each, plan in zip(failed, plans, strict=True))


def _lost_library(plan: Plan, results: Sequence[Result]) -> bool:
    """Whether a plan has done nothing because a node lost the library."""
    return any(map(_is_missing, results[: len(results) - plan.trailing]))


def _is_missing(result: Result) -> bool:
    return isinstance(result, EngineError) and is_missing(result)


def _read(plan: Plan, results: Sequence[Result]) -> Reply | EngineError | StreamError:
    try:
        return plan.read(results)
    except (EngineError, StreamError) as error:
        return error
