"""Rows that the server refuses: found by halving their chunk, and set aside in a stream of their own.

    chunk of 8, row 5 refused:   0-7 refused ─ 0-3 written
                                              └ 4-7 refused ─ 4-5 refused ─ 4 written
                                                             │             └ 5 dead letter
                                                             └ 6-7 written

Each part has the key of its rows, and the server refuses the same rows each time, so a replay takes the same
way and writes nothing twice. A dead letter holds the row as it was to be imported, and why it was not; it is
appended under a key too. Which refusals concern rows is `sender`'s to say.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tailrace_client import TailraceError
from tailrace_spark.errors import SinkError
from tailrace_spark.sink.sender import Sender, Shape

PART_BYTES: Final = 4 << 20
"""A row that is too large for an entry is too large for a dead letter: it goes in parts of this size."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a chunk. `chunk`: its key. `first`: which row of the chunk the first one is."""

    stream: str
    chunk: str
    lines: Sequence[bytes]
    shape: Shape
    first: int = 0

    @property
    def key(self) -> str:
        """The idempotency key of a part of a chunk."""
        return f"{self.chunk}:{self.first}-{self.first + len(self.lines) - 1}"

    def halves(self) -> tuple[Rows, Rows]:
        """The same rows in two parts, neither of them empty."""
        middle = len(self.lines) // 2
        first = replace(self, lines=self.lines[:middle])
        return first, replace(self, lines=self.lines[middle:], first=self.first + middle)


class DeadLetters:
    """Of one partition. `count`: of rows that were set aside.

    `stream` None: there is no place for them, and the first refused row is an error. `most`: how many there
    may be. `letters`: sends dead letters, `rows` the rows that are written after all.
    """

    def __init__(self, rows: Sender, letters: Sender, stream: str | None, most: int) -> None:
        self.count = 0
        self._rows = rows
        self._letters = letters
        self._stream = stream
        self._most = most

    def divide(self, refused: Rows, error: TailraceError) -> None:
        """Write those of the refused rows that can be; set the others aside. Raises `SinkError`."""
        if len(refused.lines) == 1 or self._stream is None:
            return self.set_aside(refused, error)
        for part in refused.halves():
            self._write(part)
        return None

    def set_aside(self, refused: Rows, error: TailraceError) -> None:
        """Make each row a dead letter. Raises `SinkError` where there is no place, or there are too many."""
        if self._stream is None:
            raise SinkError(
                f"{error} (HTTP {error.status}): stream {refused.stream!r}, chunk {refused.chunk}: "
                "the server refuses a row, and there is no `dead_letter_stream` to set it aside"
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
                raise SinkError(f"the dead letter of row {row} was refused too: {refusal}") from refusal


def check_count(count: int, most: int, why: object = "") -> None:
    """Raise `SinkError` where more rows were refused than may be."""
    if count > most:
        last = f"; the last because of {why}" if why else ""
        raise SinkError(f"{count} rows of this batch were refused, {most} may be (`dead_letters_max`){last}")


def _letters(line: bytes, error: TailraceError, place: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The entries that hold one refused row: one, unless it is too large."""
    line = line.rstrip(b"\n")
    reason = {"code": error.code, "status": str(error.status), "detail": error.detail}
    parts = [line[start : start + PART_BYTES] for start in range(0, len(line), PART_BYTES)]
    for number, part in enumerate(parts, start=1):
        yield {**place, **reason, "part": str(number), "parts": str(len(parts)), **_content(part, len(parts))}


def _content(part: bytes, parts: int) -> dict[str, str]:
    """As text where it can be read: a part may end within a character."""
    try:
        if parts == 1:
            return {"line": part.decode()}
    except UnicodeDecodeError:
        pass
    return {"line_base64": b64encode(part).decode()}
