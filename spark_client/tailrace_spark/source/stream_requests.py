"""The requests that the data source sends about one stream: its ends, its parts, its counts and its entries.

Every request is retried until its deadline and then raises a `SourceError`. This module owns the requests and
the conversion of their errors. It keeps no position and knows nothing of Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from tailrace_client import RetryPolicy, Stream, Tailrace, TailraceError
from tailrace_client.call import Call, nothing
from tailrace_client.generated.api.entries import xrange
from tailrace_client.generated.models import SplitPart, StreamState
from tailrace_client.generated.types import UNSET
from tailrace_spark.source.offsets import LAST_POSSIBLE_ID, just_below, later
from tailrace_spark.source.options import PARTITIONS_MAX, ReadOptions
from tailrace_spark.source.request_errors import data_loss, source_error

T = TypeVar("T")

ENTRIES_A_PARTITION: Final = 250_000
"""The target size of a partition, about 30 MB. Spark alone needs some tenths of a second to start and end a
task: with partitions of a fifth of this size, writing Parquet took twice as long."""


class SourceStream:
    """The stream that the options name. The first request connects to the server."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._where = repr(options)

    def state(self) -> StreamState:
        """Return the first and last id of the stream and its counters."""
        return self._asked(lambda stream: stream.info())

    def start_of(self) -> str:
        """Return the id just below the first entry. For an empty stream this is its last id, because new ids
        are always greater."""
        state = self.state()
        return state.last_id if state.first_id is None else just_below(state.first_id)

    def check_untrimmed(self, after: str) -> None:
        """Raise `DataLoss` if entries after `after` were trimmed."""
        self._read_one(after, wait_ms=0, strict=True)

    def wait_for_more(self, after: str, wait_ms: int) -> None:
        """Wait until there is an entry after `after`, at most `wait_ms`. Raises `DataLoss` if entries were
        trimmed and the options make that an error."""
        self._read_one(after, wait_ms, strict=self._options.fail_on_data_loss)

    def page_end(self, after: str, count: int) -> str | None:
        """Return the id that ends a page of `count` entries after `after`; None if there are no entries."""
        return self._asked(lambda stream: stream.seek(count, f"({after}")).end

    def count(self, after: str, end: str = LAST_POSSIBLE_ID) -> int:
        """Return how many entries the range (after, end] has."""
        return self._asked(lambda stream: stream.split(1, f"({after}", end)).count

    def parts(self, after: str, end: str) -> list[SplitPart]:
        """Return the range (after, end] in parts of about equal counts; no parts if the range is empty."""
        least = self._options.min_partitions
        plan = self._asked(lambda stream: stream.split(least, f"({after}", end))
        wanted = min(-(-plan.count // ENTRIES_A_PARTITION), PARTITIONS_MAX)
        if wanted > least:
            plan = self._asked(lambda stream: stream.split(wanted, f"({after}", end))
        return plan.parts if plan.count else []

    def lines(self, start: str, end: str) -> Iterator[bytes]:
        """Yield the entries from `start` to `end`, both included, as NDJSON in blocks of complete lines."""
        is_empty = True
        try:
            for block in self._stream().export_lines(start, end):
                is_empty = False
                yield block
        except TailraceError as error:
            raise source_error(error, self._where) from error
        if is_empty:
            self.state()  # The export of a deleted stream is empty; this raises for it.

    def check_not_recreated(self, last_id: str, offset_id: str) -> None:
        """Raise `DataLoss` if the stream ends before the offset, which means that it was deleted and created
        again."""
        if later(last_id, offset_id) != last_id and self._options.fail_on_data_loss:
            raise data_loss(
                f"the stream ends at {last_id}, below the query's offset {offset_id}: it was deleted "
                "and created again",
                self._where,
            )

    def move_group(self, name: str, after: str) -> None:
        """Set the position of the group and its count of read entries, so that its lag is exact. Creates the
        group if it does not exist."""
        added, behind = self.state().entries_added, self.count(after)
        self._asked(lambda stream: stream.group(name).create(after, exist_ok=True))
        self._asked(
            lambda stream: stream.group(name).set_position(after, entries_read=max(added - behind, 0))
        )

    def _read_one(self, after: str, wait_ms: int, *, strict: bool) -> None:
        request = xrange._get_kwargs(  # noqa: SLF001 - the generated operations name them so
            self._options.stream,
            start=UNSET,
            end=UNSET,
            order=UNSET,
            after=after,
            wait_ms=wait_ms or UNSET,
            count=1,
            strict=strict,
        )
        call = Call(request, nothing, is_idempotent=True, waits_ms=wait_ms)
        self._with_client(lambda client: client.session.send(call))

    def _asked(self, question: Callable[[Stream], T]) -> T:
        return self._with_client(lambda client: question(client.stream(self._options.stream)))

    def _with_client(self, question: Callable[[Tailrace], T]) -> T:
        try:
            return question(self._client())
        except TailraceError as error:
            raise source_error(error, self._where) from error

    def _stream(self) -> Stream:
        return self._client().stream(self._options.stream)

    def _client(self) -> Tailrace:
        """Return a client on the machine that uses it: the token is read there, and clients cannot be
        serialised."""
        return self._options.endpoint.client(retry=RetryPolicy(deadline_s=self._options.retry_deadline_s))
