"""Send one body until the server has it: attempts, waits, and the change to the next URL.

This module owns the loop of attempts, its counts, and the errors of requests that fail for good. The client's
retry policy decides whether and when to try again. Each request carries an idempotency key, so a second
attempt adds nothing that the first one added.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal, TypeVar

import pyarrow as pa

from tailrace_client import RetryPolicy, Tailrace, TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import SinkError, with_status
from tailrace_spark.sink.options import SinkOptions

Shape = Literal["fields", "entry"]
Encoding = Literal["gzip", "zstd"]
T = TypeVar("T")

REFUSES_ROWS: Final = frozenset({HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY})
REFUSES_ROWS_TOO: Final = frozenset({"INVALID_NAME", "MALFORMED_BODY"})
"""Error codes with status 400 that concern rows: the stream name of a row is invalid, or the text of a row is
not UTF-8."""
REFUSES_THE_KEY: Final = "IDEMPOTENCY_MISMATCH"
"""An error code with status 422 that does not concern the rows."""

QUERY_ID: Final = "sql.streaming.queryId"
"""The local property in which Spark keeps the id of the streaming query."""

log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one request, as it is sent."""

    content: bytes
    shape: Shape
    encoding: Encoding | None


@dataclass(frozen=True, slots=True)
class Replay:
    """The identity by which the server recognises the chunks of a batch: the producer, the number of the
    batch and a text, the layout, that says where the chunks come from."""

    producer_id: str
    batch_id: int
    layout: str


@dataclass(slots=True)
class Sent:
    """The counts of a sender.

    `requests`: requests that succeeded. `replayed`: how many of these the server had carried out before.
    `retries`: attempts after the first attempt of each request. `bytes`: the size of the bodies as sent,
    without repetitions.
    """

    requests: int = 0
    replayed: int = 0
    retries: int = 0
    bytes: int = 0


class Sender:
    """Sends the chunks of one partition. `sent`: the counts to update. `turn`: the number of the first URL;
    if a connection fails, the sender continues with the next URL."""

    def __init__(
        self, endpoint: Endpoint, replay: Replay, options: SinkOptions, sent: Sent, turn: int
    ) -> None:
        self._endpoint = endpoint
        self._replay = replay
        self._policy = RetryPolicy(deadline_s=options.retry_deadline_s)
        self._encoding = None if options.compression == "none" else options.compression
        self._sent = sent
        self._turn = turn

    def send(self, stream: str, body: bytes, key: str, shape: Shape) -> None:
        """Append the lines of `body` once.

        Raises `TailraceError` if the server refuses the rows themselves, and `SinkError` for every other
        failure that lasts until the deadline.
        """
        self.send_packed(stream, self.packed(body, shape), key)

    def packed(self, body: bytes, shape: Shape) -> Body:
        """Return the body as `send` sends it."""
        if self._encoding is None:
            return Body(body, shape, None)
        return Body(pa.Codec(self._encoding).compress(body, asbytes=True), shape, self._encoding)

    def send_packed(self, stream: str, body: Body, key: str) -> None:
        """Append the lines of a packed body, as `send` does."""
        result = self.repeat(
            stream,
            f"chunk {key}",
            lambda client: client.stream(stream).import_lines(
                body.content,
                shape=body.shape,
                producer_id=self._replay.producer_id,
                producer_epoch=self._replay.batch_id,
                producer_layout=self._replay.layout,
                idempotency_key=key,
                content_encoding=body.encoding,
            ),
        )
        self._sent.requests += 1
        self._sent.replayed += result.replayed
        self._sent.bytes += len(body.content)

    def repeat(self, stream: str, what: str, request: Callable[[Tailrace], T]) -> T:
        """Return the result of a request that may be repeated. Raises as `send` does. `what`: the part of the
        batch that errors name."""
        delay_after = self._policy.attempts(is_idempotent=True).delay_after
        while True:
            try:
                return request(self._endpoint.client(self._turn))
            except TailraceError as error:
                delay_s = self._delay_s(error, delay_after, self._where(stream, what))
            time.sleep(delay_s)

    def _delay_s(
        self, error: TailraceError, delay_after: Callable[[TailraceError], float], where: str
    ) -> float:
        """Return the seconds until the next attempt. Raises as `send` does if there is no next attempt."""
        if refuses_rows(error):
            raise error
        try:
            delay_s = delay_after(error)
        except TailraceError:
            raise sink_error(error, where, self._replay.layout) from error
        self._sent.retries += 1
        if not error.status:
            self._turn += 1
        log.warning("%s: %s; next attempt in %.2f s", where, error, delay_s)
        return delay_s

    def _where(self, stream: str, what: str) -> str:
        replay = self._replay
        return f"stream {stream!r}, query {replay.producer_id}, batch {replay.batch_id}, {what}"


def refuses_rows(error: TailraceError) -> bool:
    """Return whether the server refuses these rows for good, and may accept other rows."""
    if error.code == REFUSES_THE_KEY:
        return False
    return error.status in REFUSES_ROWS or error.code in REFUSES_ROWS_TOO


# --- errors ------------------------------------------------------------------------------------------------


def sink_error(error: TailraceError, where: str, layout: str) -> SinkError:
    """Return the `SinkError` for a failed request. `where` names the request, `layout` is the layout of the
    batch."""
    if error.code == "LAYOUT_CHANGED":
        return SinkError(
            f"LAYOUT_CHANGED: {where}: this batch was begun as [{error.problem.get('layout')}], and this "
            f"attempt writes it as [{layout}]. This request wrote no rows. Use the settings with which the "
            "batch was begun. If they are the same, the stream that keeps the commits of this query was "
            "deleted, or two writes share one `producer_id`."
        )
    if error.code == "IDEMPOTENCY_MISMATCH":
        return SinkError(
            f"IDEMPOTENCY_MISMATCH: {where}: a chunk of this batch was already written with other rows. This "
            "request wrote no rows, but rows of other chunks may be written twice: with commit='chunk', the "
            "query must return the same rows in the same partitions and in the same order each time. Find "
            "these rows, and use commit='batch'."
        )
    if error.code == "STALE_EPOCH":
        return SinkError(
            f"STALE_EPOCH: {where}: a later batch of this query was already started. This request wrote no "
            "rows. Check whether a second run of the query, or a run from an older checkpoint, writes to "
            "this stream."
        )
    if error.code == "ID_NOT_GREATER":
        return SinkError(
            f"keep_ids: {where}: the stream already ends at {error.problem.get('last_id')}, and the row has "
            f"the id {error.problem.get('given')}. This request wrote no rows. To keep ids, write each "
            "stream from one query only, from its lowest id on, or leave keep_ids out to get new ids."
        )
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SinkError(
            f"{with_status(error)}: {where}: check that the token is valid, and may append to this stream "
            "and read it; docs/spark.md says which streams a sink uses"
        )
    return SinkError(f"{with_status(error)}: {where}")
