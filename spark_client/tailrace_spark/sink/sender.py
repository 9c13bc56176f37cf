"""Sending one body until the server has it: attempts, waits, and the change to the next URL.

It owns the loop and its counts. When and whether to try again is the client's retry policy; each request
carries an idempotency key, so a second attempt adds nothing that the first one added.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal

import pyarrow as pa

from tailrace_client import RetryPolicy, TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.request_errors import sink_error

Shape = Literal["fields", "entry"]

REFUSES_ROWS: Final = frozenset({HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY})
REFUSES_ROWS_TOO: Final = frozenset({"INVALID_NAME", "MALFORMED_BODY"})
"""Codes of status 400: a row's stream has no possible name; a row's text is not UTF-8."""
REFUSES_THE_KEY: Final = "IDEMPOTENCY_MISMATCH"
"""A 422 that says nothing of the rows themselves."""

QUERY_ID: Final = "sql.streaming.queryId"
"""The local property in which Spark keeps the id of the streaming query."""

log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replay:
    """How the server knows a batch again: whose it is, its number, how it is cut up."""

    producer_id: str
    batch_id: int
    layout: str


@dataclass(slots=True)
class Sent:
    """`requests` that were carried out, `replayed` of them before; `retries`: attempts beyond the first of
    each. `bytes`: of the bodies as they travelled, once each."""

    requests: int = 0
    replayed: int = 0
    retries: int = 0
    bytes: int = 0


class Sender:
    """`sent`: where it counts. `turn`: which URL comes first; another follows where a connection fails."""

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
        """Append the lines of `body`, once. Raises `TailraceError` where the server refuses the rows
        themselves, and `SinkError` for all else that does not pass before the deadline."""
        packed = self._packed(body)
        delay_after = self._policy.attempts(is_idempotent=True).delay_after
        while True:
            try:
                return self._attempt(stream, packed, key, shape)
            except TailraceError as error:
                delay_s = self._delay_s(error, delay_after, self._where(stream, key))
            time.sleep(delay_s)

    def _attempt(self, stream: str, body: bytes, key: str, shape: Shape) -> None:
        client = self._endpoint.client(self._turn)
        result = client.stream(stream).import_lines(
            body,
            shape=shape,
            producer_id=self._replay.producer_id,
            producer_epoch=self._replay.batch_id,
            producer_layout=self._replay.layout,
            idempotency_key=key,
            content_encoding=self._encoding,
        )
        self._sent.requests += 1
        self._sent.replayed += result.replayed
        self._sent.bytes += len(body)

    def _delay_s(
        self, error: TailraceError, delay_after: Callable[[TailraceError], float], where: str
    ) -> float:
        """Seconds until the next attempt. Where there is to be none, it raises as `send` does."""
        if refuses_rows(error):
            raise error
        try:
            delay_s = delay_after(error)
        except TailraceError:
            raise sink_error(error, where, self._replay.layout) from error
        self._sent.retries += 1
        if not error.status:
            self._turn += 1
        log.warning("%s: %s; again in %.2f s", where, error, delay_s)
        return delay_s

    def _packed(self, body: bytes) -> bytes:
        if self._encoding is None:
            return body
        packed: bytes = pa.Codec(self._encoding).compress(body, asbytes=True)
        return packed

    def _where(self, stream: str, key: str) -> str:
        replay = self._replay
        return f"stream {stream!r}, query {replay.producer_id}, batch {replay.batch_id}, chunk {key}"


def refuses_rows(error: TailraceError) -> bool:
    """Whether the server will take these rows neither now nor later, and may take others."""
    if error.code == REFUSES_THE_KEY:
        return False
    return error.status in REFUSES_ROWS or error.code in REFUSES_ROWS_TOO
