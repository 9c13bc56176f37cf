"""One stream, for asyncio programs. Every method is one call or a loop of calls.

The methods are in `async_stream_appends`, `async_stream_reads`, `async_stream_schedule` and
`async_stream_management`.
"""

from __future__ import annotations

from tailrace_client.async_group import AsyncGroup
from tailrace_client.async_stream_appends import AsyncStreamAppends
from tailrace_client.async_stream_management import AsyncStreamManagement
from tailrace_client.async_stream_reads import AsyncStreamReads
from tailrace_client.async_stream_schedule import AsyncStreamSchedule


class AsyncStream(AsyncStreamAppends, AsyncStreamReads, AsyncStreamSchedule, AsyncStreamManagement):
    """A stream by its key, like `Stream`."""

    def group(self, name: str) -> AsyncGroup:
        """Return the consumer group with this name. This sends no request."""
        return AsyncGroup(self._session, self.key, name)
