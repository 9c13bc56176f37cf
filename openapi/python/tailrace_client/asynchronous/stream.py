"""One stream, for asyncio programs: its state, its settings and its groups.

`state_calls` contains the requests. The methods that read and write entries are in `stream_reads` and
`stream_writes`. Every method is one call or a loop of calls.
"""

from __future__ import annotations

from http import HTTPStatus

from tailrace_client import replies, state_calls
from tailrace_client.asynchronous.group import AsyncGroup
from tailrace_client.asynchronous.stream_reads import AsyncStreamReads
from tailrace_client.asynchronous.stream_writes import AsyncStreamWrites
from tailrace_client.errors import TailraceError
from tailrace_client.session import AsyncSession
from tailrace_client.state_calls import RetentionChange, StreamHead


class AsyncStream(AsyncStreamWrites, AsyncStreamReads):
    """A stream by its key. Creating this object sends no request; the first append creates the stream on the
    server."""

    def __init__(self, session: AsyncSession, key: str) -> None:
        self._session = session
        self.key = key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    def group(self, name: str) -> AsyncGroup:
        """Return the consumer group with this name. This sends no request."""
        return AsyncGroup(self._session, self.key, name)

    async def length(self) -> int:
        """Return the number of entries; 0 for a missing stream."""
        return await self._session.send(state_calls.length(self.key))

    async def delete(self) -> None:
        """Delete the stream with its groups."""
        await self._session.send(state_calls.drop(self.key))

    async def exists(self) -> bool:
        """Return whether the stream exists. O(log n)."""
        return await self.head() is not None

    async def head(self) -> StreamHead | None:
        """Return the length and the ids of the stream; None if it does not exist. O(log n)."""
        try:
            return await self._session.send(state_calls.head(self.key))
        except TailraceError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def info(self, *, full: bool = False, count: int | None = None) -> replies.StreamState:
        """Return the state of the stream (XINFO STREAM).

        `full`: also the first entries, the groups, and their consumers and pending entries; at most `count`
        of each, 10 unless given. Raises `TailraceError` with the code `NO_SUCH_STREAM`.
        """
        return await self._session.send(state_calls.info(self.key, count, full=full))

    async def groups(self) -> list[replies.Group]:
        """Return the state of every consumer group of the stream (XINFO GROUPS). O(groups)."""
        return await self._session.send(state_calls.groups(self.key))

    async def create(
        self,
        *,
        idmp_duration_s: int | None = None,
        idmp_maxsize: int | None = None,
        retention: RetentionChange = "keep",
    ) -> bool:
        """Create an empty stream and return True. If the stream exists, return False; the given settings
        are changed then. O(1).

        The settings are those of `configure`.
        """
        return await self._session.send(
            state_calls.create(self.key, idmp_duration_s, idmp_maxsize, retention)
        )

    async def configure(
        self,
        *,
        idmp_duration_s: int | None = None,
        idmp_maxsize: int | None = None,
        retention: RetentionChange = "keep",
    ) -> None:
        """Change the settings of the stream (XCFGSET, and retention). O(1).

        `idmp_duration_s`: for how many seconds the stream remembers idempotency keys. `idmp_maxsize`: how
        many keys of each producer. If one of these values changes, the stream forgets its keys. `retention`:
        the rules by which the server removes the oldest entries; they replace earlier rules, and None removes
        all rules.
        """
        await self._session.send(state_calls.configure(self.key, idmp_duration_s, idmp_maxsize, retention))

    async def set_id(
        self, last_id: str, *, entries_added: int | None = None, max_deleted_id: str | None = None
    ) -> None:
        """Set the last id of the stream and its counters (XSETID). O(1).

        Raises `TailraceError` if the values contradict the entries of the stream.
        """
        await self._session.send(state_calls.set_id(self.key, last_id, entries_added, max_deleted_id))

    async def producer(self, producer_id: str) -> replies.ProducerState:
        """Return the epochs of a producer that the stream remembers, with their layouts and numbers of keys.
        O(1)."""
        return await self._session.send(state_calls.producer(self.key, producer_id))

    async def take_over(self, producer_id: str, *, epoch: int, replaces: str, layout: str, keys: int) -> None:
        """Give an epoch of a producer another layout; appends with the former layout fail from now on. O(1).

        The epoch must have the layout `replaces` or none, and exactly `keys` idempotency keys. Otherwise this
        raises `TailraceError`, and nothing changes.
        """
        await self._session.send(state_calls.take_over(self.key, producer_id, epoch, replaces, layout, keys))
