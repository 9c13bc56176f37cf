"""The store for asyncio: each method builds a command with Redis's grammar, and runs it on the engine.

It owns the methods. `core.parser` checks their arguments, and the engine decides what a command does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final, TypeVar

from tailrace.app.store.service import EngineStore
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.grammar import Request
from tailrace.core.log.entry import BadEntry, fragment_from_flat
from tailrace.core.parser import parse_queued, parse_request
from tailrace.core.replies import AppendReply, RangeReply, ReadReply, Reply, StreamRead
from tailrace.core.stream_id import format_id, parse_id, parse_range_end, parse_range_start
from tailrace.library.entries import Entry, FieldsToAppend, Name, as_bytes, entries_of, flat_fields, plain

PAGE_ENTRIES: Final = 1_000
PAGE_BYTES: Final = 1024 * 1024
"""How many entries and bytes a range reads at once: other tasks run in between."""

ReplyT = TypeVar("ReplyT")


class AsyncStore:
    """Streams and groups for the tasks of one event loop; `tailrace.open_async` returns it.

    A call returns when its result is on disk. If the engine refuses it, it raises `StreamError`, and nothing
    has changed. After a failure of the disk, and after the end of the context, writes raise
    `StoreUnavailable`.
    """

    def __init__(self, store: EngineStore) -> None:
        self._store = store

    # --- entries -------------------------------------------------------------------------------

    async def append(self, key: Name, fields: FieldsToAppend, *, id: str = "*") -> str:  # noqa: A002
        """Append one entry and return its id. `id`: `*` for an id of the current time, or a greater one."""
        reply = await self._words(AppendReply, "XADD", key, id, *flat_fields(fields))
        return format_id(reply.ids[0])

    async def append_many(self, key: Name, entries: Iterable[FieldsToAppend]) -> list[str]:
        """Append all of `entries` or none, and return their ids. All of them are in memory at once."""
        fragments = [_fragment(fields) for fields in entries]
        if not fragments:
            return []
        reply = await self._run(AppendReply, c.Append(_key(key), fragments))
        return [format_id(each) for each in reply.ids]

    async def length(self, key: Name) -> int:
        """Return the number of entries; 0 for a missing stream."""
        return await self._words(int, "XLEN", key)

    async def range(
        self,
        key: Name,
        start: str = "-",
        end: str = "+",
        *,
        count: int | None = None,
        reverse: bool = False,
    ) -> AsyncIterator[Entry]:
        """Yield the entries from `start` to `end`, both included, at most `count` of them.

        `start` and `end`: ids, times in milliseconds, `-`, `+`, or `(id` to exclude the id. `reverse`: the
        highest id first. Memory is bounded: the range is read in pages.
        """
        lowest, highest = parse_range_start(start.encode()), parse_range_end(end.encode())
        more = True
        while more and lowest <= highest and (count is None or count > 0):
            most = PAGE_ENTRIES if count is None else min(count, PAGE_ENTRIES)
            page = await self._run(
                RangeReply, c.Range(_key(key), lowest, highest, most, reverse, max_bytes=PAGE_BYTES)
            )
            for entry in entries_of(page.entries):
                yield entry
            more = page.more
            if more:
                last, count = page.entries.ids[-1], None if count is None else count - len(page.entries)
                lowest, highest = (lowest, last - 1) if reverse else (last + 1, highest)

    async def read(
        self, key: Name, after: str = "0-0", *, count: int | None = None, wait_ms: int = 0
    ) -> list[Entry]:
        """Return the entries after the id `after`, in order; none if there are none after `wait_ms`.

        `after="$"` stands for the last id at the time of the call: use `tail` to follow a stream.
        """
        words = [*_option("COUNT", count), *_option("BLOCK", wait_ms or None)]
        reply = await self._words(ReadReply, "XREAD", *words, "STREAMS", key, after)
        return list(entries_of(reply.streams[0].entries))

    async def tail(self, key: Name, after: str = "$") -> AsyncIterator[Entry]:
        """Yield the entries after `after`, then each new entry when it is durable. It does not end."""
        while True:
            part = await self._next(key, after)
            for entry in entries_of(part.entries):
                yield entry
            after = format_id(part.next)

    async def _next(self, key: Name, after: str) -> StreamRead:
        reply = await self._words(
            ReadReply, "XREAD", "COUNT", str(PAGE_ENTRIES), "BLOCK", "0", "STREAMS", key, after
        )
        return reply.streams[0]

    # --- groups --------------------------------------------------------------------------------

    async def create_group(self, key: Name, group: Name, after: str = "0-0") -> bool:
        """Create a group that delivers the entries after `after`, and its stream if it is missing.

        `after="$"`: entries that are appended from now on. Return False if the group exists; it is then
        unchanged.
        """
        try:
            await self._words(object, "XGROUP", "CREATE", key, group, after, "MKSTREAM")
        except StreamError as error:
            if error.code is ErrorCode.BUSYGROUP:
                return False
            raise
        return True

    async def read_group(
        self,
        key: Name,
        group: Name,
        consumer: Name,
        *,
        count: int | None = None,
        wait_ms: int = 0,
        claim_min_idle_ms: int | None = None,
    ) -> list[Entry]:
        """Deliver entries to `consumer`: they are pending until `ack`.

        `claim_min_idle_ms`: first take over entries that another consumer has left unacknowledged for so
        long; None: new entries only. `wait_ms`: wait so long for the first entry.
        """
        words = [*_option("COUNT", count), *_option("BLOCK", wait_ms or None)]
        words += _option("CLAIM", claim_min_idle_ms)
        reply = await self._words(
            ReadReply, "XREADGROUP", "GROUP", group, consumer, *words, "STREAMS", key, ">"
        )
        return list(entries_of(reply.streams[0].entries))

    async def ack(self, key: Name, group: Name, *ids: str) -> int:
        """Acknowledge entries; return how many of them were pending."""
        if not ids:
            return 0
        numbers = tuple(parse_id(each.encode()) for each in ids)
        return await self._run(
            int, c.Acknowledge(as_bytes(key), as_bytes(group), numbers, require_group=True)
        )

    # --- every command -------------------------------------------------------------------------

    async def command(self, *words: Name, binary: bool = False) -> Any:
        """Run any command in Redis's words and return its reply as int, str, list or None.

        With `binary`, strings are bytes.
        """
        request = _parsed(words)
        reply = None if request.command is None else await self._store.execute(request.command)
        return plain(request.to_resp(reply), binary=binary)

    async def transaction(self, commands: Iterable[Sequence[Name]], *, binary: bool = False) -> list[Any]:
        """Run commands at one instant, without another command in between, and return their replies.

        If a command is unknown or has a wrong number of arguments, none is run. Any other `StreamError` takes
        the place of a reply, and the other commands have run, as in Redis.
        """
        queued = [parse_queued([as_bytes(word) for word in words]) for words in commands]
        requests = [each for each in queued if isinstance(each, Request)]
        replies = iter(await self._store.execute_all([each.command for each in requests if each.command]))
        return [
            each
            if isinstance(each, StreamError)
            else _outcome(each, next(replies) if each.command else None, binary=binary)
            for each in queued
        ]

    async def _words(self, kind: type[ReplyT], *words: Name) -> ReplyT:
        command = _parsed(words).command
        assert command is not None
        return await self._run(kind, command)

    async def _run(self, kind: type[ReplyT], command: c.Command) -> ReplyT:
        reply: Any = await self._store.execute(command)
        assert kind is object or isinstance(reply, kind)
        return reply  # type: ignore[no-any-return]


def _parsed(words: Iterable[Name]) -> Request:
    return parse_request([as_bytes(word) for word in words])


def _key(key: Name) -> bytes:
    """Return the bytes of `key`, which the grammar has checked."""
    command = _parsed(("XLEN", key)).command
    assert isinstance(command, c.StreamLength)
    return command.key


def _option(name: str, value: int | None) -> list[str]:
    return [] if value is None else [name, str(value)]


def _fragment(fields: FieldsToAppend) -> bytes:
    try:
        return fragment_from_flat(flat_fields(fields))
    except BadEntry as error:
        raise StreamError(ErrorCode.ENTRY_TOO_LARGE, f"ERR {error}") from None


def _outcome(request: Request, answer: Reply | StreamError, *, binary: bool) -> Any:
    return answer if isinstance(answer, StreamError) else plain(request.to_resp(answer), binary=binary)
