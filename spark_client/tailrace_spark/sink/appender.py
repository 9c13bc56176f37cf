"""Append chunks to their streams: each once, and rows that the server refuses as dead letters.

Tasks use it with `commit="chunk"`, and the driver to publish staged chunks. A chunk that is appended again
under the same key of the same batch adds nothing.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Final

import pyarrow as pa

from tailrace_client import TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.sink.dead_letters import DeadLetters, Rows
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.sender import Body, Replay, Sender, Sent

NO_STREAM: Final = TailraceError(
    "NO_STREAM", "the row names no stream, and the sink has no stream of its own"
)


class Appender:
    """Appends the chunks of one partition. `own_stream`: the stream of the sink; None if each row names its
    stream. `turn`: the number of the first URL."""

    def __init__(
        self,
        endpoint: Endpoint,
        own_stream: str | None,
        options: SinkOptions,
        replay: Replay,
        sent: Sent,
        turn: int,
    ) -> None:
        self.sender = Sender(endpoint, replay, options, sent, turn)
        of_letters = replace(replay, producer_id=_producer_of_letters(replay.producer_id, own_stream))
        letters = Sender(endpoint, of_letters, options, sent, turn)
        self._dead = DeadLetters(self.sender, letters, options.dead_letter_stream, options.dead_letters_max)

    @property
    def dead_letters(self) -> int:
        """Return the number of dead letters so far."""
        return self._dead.count

    def append(self, stream: str, key: str, body: Body) -> None:
        """Append the lines of `body` once. Raises `SinkError`."""
        if not stream:
            self._dead.set_aside(_rows(stream, key, body), NO_STREAM)
            return
        try:
            self.sender.send_packed(stream, body, key)
        except TailraceError as error:
            self._dead.divide(_rows(stream, key, body), error)


def _rows(stream: str, key: str, body: Body) -> Rows:
    content = body.content
    if body.encoding is not None:
        content = pa.CompressedInputStream(pa.BufferReader(content), body.encoding).read()
    return Rows(stream, key, content.splitlines(keepends=True), body.shape)


def _producer_of_letters(producer_id: str, own_stream: str | None) -> str:
    """Return the producer of dead letters. Two sinks of one query can share a stream for dead letters, so
    each sink is a producer of its own there."""
    sink = blake2b((own_stream or "").encode(), digest_size=6).hexdigest()
    return f"{producer_id}:dead:{sink}"
