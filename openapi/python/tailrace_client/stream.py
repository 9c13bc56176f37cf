"""One stream, for blocking programs. Every method is one call or a loop of calls.

`stream_calls` contains the requests, and `session` sends them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

import httpx

from tailrace_client import stream_calls
from tailrace_client.chunks import BodyThen, chunks_of, producer_of
from tailrace_client.entries import Entry
from tailrace_client.errors import TailraceError
from tailrace_client.fields import BadFieldError, FieldsToAppend
from tailrace_client.generated.models import DeleteReply, SeekPosition, SplitPlan, StreamState
from tailrace_client.group import Group
from tailrace_client.ids import lesser_end
from tailrace_client.json_lines import entries_of_lines
from tailrace_client.lines import Export, LineShape
from tailrace_client.session import Session
from tailrace_client.stream_calls import ImportResult, References, Trim
from tailrace_client.tail import SILENCE_MAX_S, Gap, Tail, log_gap


class Stream:
    """A stream by its key. Creating this object sends no request; the first append creates the stream on the
    server."""

    def __init__(self, session: Session, key: str) -> None:
        self._session = session
        self.key = key

    # --- appending -----------------------------------------------------------------------------

    def append(
        self,
        fields: FieldsToAppend,
        *,
        id: str | None = None,  # noqa: A002 - entry ids have this name everywhere
        trim: Trim | None = None,
        create: bool = True,
        if_last_id: str | None = None,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
    ) -> str:
        """Append one entry and return its id. `if_last_id`: append only if this is the last id of the stream.

        With an `idempotency_key`, the request is retried after a lost response and appends nothing twice. The
        key belongs to the producer (`producer_id`), so set both if the same key is used after a restart.
        Without a key, a lost response is an error with `side_effects` "unknown".
        """
        return self._session.send(
            stream_calls.append(
                self.key,
                fields,
                id=id,
                trim=trim,
                create=create,
                if_last_id=if_last_id,
                producer=producer_of(self._session.settings.producer_id, producer_id, idempotency_key),
            )
        )

    def append_many(self, entries: Iterable[FieldsToAppend], chunk: int = 1_000) -> int:
        """Append all entries in order and return how many there are. Each request appends `chunk` entries,
        all or none.

        Every chunk has an idempotency key of its own, so a retry appends nothing twice. If a chunk fails, a
        note of the error says how many entries of earlier chunks were appended.
        """
        count = 0
        try:
            chunks = chunks_of(entries, chunk)
            for lines, producer in chunks:
                call = stream_calls.import_lines(
                    self.key,
                    BodyThen(lines.body, chunks.prepare),
                    shape=lines.shape,
                    content_encoding=None,
                    producer=producer,
                )
                count += self._session.send(call).count
        except (TailraceError, BadFieldError) as error:
            error.add_note(f"append_many appended {count} entries before this error")
            raise
        return count

    def import_lines(
        self,
        body: bytes,
        *,
        shape: Literal["fields", "entry"] = "fields",
        producer_id: str | None = None,
        producer_epoch: int | None = None,
        producer_layout: str | None = None,
        idempotency_key: str | None = None,
        content_encoding: Literal["gzip", "zstd"] | None = None,
    ) -> ImportResult:
        """Append NDJSON in one request, all lines or none. Each line is an object of fields, or a complete
        entry (`shape`).

        With an `idempotency_key` the request is retried. Without one it is retried only if nothing can have
        been appended.
        """
        producer = producer_of(
            self._session.settings.producer_id, producer_id, idempotency_key, producer_epoch, producer_layout
        )
        return self._session.send(
            stream_calls.import_lines(
                self.key, body, shape=shape, content_encoding=content_encoding, producer=producer
            )
        )

    # --- reading -------------------------------------------------------------------------------

    def read(self, start: str = "-", end: str = "+", count: int | None = None) -> Iterator[Entry]:
        """Return the entries between two ids, both included, each as `(id, fields)`; at most `count`.

        A bound is an id, a time in milliseconds, `-`, `+`, or `(id` to exclude that id. The entries are read
        as one export, which resumes after a broken connection. A missing stream is read as an empty one.
        """
        return chain.from_iterable(self._read_blocks(start, end, count))

    def _read_blocks(self, start: str, end: str, count: int | None) -> Iterator[Iterable[Entry]]:
        """Yield the entries one block of lines at a time, so that no Python code runs for each entry."""
        if count is not None:
            last = self.seek(count, start).end
            end = lesser_end(last, end) if last is not None else start
        yield from map(entries_of_lines, self.export_lines(start, end))

    def export_lines(
        self,
        start: str = "-",
        end: str = "+",
        *,
        shape: LineShape = "entry",
        fields: Sequence[str] | None = None,
    ) -> Iterator[bytes]:
        """Yield the entries of a range as NDJSON, in blocks of complete lines.

        `fields`: only the fields with these names, in this order; None for all fields.

        This is one request. If the connection breaks, the export resumes after the last line of the last
        block. With `shape="fields"`, lines have no id, and a broken connection after the first block is an
        error.
        """
        export = Export(self.key, start, end, shape, fields)
        policy = self._session.settings.retry
        attempts = policy.attempts(is_idempotent=True)
        while True:
            try:
                with self._session.stream(export.request, self._session.settings.timeout(0)) as chunks:
                    for chunk in chunks:
                        if block := export.take(chunk):
                            yield block
                            attempts = policy.attempts(is_idempotent=True)
                if block := export.end():
                    yield block
            except TailraceError as error:
                if not export.can_resume:
                    raise
                delay_s = attempts.delay_after(error)
            else:
                return
            time.sleep(delay_s)

    def tail(self, after: str = "$", *, on_gap: Callable[[Gap], None] = log_gap) -> Iterator[Entry]:
        """Yield entries after `after` as they arrive, each as `(id, fields)`, without end. `$`: only new
        entries.

        After a broken connection the tail resumes at the same position. `on_gap` is called with the range of
        entries that were trimmed before the tail could read them.
        """
        tail = Tail(self.key, after, on_gap)
        policy = self._session.settings.retry
        attempts = policy.attempts(is_idempotent=True)
        while True:
            try:
                with self._session.stream(tail.request, httpx.Timeout(SILENCE_MAX_S)) as chunks:
                    for chunk in chunks:
                        attempts = policy.attempts(is_idempotent=True)
                        yield from tail.take(chunk)
                raise tail.over()
            except TailraceError as error:
                delay_s = attempts.delay_after(error)
            time.sleep(delay_s)

    # --- the rest ------------------------------------------------------------------------------

    def length(self) -> int:
        """Return the number of entries; 0 for a missing stream."""
        return self._session.send(stream_calls.length(self.key))

    def group(self, name: str) -> Group:
        """Return the consumer group with this name. This sends no request."""
        return Group(self._session, self.key, name)

    def info(self) -> StreamState:
        """Return the state of the stream."""
        return self._session.send(stream_calls.info(self.key))

    def create(self) -> None:
        """Create an empty stream, unless the stream exists."""
        self._session.send(stream_calls.create(self.key))

    def drop(self) -> None:
        """Delete the stream with its groups."""
        self._session.send(stream_calls.drop(self.key))

    def trim(
        self,
        max_length: int | None = None,
        *,
        min_id: str | None = None,
        approximate: bool | None = None,
        limit: int | None = None,
        references: References | None = None,
    ) -> int:
        """Remove the oldest entries, by the rule of `Trim`, and return how many were removed."""
        rule = Trim(max_length, min_id, approximate, limit, references)
        return self._session.send(stream_calls.trim(self.key, rule))

    def delete(self, *ids: str, references: References | None = None) -> DeleteReply:
        """Delete entries and return the result for each."""
        return self._session.send(stream_calls.delete(self.key, ids, references))

    def split(self, parts: int, start: str = "-", end: str = "+") -> SplitPlan:
        """Return boundaries that split a range into parts of about equal counts. The server reads no entries
        for this.

        A missing stream is split like an empty one.
        """
        return self._session.send(stream_calls.split(self.key, parts, start, end))

    def seek(self, count: int, start: str = "-") -> SeekPosition:
        """Return the id that ends a page of `count` entries. The server reads no entries for this.

        A missing stream is treated like an empty one.
        """
        return self._session.send(stream_calls.seek(self.key, count, start))
