"""One stream, for blocking programs. Every method is one call or a loop of calls.

The methods are in `stream_appends`, `stream_reads`, `stream_schedule` and `stream_management`.
"""

from __future__ import annotations

from tailrace_client.group import Group
from tailrace_client.stream_appends import StreamAppends
from tailrace_client.stream_management import StreamManagement
from tailrace_client.stream_reads import StreamReads
from tailrace_client.stream_schedule import StreamSchedule


class Stream(StreamAppends, StreamReads, StreamSchedule, StreamManagement):
    """A stream by its key. Creating this object sends no request; the first append creates the stream on the
    server."""

    def group(self, name: str) -> Group:
        """Return the consumer group with this name. This sends no request."""
        return Group(self._session, self.key, name)
