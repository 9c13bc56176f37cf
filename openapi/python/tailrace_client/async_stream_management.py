"""The state and the settings of a stream, for asyncio programs. `state_calls` contains the requests."""

from __future__ import annotations

from http import HTTPStatus

from tailrace_client import state_calls
from tailrace_client.async_stream_of import AsyncStreamOf
from tailrace_client.errors import TailraceError
from tailrace_client.generated import models
from tailrace_client.retention import RetentionChange
from tailrace_client.state_calls import StreamHead


class AsyncStreamManagement(AsyncStreamOf):
    """The methods of `AsyncStream` for its state and settings."""

    async def length(self) -> int:
        """Return the number of entries, like `Stream.length`."""
        return await self._session.send(state_calls.length(self.key))

    async def delete(self) -> None:
        """Delete the stream, like `Stream.delete`."""
        await self._session.send(state_calls.drop(self.key))

    async def exists(self) -> bool:
        """Return whether the stream exists, like `Stream.exists`."""
        return await self.head() is not None

    async def head(self) -> StreamHead | None:
        """Return the length and the ids of the stream, like `Stream.head`."""
        try:
            return await self._session.send(state_calls.head(self.key))
        except TailraceError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def info(self, *, full: bool = False, count: int | None = None) -> models.StreamState:
        """Return the state of the stream, like `Stream.info`."""
        return await self._session.send(state_calls.info(self.key, count, full=full))

    async def groups(self) -> list[models.Group]:
        """Return the state of every consumer group of the stream, like `Stream.groups`."""
        return (await self._session.send(state_calls.groups(self.key))).groups

    async def create(
        self,
        *,
        idmp_duration_s: int | None = None,
        idmp_maxsize: int | None = None,
        retention: RetentionChange = "keep",
    ) -> bool:
        """Create an empty stream and return True, like `Stream.create`."""
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
        """Change the settings of the stream, like `Stream.configure`."""
        await self._session.send(state_calls.configure(self.key, idmp_duration_s, idmp_maxsize, retention))

    async def set_id(
        self, last_id: str, *, entries_added: int | None = None, max_deleted_id: str | None = None
    ) -> None:
        """Set the last id of the stream and its counters, like `Stream.set_id`."""
        await self._session.send(state_calls.set_id(self.key, last_id, entries_added, max_deleted_id))

    async def producer(self, producer_id: str) -> models.ProducerState:
        """Return the epochs of a producer that the stream remembers, like `Stream.producer`."""
        return await self._session.send(state_calls.producer(self.key, producer_id))

    async def take_over(self, producer_id: str, *, epoch: int, replaces: str, layout: str, keys: int) -> None:
        """Give an epoch of a producer another layout, like `Stream.take_over`."""
        await self._session.send(state_calls.take_over(self.key, producer_id, epoch, replaces, layout, keys))
