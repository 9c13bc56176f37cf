"""Compression with zstandard for any number of threads: a process can have several stores, each with threads
of its own.

An object of zstandard works in its own buffers, without the interpreter's lock. Two threads that use one
object at the same time write to the same memory: the process ends, or stores wrong bytes. So each call takes
an object that no other call has, and returns it afterwards. Making an object takes four times as long as
compressing a block. This module knows nothing of the content.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from zstandard import ZstdCompressor, ZstdDecompressor

LEVEL: Final = 1
"""A block is small: higher levels take three times as long and save a few per cent. Rows are written once and
soon deleted."""


class Zstd:
    """The free objects for one kind of content: as many as were ever used at the same time."""

    __slots__ = ("_compressors", "_decompressors")

    def __init__(self) -> None:
        # Taking from a deque, and adding to it, is atomic.
        self._compressors: deque[ZstdCompressor] = deque()
        self._decompressors: deque[ZstdDecompressor] = deque()

    def compress(self, content: bytes) -> bytes:
        """Return `content` as one frame, which says its size. O(bytes)."""
        try:
            compressor = self._compressors.pop()
        except IndexError:
            compressor = ZstdCompressor(level=LEVEL, write_checksum=False)
        packed = compressor.compress(content)
        self._compressors.append(compressor)
        return packed

    def decompress(self, packed: bytes) -> bytes:
        """Return the content of a frame. Raises `zstandard.ZstdError`. O(bytes)."""
        try:
            decompressor = self._decompressors.pop()
        except IndexError:
            decompressor = ZstdDecompressor()
        content = decompressor.decompress(packed)
        self._decompressors.append(decompressor)
        return content
