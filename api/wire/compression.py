"""Unpacks compressed bodies, piece by piece and within limits.

It owns the header `Content-Encoding`. A body is a sequence of gzip members or zstd frames. Unpacking reads
each piece of the input once, so it takes O(bytes + members); the output of one piece is limited. This is
plain blocking code: `api.wire.ndjson` decides in which thread it runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import zstandard

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import BODY_BYTES_MAX, BODY_MEMBERS_MAX, KIB, MIB

GZIP_WINDOW_BITS: Final = 16 + zlib.MAX_WBITS
ZSTD_WINDOW_BYTES_MAX: Final = 8 * MIB
"""The largest window that a body may use, which the server keeps in memory; the smallest limit that the
standard allows."""


class _Coding(NamedTuple):
    """How to unpack one encoding.

    `beginning` returns, for one body, the function that begins a member. `unpack` receives the member, a
    piece of input, and how many bytes of output are still allowed. `piece_bytes` is small, because one piece
    can become up to 8 MiB, and because the rest of a piece is copied if a member ends within it.
    """

    beginning: Callable[[], Callable[[], Any]]
    unpack: Callable[[Any, memoryview, int], bytes]
    piece_bytes: int


def _beginning_gzip() -> Callable[[], Any]:
    return lambda: zlib.decompressobj(GZIP_WINDOW_BITS)


def _beginning_zstd() -> Callable[[], Any]:
    """Use one context for all frames of a body: creating one takes ten times as long as a small frame."""
    return zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES_MAX).decompressobj


_CODINGS: Final = {
    "gzip": _Coding(
        _beginning_gzip,
        lambda member, piece, room: member.decompress(piece, room),
        4 * KIB,
    ),
    # zstd has no limit on its output. A piece of this size has at most 64 blocks of 128 KiB of one byte.
    "zstd": _Coding(_beginning_zstd, lambda member, piece, _: member.decompress(piece), 256),
}


class Unpacking:
    """A compressed body and, in `unpacked`, its output so far. If another thread sets `is_abandoned`, `run`
    stops."""

    def __init__(self, body: bytes, encoding: str) -> None:
        self._encoding = encoding
        self._coding = _CODINGS[encoding]
        self._begin = self._coding.beginning()
        self._rest = memoryview(body)
        self._member: Any = None
        self.members = 0
        self.steps = 0
        """How many pieces were unpacked."""
        self.unpacked = bytearray()
        self.is_abandoned = False

    @property
    def is_done(self) -> bool:
        """True if the whole body is unpacked."""
        return self._member is None and not self._rest

    def run(self, *, steps: int | None = None, bytes_max: int | None = None) -> None:
        """Unpack until the end of the body, for at most `steps` pieces, or until there are `bytes_max` bytes.

        Raises `RequestRefused`: 400 if the body is damaged, 413 if it becomes too large.
        """
        end = None if steps is None else self.steps + steps
        try:
            while not (self.is_done or self.is_abandoned or self.steps == end):
                if bytes_max is not None and len(self.unpacked) >= bytes_max:
                    return
                self._step()
        except (zlib.error, zstandard.ZstdError) as error:
            detail = f"the body is not valid {self._encoding}: {error}"
            raise RequestRefused(HttpCode.MALFORMED_BODY, detail) from None

    def _step(self) -> None:
        self.steps += 1
        if self._member is None:
            self._begin_member()
        piece = self._rest[: self._coding.piece_bytes]
        if not piece:
            raise RequestRefused(HttpCode.MALFORMED_BODY, f"the {self._encoding} body ends too early")
        self.unpacked += self._coding.unpack(self._member, piece, BODY_BYTES_MAX + 1 - len(self.unpacked))
        if len(self.unpacked) > BODY_BYTES_MAX:
            detail = f"the body is too large; at most {BODY_BYTES_MAX} bytes are allowed after decompression"
            raise RequestRefused(HttpCode.BODY_TOO_LARGE, detail)
        self._rest = self._rest[len(piece) - len(self._member.unused_data) :]
        if self._member.eof:
            self._member = None

    def _begin_member(self) -> None:
        self.members += 1
        if self.members > BODY_MEMBERS_MAX:
            detail = (
                f"the compressed body has too many members or frames; at most {BODY_MEMBERS_MAX} are allowed"
            )
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, detail)
        self._member = self._begin()


def encoding_of(values: list[str]) -> str | None:
    """Return the encoding in these `Content-Encoding` headers, or None if the body is not compressed.

    Raises `RequestRefused` 415 for an unknown encoding, and for several encodings.
    """
    named = [name for value in values for name in (part.strip().lower() for part in value.split(",")) if name]
    given = [name for name in named if name != "identity"]
    if not given:
        return None
    if len(given) == 1 and given[0] in _CODINGS:
        return given[0]
    raise RequestRefused(
        HttpCode.UNSUPPORTED_MEDIA_TYPE,
        f"Content-Encoding {', '.join(given)!r} is not supported; send one of {', '.join(_CODINGS)}",
        headers={"Accept-Encoding": ", ".join(_CODINGS)},
    )
