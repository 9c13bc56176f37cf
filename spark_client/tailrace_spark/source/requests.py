"""The requests that the data source sends: which streams there are, and for each stream its ends, its parts,
its counts and its entries.

Every request is retried until its deadline and then raises a `SourceError`, whose text says what is wrong and
what to do. A look requests the state of each named stream. For a pattern it lists the streams that begin with
the literal text of the pattern, and requests the state of those that changed.

This module owns the requests and the conversion of their errors. It keeps no position, decides nothing about
batches, and does not use Spark.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias, TypeVar

from tailrace_client import RetryPolicy, Stream, Tailrace, TailraceError, service_calls
from tailrace_client.call import Call, nothing
from tailrace_client.generated.api.entries import xrange
from tailrace_client.generated.api.reads import xread
from tailrace_client.generated.models import ReadBody, ReadPosition
from tailrace_client.generated.types import UNSET
from tailrace_client.replies import StreamItem, StreamPage, StreamState
from tailrace_spark.entry_ids import LAST_POSSIBLE_ID, just_below, later
from tailrace_spark.errors import DataLoss, SourceError, with_status
from tailrace_spark.source.checkpoint import Positions
from tailrace_spark.source.options import MS_PER_S, ReadOptions
from tailrace_spark.source.selection import literal_prefix, matches

T = TypeVar("T")


class Requests:
    """Requests to the server of the options. The first request connects to the server."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.where = repr(options)

    def send(self, question: Callable[[Tailrace], T]) -> T:
        """Return the answer. Raises `SourceError` if the server refuses, or at the deadline."""
        try:
            return question(self.client())
        except TailraceError as error:
            raise source_error(error, self.where) from error

    def client(self) -> Tailrace:
        """Return a client on the machine that uses it: the token is read there, and clients cannot be
        serialised."""
        deadline_s = self.options.retry_deadline_s
        return self.options.endpoint.client(
            retry=RetryPolicy(deadline_s=deadline_s, first_connection_s=deadline_s)
        )


# --- errors ----------------------------------------------------------------------------------------------


def data_loss(what: str, where: str) -> DataLoss:
    """Return the error for entries that are gone; `what` says which."""
    return DataLoss(
        f"{where}: {what}. To continue with the entries that are left, set failOnDataLoss to false. To start "
        "again, use a new checkpoint and choose startingOffsets"
    )


def no_such_stream(where: str) -> SourceError:
    """Return the error for a stream that does not exist."""
    return SourceError(
        f"{where}: there is no such stream. Check the name, or create the stream; it may be empty"
    )


def source_error(error: TailraceError, where: str) -> SourceError:
    """Return the `SourceError` for a failed request. `where` names the stream and the server."""
    if error.code == "NO_SUCH_STREAM":
        return no_such_stream(where)
    if error.code == "POSITION_TRIMMED":
        first_id, last_id = (error.problem.get(name) for name in ("first_id", "last_id"))
        now = f"begins at {first_id}" if first_id else f"ends at {last_id}"
        return data_loss(f"entries were trimmed before they were read; the stream {now} now", where)
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SourceError(
            f"{where}: {with_status(error)}: check that the token is valid and may read this stream"
        )
    return SourceError(f"{where}: {with_status(error)}")


# --- one stream -------------------------------------------------------------------------------------------


SAMPLED_ENTRIES: Final = 200
SAMPLED_BYTES: Final = 1 << 20
"""The average size of entries is taken from so many entries, or fewer if these are larger together."""


RECREATED: Final = (
    "the stream was deleted and created again (or restored from a backup) before all its entries were read"
)


@dataclass(frozen=True, slots=True)
class Look:
    """A stream as it was seen. `start`: the id just below its first entry; for an empty stream its last id,
    because new ids are always greater. `incarnation`: None if it is unknown (`StreamHead`). `length`: how
    many entries it has; None if that was not asked for."""

    start: str
    last_id: str
    incarnation: str | None
    length: int | None = None


class SourceStream(Requests):
    """The stream that the options name; they name one."""

    def state(self) -> StreamState:
        """Return the first and last id of the stream and its counters."""
        return self._asked(lambda stream: stream.info())

    def look(self) -> Look | None:
        """Return the stream as it is now; None if there is no such stream.

        This request returns no entries, unlike `state`. Its errors have no text, so `state` then asks for it.
        """
        try:
            head = self._stream().head()
        except TailraceError as error:
            if error.status and not error.retryable:
                self.state()
            raise source_error(error, self.where) from error
        if head is None:
            return None
        start = head.last_id if head.first_id is None else just_below(head.first_id)
        return Look(start, head.last_id, head.incarnation, head.length)

    def start_of(self) -> str:
        """Return the id just below the first entry, as `Look.start`."""
        state = self.state()
        return state.last_id if state.first_id is None else just_below(state.first_id)

    def is_still(self, incarnation: str | None) -> bool:
        """Return whether the stream exists and is still this incarnation of it; any incarnation if None. If
        not, `DataLoss` is raised where the options make that an error."""
        seen = self.look()
        if seen is None:
            self.lose("the stream was deleted")
            return False
        if incarnation not in (None, seen.incarnation):
            self.lose(RECREATED)
            return False
        return True

    def lose(self, what: str) -> None:
        """Raise `DataLoss` if the options make a loss an error; `what` says what is lost."""
        if self.options.fail_on_data_loss:
            raise data_loss(what, self.where)

    def check_whole(self, after: str, incarnation: str | None) -> None:
        """Raise `DataLoss` if the stream is not this incarnation any more, or if entries after `after` were
        trimmed, and the options make that an error. `incarnation`: None if it is unknown."""
        if self.options.fail_on_data_loss and self.is_still(incarnation):
            request = xrange._get_kwargs(  # noqa: SLF001 - the generated operations name them so
                self.options.stream, start=UNSET, end=UNSET, order=UNSET, after=after, count=1, strict=True
            )
            self.send(lambda client: client.session.send(Call(request, nothing, is_idempotent=True)))

    def page_end(self, after: str, count: int) -> str | None:
        """Return the id that ends a page of `count` entries after `after`; None if there are no entries."""
        return self._asked(lambda stream: stream.seek(count, f"({after}")).end

    def count(self, after: str, end: str = LAST_POSSIBLE_ID) -> int:
        """Return how many entries the range (after, end] has."""
        return self._asked(lambda stream: stream.split(1, f"({after}", end)).count

    def part_ends(self, after: str, end: str, parts: int) -> list[str]:
        """Return the last ids of parts of about equal counts that cover the range (after, end]; none if the
        range is empty."""
        plan = self._asked(lambda stream: stream.split(parts, f"({after}", end))
        return [part.end for part in plan.parts] if plan.count else []

    def entry_bytes(self, after: str) -> float:
        """Return the average size of the first entries after `after`, as the server sends them; there is at
        least one."""
        position = ReadPosition(key=self.options.stream, after=after)
        body = ReadBody(streams=[position], count=SAMPLED_ENTRIES, max_bytes=SAMPLED_BYTES)
        request = xread._get_kwargs(body=body)  # noqa: SLF001 - the generated operations name them so
        call = Call(request, lambda answer: answer, is_idempotent=True)
        answer = self.send(lambda client: client.session.send(call))
        return len(answer.content) / max(len(answer.json()["streams"][0]["entries"]), 1)

    def lines(self, start: str, end: str) -> Iterator[bytes]:
        """Yield the entries from `start` to `end`, both included, as NDJSON in blocks of complete lines."""
        try:
            yield from self._stream().export_lines(start, end)
        except TailraceError as error:
            raise source_error(error, self.where) from error

    def check_not_recreated(self, last_id: str, offset_id: str) -> None:
        """Raise `DataLoss` if the stream ends before the offset, which means that it was deleted and created
        again, or set back."""
        if later(last_id, offset_id) != last_id:
            self.lose(
                f"the stream ends at {last_id}, below the query's offset {offset_id}: it was deleted "
                "and created again, or XSETID set it back"
            )

    def move_group(self, name: str, after: str) -> None:
        """Set the position of the group and its count of read entries, so that its lag is exact. Creates the
        group if it does not exist."""
        added, behind = self.state().entries_added, self.count(after)
        self._asked(lambda stream: stream.group(name).create(after, exist_ok=True))
        self._asked(
            lambda stream: stream.group(name).set_position(after, entries_read=max(added - behind, 0))
        )

    def _asked(self, question: Callable[[Stream], T]) -> T:
        return self.send(lambda client: question(client.stream(self.options.stream)))

    def _stream(self) -> Stream:
        return self.client().stream(self.options.stream)


# --- the selected streams ---------------------------------------------------------------------------------


STREAMS_PER_READ: Final = 1_000
"""The server waits for entries of at most this many streams. Entries of others are noticed at the next
look."""
STREAMS_PER_PAGE: Final = 10_000

Looks: TypeAlias = Mapping[str, Look | None]
"""Each stream that was looked for; None: it does not exist."""


class Place(NamedTuple):
    """A position in a stream, after which entries are read. `incarnation`: None if it is unknown."""

    stream: str
    after: str
    incarnation: str | None


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

    def check_whole(self, places: Sequence[Place]) -> None:
        """Check as `SourceStream.check_whole` does, with one request for all streams.

        A gateway does not name incarnations in the response, and an error does not name the stream. Then each
        stream is checked by itself.
        """
        if not self.options.fail_on_data_loss:
            return
        for start in range(0, len(places), STREAMS_PER_READ):
            some = places[start : start + STREAMS_PER_READ]
            for place, seen in zip(some, self._incarnations(some), strict=True):
                if seen is None or seen != place.incarnation:
                    self.stream(place.stream).check_whole(place.after, place.incarnation)

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

    def _incarnations(self, places: Sequence[Place]) -> Sequence[str | None]:
        """Return the incarnation of each stream if no entries after its place were trimmed; None for streams
        that need a check of their own."""
        positions = [
            ReadPosition(key=place.stream, after=place.after, incarnation=place.incarnation or UNSET)
            for place in places
        ]
        body = ReadBody(streams=positions, count=1, max_bytes=1, strict=True)
        request = xread._get_kwargs(body=body)  # noqa: SLF001 - the generated operations name them so
        call = Call(request, lambda answer: answer.json()["streams"], is_idempotent=True)
        try:
            streams = self.send(lambda client: client.session.send(call))
        except DataLoss:
            return [None] * len(places)
        return [stream.get("incarnation") for stream in streams]

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
