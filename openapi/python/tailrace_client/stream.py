"""One stream, for programs that block. Every method is one call or a loop of calls; what they say stands in
`stream_calls`, how they are sent in `session`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
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
    """A stream by its key. Making one asks nothing of the server; the first append creates the stream
    there."""

    def __init__(self, session: Session, key: str) -> None:
        self._session = session
        self.key = key

    # --- appending -----------------------------------------------------------------------------

    def append(
        self,
        fields: FieldsToAppend,
        *,
        id: str | None = None,  # noqa: A002 - the name that an entry's id has everywhere
        trim: Trim | None = None,
        create: bool = True,
        if_last_id: str | None = None,
        idempotency_key: str | None = None,
        producer_id: str | None = None,
    ) -> str:
        """The id of a new entry. `if_last_id`: append only if that is the stream's last id.

        Under an `idempotency_key` a lost answer is retried and doubles nothing; the key is the producer's
        (`producer_id`), so that one that is used again after a restart needs both. Without a key a lost
        answer is an error whose `side_effects` is "unknown".
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
        """How many entries were appended: all, in order, `chunk` of them a request, each request all or
        nothing.

        Every chunk has an idempotency key of its own, so that what is retried doubles nothing. Where it
        fails, a note of the error says how many entries of earlier chunks were appended.
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
            error.add_note(f"{count} entries of this append_many were appended before")
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
        """Append NDJSON as it is, in one request, all or nothing: an object of fields a line, or a whole
        entry.

        With an `idempotency_key` it is retried; without one only where nothing can have been appended.
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
        """The entries between two ids, both included, each as `(id, fields)`; no more than `count`.

        A bound is an id, a time in milliseconds, `-`, `+`, or `(id` to leave that id out. Read as one export
        that goes on after a cut where it was. A missing stream is an empty one.
        """
        return chain.from_iterable(self._read_blocks(start, end, count))

    def _read_blocks(self, start: str, end: str, count: int | None) -> Iterator[Iterable[Entry]]:
        """The entries a block of lines at a time, so that handing one out runs no Python code."""
        if count is not None:
            last = self.seek(count, start).end
            end = lesser_end(last, end) if last is not None else start
        yield from map(entries_of_lines, self.export_lines(start, end))

    def export_lines(
        self, start: str = "-", end: str = "+", *, shape: LineShape = "entry"
    ) -> Iterator[bytes]:
        """The entries of a range as NDJSON, in blocks of whole lines.

        One request, unless the connection is cut: then it goes on behind the last line of the last block.
        With `shape="fields"` lines have no id, and a cut after the first block is an error.
        """
        export = Export(self.key, start, end, shape)
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
        """Entries after `after` as they come, each as `(id, fields)`, without end; `$`: only what comes from
        now on.

        After a cut it resumes where it was. `on_gap` is told of entries that were trimmed away before the
        tail came by.
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
        """How many entries it holds; 0 for a missing stream."""
        return self._session.send(stream_calls.length(self.key))

    def group(self, name: str) -> Group:
        """The consumer group of that name; nothing is asked for it."""
        return Group(self._session, self.key, name)

    def info(self) -> StreamState:
        """The stream as a whole."""
        return self._session.send(stream_calls.info(self.key))

    def create(self) -> None:
        """Make an empty stream, if there is none."""
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
        """Remove the oldest entries, as `Trim` says; how many went."""
        rule = Trim(max_length, min_id, approximate, limit, references)
        return self._session.send(stream_calls.trim(self.key, rule))

    def delete(self, *ids: str, references: References | None = None) -> DeleteReply:
        """Delete entries; what became of each."""
        return self._session.send(stream_calls.delete(self.key, ids, references))

    def split(self, parts: int, start: str = "-", end: str = "+") -> SplitPlan:
        """Boundaries that cut a range into parts of about equal counts; no entry is read for it.

        A missing stream is an empty one.
        """
        return self._session.send(stream_calls.split(self.key, parts, start, end))

    def seek(self, count: int, start: str = "-") -> SeekPosition:
        """The id that ends a page of `count` entries; no entry is read for it.

        A missing stream is an empty one.
        """
        return self._session.send(stream_calls.seek(self.key, count, start))
