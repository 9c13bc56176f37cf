"""Reads and writes files, compressed by suffix; `-` is standard input or standard output.

It owns compression, the names of formats, and the exact position in a file that is read: bytes, lines, and a
digest of these bytes. A truncated compressed file is an error, never a short file."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from enum import StrEnum
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec
import zstandard

from tailrace.app.cli.output import visible_json
from tailrace.app.reasons import reason

READ_BYTES: Final = 1 << 20
STANDARD: Final = Path("-")


class FileFormat(StrEnum):
    """The format of a file. `AUTO`: by the suffix of its name, NDJSON by default."""

    AUTO = "auto"
    NDJSON = "ndjson"
    CSV = "csv"


class Compression(StrEnum):
    """The compression of a file, by suffix."""

    NONE = ""
    GZIP = ".gz"
    ZSTD = ".zst"


class BadFile(Exception):
    """A file cannot be used. The text names the file and the reason."""


def compression_of(path: Path) -> Compression:
    """Return the compression that the last suffix of `path` names."""
    suffix = path.suffix.lower()
    return Compression(suffix) if suffix in {each.value for each in Compression} else Compression.NONE


def format_of(path: Path, wanted: FileFormat) -> FileFormat:
    """Return `wanted`; for `AUTO`, the format by the suffix of `path` before `.gz` or `.zst`."""
    if wanted is not FileFormat.AUTO:
        return wanted
    name = path.with_suffix("") if compression_of(path) else path
    return FileFormat.CSV if name.suffix.lower() == ".csv" else FileFormat.NDJSON


class Source:
    """A file to read. Raises `BadFile` if it cannot be opened.

    `content` is decompressed. `bytes_total` and `bytes_read` count bytes of the compressed file;
    `bytes_total` is None for standard input.
    """

    def __init__(self, path: Path) -> None:
        self.name = "standard input" if path == STANDARD else str(path)
        try:
            self._file: BinaryIO = sys.stdin.buffer if path == STANDARD else path.open("rb")
            self.bytes_total = None if path == STANDARD else path.stat().st_size
        except OSError as error:
            raise BadFile(f"cannot read {path}: {reason(error)}") from None
        self.content = _decompressed(self._file, compression_of(path))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """Return the position in the file in bytes; 0 for standard input."""
        return self._file.tell() if self.bytes_total is not None else 0


def _decompressed(file: BinaryIO, compression: Compression) -> io.BufferedIOBase:
    if compression is Compression.GZIP:
        return gzip.GzipFile(fileobj=file)
    if compression is Compression.ZSTD:
        return io.BufferedReader(_ZstdReader(file), READ_BYTES)
    assert isinstance(file, io.BufferedIOBase)
    return file


class _ZstdReader(io.RawIOBase):
    """Reads consecutive zstandard frames. The reader of the library treats a truncated frame as the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame: Any = None
        self._input = b""
        self._output = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`; 0 is the end. Raises `EOFError` within a frame, as gzip does."""
        while not self._output:
            self._input = self._input or self._file.read(READ_BYTES)
            if not self._input:
                if self._frame is not None:
                    raise EOFError("the compressed file is truncated")
                return 0
            self._decompress()
        count = min(len(buffer), len(self._output))
        buffer[:count] = self._output[:count]
        self._output = self._output[count:]
        return count

    def _decompress(self) -> None:
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._output = memoryview(frame.decompress(self._input))
        self._input, self._frame = (frame.unused_data, None) if frame.eof else (b"", frame)


UNREADABLE: Final = (OSError, EOFError, zlib.error, zstandard.ZstdError)
"""The exceptions of reading a file, compressed or not."""


def unreadable(name: str, error: Exception) -> BadFile:
    """Return the `BadFile` for `error`, one of `UNREADABLE`, with the file name `name`."""
    is_systems = isinstance(error, OSError) and error.errno
    return BadFile(f"cannot read {name}: {reason(error) if is_systems else error}")  # type: ignore[arg-type]


class Target:
    """A file to write in parts. Each part of a compressed file is a complete frame.

    `length`: how many bytes of an existing file to keep; the rest is truncated. Raises `OSError`.
    """

    def __init__(self, path: Path, length: int) -> None:
        self._is_standard = path == STANDARD
        self._compression = compression_of(path)
        self._file: BinaryIO = (
            sys.stdout.buffer if self._is_standard else path.open("r+b" if length else "wb")
        )
        if length:
            self._file.truncate(length)
            self._file.seek(length)

    def write(self, content: bytes) -> None:
        """Append one part. Raises `OSError`."""
        if self._is_standard and sys.stdout.isatty():
            content = visible_json(content.decode("utf-8", "backslashreplace")).encode()
        self._file.write(_compressed(content, self._compression))

    def settle(self) -> int:
        """Sync the file and return its length in bytes; 0 for standard output. Raises `OSError`."""
        self._file.flush()
        if self._is_standard:
            return 0
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        if not self._is_standard:
            self._file.close()


def _compressed(content: bytes, compression: Compression) -> bytes:
    if compression is Compression.GZIP:
        return gzip.compress(content, compresslevel=6)
    if compression is Compression.ZSTD:
        return zstandard.ZstdCompressor(level=3).compress(content)
    return content


# --- lines --------------------------------------------------------------------------------------


DIGEST_BYTES: Final = 16


class Position(msgspec.Struct, frozen=True):
    """A position in a file: `offset` in bytes after decompression, `lines`, and the digest of these bytes."""

    offset: int
    lines: int
    digest: str


class Lines:
    """The lines of `source` with their line ends."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._offset = 0
        self.taken = 0
        """How many lines were read; the number of the last line, counted from 1."""

    @property
    def name(self) -> str:
        """Return the name of the file for messages."""
        return self._source.name

    @property
    def position(self) -> Position:
        """Return the position after the last line that was read."""
        return Position(self._offset, self.taken, self._digest.hexdigest())

    def take(self, most: int) -> list[bytes]:
        """Read the next lines, at most `most`; empty at the end. Raises `BadFile`. O(bytes)."""
        try:
            lines = list(islice(self._source.content, most))
        except UNREADABLE as error:
            raise unreadable(self.name, error) from None
        joined = b"".join(lines)
        self._digest.update(joined)
        self._offset += len(joined)
        self.taken += len(lines)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines; each counts as read when it is yielded."""
        while lines := self.take(1):
            yield lines[0]

    def skip_to(self, position: Position) -> None:
        """Continue at `position`. Raises `BadFile` if the bytes before it have changed. O(bytes)."""
        while self._offset < position.offset:
            try:
                content = self._source.content.read(min(READ_BYTES, position.offset - self._offset))
            except UNREADABLE as error:
                raise unreadable(self.name, error) from None
            if not content:
                break
            self._digest.update(content)
            self._offset += len(content)
        self.taken = position.lines
        if self.position != position:
            raise BadFile(
                f"{self.name} does not begin with the {position.lines} lines that were imported before: "
                "it is another file, or these lines were changed"
            )
