"""Send one body until the server has it: attempts, waits, and the change to the next URL.

This module owns the loop of attempts and its counts. The client's retry policy decides whether and when to
try again. Each request carries an idempotency key, so a second attempt adds nothing that the first one added.
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
from tailrace_spark.sink.batch_requests import Body
from tailrace_spark.sink.layout import with_run
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.request_errors import sink_error

Shape = Literal["fields", "entry"]
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
class Replay:
    """The identity by which the server recognises a batch: its producer, its number and its layout.

    `run`: the run of the query, for a writer that cannot know the number of partitions; else empty.
    """

    producer_id: str
    batch_id: int
    layout: str
    run: str = ""

    @property
    def pinned(self) -> str:
        """Return the text that the server pins with the first chunk of the batch."""
        return with_run(self.layout, self.run)


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
        self._append(stream, self.packed(body, shape), key, self._replay.pinned)

    def packed(self, body: bytes, shape: Shape) -> Body:
        """Return the body as `send` sends it."""
        if self._encoding is None:
            return Body(body, shape, None)
        return Body(pa.Codec(self._encoding).compress(body, asbytes=True), shape, self._encoding)

    def send_packed(self, stream: str, body: Body, key: str) -> None:
        """Append the lines of a packed body, as `send` does."""
        self._append(stream, body, key, self._replay.pinned)

    def repeat(self, stream: str, key: str, request: Callable[[Tailrace], T]) -> T:
        """Return the result of a request that may be repeated. Raises as `send` does."""
        delay_after = self._policy.attempts(is_idempotent=True).delay_after
        while True:
            try:
                return request(self._endpoint.client(self._turn))
            except TailraceError as error:
                delay_s = self._delay_s(error, delay_after, self._where(stream, key))
            time.sleep(delay_s)

    def _append(self, stream: str, body: Body, key: str, layout: str) -> None:
        result = self.repeat(
            stream,
            key,
            lambda client: client.stream(stream).import_lines(
                body.content,
                shape=body.shape,
                producer_id=self._replay.producer_id,
                producer_epoch=self._replay.batch_id,
                producer_layout=layout,
                idempotency_key=key,
                content_encoding=body.encoding,
            ),
        )
        self._sent.requests += 1
        self._sent.replayed += result.replayed
        self._sent.bytes += len(body.content)

    def _delay_s(
        self, error: TailraceError, delay_after: Callable[[TailraceError], float], where: str
    ) -> float:
        """Return the seconds until the next attempt. Raises as `send` does if there is no next attempt."""
        if refuses_rows(error):
            raise error
        try:
            delay_s = delay_after(error)
        except TailraceError:
            raise self._failure(error, where) from error
        self._sent.retries += 1
        if not error.status:
            self._turn += 1
        log.warning("%s: %s; next attempt in %.2f s", where, error, delay_s)
        return delay_s

    def _failure(self, error: TailraceError, where: str) -> Exception:
        """Return the exception for a request that failed for good."""
        return sink_error(error, where, self._replay.layout)

    def _where(self, stream: str, key: str) -> str:
        replay = self._replay
        return f"stream {stream!r}, query {replay.producer_id}, batch {replay.batch_id}, chunk {key}"


def refuses_rows(error: TailraceError) -> bool:
    """Return whether the server refuses these rows for good, and may accept other rows."""
    if error.code == REFUSES_THE_KEY:
        return False
    return error.status in REFUSES_ROWS or error.code in REFUSES_ROWS_TOO
