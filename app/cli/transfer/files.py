"""Files as bytes, compressed or not, by their suffix; `-` is the standard stream.

It owns compression and the names of formats. A compressed file cut off is an error, never a short one.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final

import zstandard

from tailrace.app.reasons import reason

READ_BYTES: Final = 1 << 20
STANDARD: Final = Path("-")


class FileFormat(StrEnum):
    """What a file holds; `AUTO`: as its name says, NDJSON where it says nothing."""

    AUTO = "auto"
    NDJSON = "ndjson"
    CSV = "csv"


class Compression(StrEnum):
    """How a file is compressed."""

    NONE = ""
    GZIP = ".gz"
    ZSTD = ".zst"


class BadFile(Exception):
    """A file that cannot be used; the text says which and why."""


def compression_of(path: Path) -> Compression:
    """What the last suffix says."""
    suffix = path.suffix.lower()
    return Compression(suffix) if suffix in {each.value for each in Compression} else Compression.NONE


def format_of(path: Path, wanted: FileFormat) -> FileFormat:
    """The format that is wanted, or the one that the suffix below the compression says."""
    if wanted is not FileFormat.AUTO:
        return wanted
    name = path.with_suffix("") if compression_of(path) else path
    return FileFormat.CSV if name.suffix.lower() == ".csv" else FileFormat.NDJSON


class Source:
    """A file to read: `content` decompressed; `bytes_total` and `bytes_read` as the file lies there."""

    def __init__(self, path: Path) -> None:
        self.name = "standard input" if path == STANDARD else str(path)
        try:
            self._file: BinaryIO = sys.stdin.buffer if path == STANDARD else path.open("rb")
            self.bytes_total = None if path == STANDARD else path.stat().st_size
        except OSError as error:
            raise BadFile(f"cannot read {path}: {reason(error)}") from None
        self.content = _decompressed(self._file, compression_of(path))

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """How far into the file reading came; 0 where it has no places."""
        return self._file.tell() if self.bytes_total is not None else 0


def _decompressed(file: BinaryIO, compression: Compression) -> io.BufferedIOBase:
    if compression is Compression.GZIP:
        return gzip.GzipFile(fileobj=file)
    if compression is Compression.ZSTD:
        return io.BufferedReader(_ZstdReader(file), READ_BYTES)
    assert isinstance(file, io.BufferedIOBase)
    return file


class _ZstdReader(io.RawIOBase):
    """Frames of zstandard one after another. The library's own reader takes a cut-off frame for the end."""

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
"""What reading a file, compressed or not, may raise."""


def unreadable(name: str, error: Exception) -> BadFile:
    """The sentence for one of `UNREADABLE`."""
    is_systems = isinstance(error, OSError) and error.errno
    return BadFile(f"cannot read {name}: {reason(error) if is_systems else error}")  # type: ignore[arg-type]


class Target:
    """A file to write, in parts that each stand for themselves: compressed ones are frames of their own.

    `length`: how much of a file that is there stands; what follows is cut off.
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
        """Append one part."""
        self._file.write(_compressed(content, self._compression))

    def settle(self) -> int:
        """Have all parts on disk; the length of the file."""
        self._file.flush()
        if self._is_standard:
            return 0
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Give the file back."""
        if not self._is_standard:
            self._file.close()


def _compressed(content: bytes, compression: Compression) -> bytes:
    if compression is Compression.GZIP:
        return gzip.compress(content, compresslevel=6)
    if compression is Compression.ZSTD:
        return zstandard.ZstdCompressor(level=3).compress(content)
    return content
