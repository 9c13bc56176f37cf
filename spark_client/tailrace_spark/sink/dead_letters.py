"""Dead letters: rows that the server refuses are found by halving their chunk, and stored in another stream.

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
from typing import Final

from tailrace_client import TailraceError
from tailrace_spark.errors import SinkError, with_status
from tailrace_spark.sink.sender import Sender, Shape

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
