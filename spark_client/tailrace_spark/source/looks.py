"""Look at the streams that a query selects: which exist, where they end, and wait for more entries.

A look requests the state of each named stream. For a pattern it lists the streams that begin with the literal
text of the pattern, and requests the state of those that changed. This module decides nothing about batches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from tailrace_client import service_calls
from tailrace_client.call import Call, nothing
from tailrace_client.generated.api.reads import xread
from tailrace_client.generated.models import ReadBody, ReadPosition
from tailrace_client.replies import StreamItem, StreamPage
from tailrace_spark.source.checkpoint import Positions
from tailrace_spark.source.options import MS_PER_S
from tailrace_spark.source.requests import Requests
from tailrace_spark.source.selection import literal_prefix, matches
from tailrace_spark.source.stream_requests import Look, SourceStream

STREAMS_PER_READ: Final = 1_000
"""The server waits for entries of at most this many streams. Entries of others are noticed at the next
look."""
STREAMS_PER_PAGE: Final = 10_000

Looks: TypeAlias = Mapping[str, Look | None]
"""Each stream that was looked for; None: it does not exist."""


class Selection(Requests):
    """The streams that the options select."""

    def stream(self, name: str) -> SourceStream:
        """Return one of the streams."""
        return SourceStream(self.options.of(name))

    def look(self, known: Positions) -> Looks:
        """Return the selected streams as they are now. With a pattern, this includes the `known` streams
        that match it."""
        if self.options.pattern is None:
            return {name: self.stream(name).look() for name in self.options.streams}
        listed = {item.key: item for item in self._listed()}
        expected = [name for name in known if matches(self.options.pattern, name)]
        return {
            name: self._look_again(name, listed.get(name), known)
            for name in dict.fromkeys([*listed, *expected])
        }

    def wait(self, after: Mapping[str, str], wait_ms: int) -> None:
        """Wait at the server until a stream has an entry after its id, at most `wait_ms`."""
        if not after:
            time.sleep(wait_ms / MS_PER_S)
            return
        places = [ReadPosition(key=name, after=after_id) for name, after_id in after.items()]
        body = ReadBody(streams=places[:STREAMS_PER_READ], count=1, max_bytes=1, wait_ms=wait_ms)
        request = xread._get_kwargs(body=body)  # noqa: SLF001 - the generated operations name them so
        call = Call(request, nothing, is_idempotent=True, waits_ms=wait_ms)
        self.send(lambda client: client.session.send(call))

    def _look_again(self, name: str, item: StreamItem | None, known: Positions) -> Look | None:
        """Return a stream of the list; its state is asked for only if it changed."""
        if item is None:
            return None
        if name in known and known[name].id == item.last_id:
            return Look(item.last_id, item.last_id, known[name].incarnation)
        return self.stream(name).look()

    def _listed(self) -> Iterator[StreamItem]:
        """Yield all streams that match the pattern. A name that is not UTF-8 matches no pattern."""
        assert self.options.pattern is not None
        prefix = literal_prefix(self.options.pattern)
        after: str | bytes | None = None
        while True:
            page = self._page(prefix, after)
            for item in page.streams:
                if item.encoding is None and matches(self.options.pattern, item.key):
                    yield item
            after = service_calls.next_of(page)
            if after is None:
                return

    def _page(self, prefix: str, after: str | bytes | None) -> StreamPage:
        call = service_calls.stream_page(prefix, after, STREAMS_PER_PAGE)
        return self.send(lambda client: client.session.send(call))
