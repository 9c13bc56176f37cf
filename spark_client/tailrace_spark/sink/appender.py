"""Append chunks to their streams: each once, and rows that the server refuses as dead letters.

Tasks use it with `commit="chunk"`, and the driver to publish staged chunks. A chunk that is appended again
under the same key of the same batch adds nothing.

Rows that the server refuses are found by halving their chunk, and stored in another stream:

    chunk of 8, row 5 refused:   0-7 refused ─ 0-3 written
                                              └ 4-7 refused ─ 4-5 refused ─ 4 written
                                                             │             └ 5 dead letter
                                                             └ 6-7 written

Each part has a key made from its rows, and the server refuses the same rows each time. So a replay divides
the chunk in the same way and writes nothing twice. A dead letter contains the row as it was sent, and the
reason for the refusal. It is appended with an idempotency key too. `sender` decides which errors concern
rows.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final

import pyarrow as pa

from tailrace_client import TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import SinkError, with_status
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.sender import Body, Replay, Sender, Sent, Shape

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


# --- dead letters -----------------------------------------------------------------------------------------


PART_BYTES: Final = 4 << 20
"""A row that exceeds the size of an entry also exceeds the size of a dead letter. It is stored in parts of
this size."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a chunk. `chunk`: the key of the chunk. `first`: the number of the first of these rows in
    the chunk."""

    stream: str
    chunk: str
    lines: Sequence[bytes]
    shape: Shape
    first: int = 0

    @property
    def key(self) -> str:
        """Return the idempotency key of these rows."""
        return f"{self.chunk}:{self.first}-{self.first + len(self.lines) - 1}"

    def halves(self) -> tuple[Rows, Rows]:
        """Return the same rows in two parts, both with at least one row."""
        middle = len(self.lines) // 2
        first = replace(self, lines=self.lines[:middle])
        return first, replace(self, lines=self.lines[middle:], first=self.first + middle)


class DeadLetters:
    """The dead letters of one partition.

    `count`: how many rows are dead letters. `rows`: the sender for rows that the server accepts after the
    division. `letters`: the sender for dead letters. `stream`: the stream for dead letters; if it is None,
    the first refused row raises `SinkError`. `most`: the greatest number of dead letters.
    """

    def __init__(self, rows: Sender, letters: Sender, stream: str | None, most: int) -> None:
        self.count = 0
        self._rows = rows
        self._letters = letters
        self._stream = stream
        self._most = most

    def divide(self, refused: Rows, error: TailraceError) -> None:
        """Write the refused rows that the server accepts, and make the others dead letters. Raises
        `SinkError`."""
        if len(refused.lines) == 1 or self._stream is None:
            return self.set_aside(refused, error)
        for part in refused.halves():
            self._write(part)
        return None

    def set_aside(self, refused: Rows, error: TailraceError) -> None:
        """Make each row a dead letter. Raises `SinkError` if there is no stream for them, or if there are too
        many."""
        if self._stream is None:
            raise SinkError(
                f"{with_status(error)}: stream {refused.stream!r}, chunk {refused.chunk}: the server "
                "refuses a row, "
                "and there is no `dead_letter_stream`; set it to store refused rows there"
            )
        for number, line in enumerate(refused.lines, start=refused.first):
            self.count += 1
            check_count(self.count, self._most, error)
            self._send(self._stream, refused, line, f"{refused.chunk}:{number}", error)

    def _write(self, part: Rows) -> None:
        try:
            self._rows.send(part.stream, b"".join(part.lines), part.key, part.shape)
        except TailraceError as error:
            self.divide(part, error)

    def _send(self, to: str, refused: Rows, line: bytes, row: str, error: TailraceError) -> None:
        place = {"stream": refused.stream, "row": row, "shape": refused.shape}
        for number, fields in enumerate(_letters(line, error, place)):
            body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
            try:
                self._letters.send(to, body, f"{row}:{number}", "fields")
            except TailraceError as refusal:
                raise SinkError(f"the server refused the dead letter of row {row}: {refusal}") from refusal


def check_count(count: int, most: int, why: object = "") -> None:
    """Raise `SinkError` if more rows were refused than `most`."""
    if count > most:
        last = f". The last refusal: {why}" if why else ""
        raise SinkError(f"{count} rows of this batch were refused; `dead_letters_max` allows {most}{last}")


def _letters(line: bytes, error: TailraceError, place: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield the entries that store one refused row: one entry, or several if the row is too large."""
    line = line.rstrip(b"\n")
    reason = {"code": error.code, "status": str(error.status), "detail": error.detail}
    parts = [line[start : start + PART_BYTES] for start in range(0, len(line), PART_BYTES)]
    for number, part in enumerate(parts, start=1):
        yield {**place, **reason, "part": str(number), "parts": str(len(parts)), **_content(part, len(parts))}


def _content(part: bytes, parts: int) -> dict[str, str]:
    """Return the part as text if it is UTF-8 and complete; otherwise in base64, because a part can end inside
    a character."""
    try:
        if parts == 1:
            return {"line": part.decode()}
    except UnicodeDecodeError:
        pass
    return {"line_base64": b64encode(part).decode()}
