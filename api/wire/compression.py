"""Compressed bodies: what a body was before its compression, piece by piece and within bounds.

It owns `Content-Encoding`. A body is a sequence of gzip members or zstd frames. Unpacking reads each piece of
the input once, so it takes O(bytes + members), and what one piece becomes is bounded. This is plain blocking
code: `api.wire.imports` decides in which thread it runs.
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
"""What a sender may ask us to keep in memory for it; the standard asks for no less."""


class _Coding(NamedTuple):
    """How one encoding is unpacked. `beginning` makes, for one body, the function that begins a member;
    `unpack` gets the member, a piece, and the room that is left.

    `piece_bytes` is small: one piece becomes at most 8 MiB, and where a member ends within a piece, the rest
    of the piece is copied.
    """

    beginning: Callable[[], Callable[[], Any]]
    unpack: Callable[[Any, memoryview, int], bytes]
    piece_bytes: int


def _beginning_gzip() -> Callable[[], Any]:
    return lambda: zlib.decompressobj(GZIP_WINDOW_BITS)


def _beginning_zstd() -> Callable[[], Any]:
    """Every frame of a body uses the same context: making one takes ten times as long as a small frame."""
    return zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES_MAX).decompressobj


_CODINGS: Final = {
    "gzip": _Coding(
        _beginning_gzip,
        lambda member, piece, room: member.decompress(piece, room),
        4 * KIB,
    ),
    # zstd bounds no output: a piece of this size has at most 64 blocks that say "128 KiB of one byte".
    "zstd": _Coding(_beginning_zstd, lambda member, piece, _: member.decompress(piece), 256),
}


class Unpacking:
    """A compressed body on its way to `unpacked`. Other threads may set `is_abandoned`: `run` then stops."""

    def __init__(self, body: bytes, encoding: str) -> None:
        self._encoding = encoding
        self._coding = _CODINGS[encoding]
        self._begin = self._coding.beginning()
        self._rest = memoryview(body)
        self._member: Any = None
        self.members = 0
        self.steps = 0
        """Pieces that were unpacked."""
        self.unpacked = bytearray()
        self.is_abandoned = False

    @property
    def is_done(self) -> bool:
        """Whether the whole body is unpacked."""
        return self._member is None and not self._rest

    def run(self, *, steps: int | None = None, bytes_max: int | None = None) -> None:
        """Go on until the body is unpacked, or for so many steps, or until there are so many bytes.

        Raises `RequestRefused`: 400 where the body is damaged, 413 where it becomes too large.
        """
        end = None if steps is None else self.steps + steps
        try:
            while not (self.is_done or self.is_abandoned or self.steps == end):
                if bytes_max is not None and len(self.unpacked) >= bytes_max:
                    return
                self._step()
        except (zlib.error, zstandard.ZstdError) as error:
            detail = f"the body is not {self._encoding}: {error}"
            raise RequestRefused(HttpCode.MALFORMED_BODY, detail) from None

    def _step(self) -> None:
        self.steps += 1
        if self._member is None:
            self._begin_member()
        piece = self._rest[: self._coding.piece_bytes]
        if not piece:
            raise RequestRefused(HttpCode.MALFORMED_BODY, f"the {self._encoding} body is cut off")
        self.unpacked += self._coding.unpack(self._member, piece, BODY_BYTES_MAX + 1 - len(self.unpacked))
        if len(self.unpacked) > BODY_BYTES_MAX:
            detail = f"a body may take {BODY_BYTES_MAX} bytes at most after decompression"
            raise RequestRefused(HttpCode.BODY_TOO_LARGE, detail)
        self._rest = self._rest[len(piece) - len(self._member.unused_data) :]
        if self._member.eof:
            self._member = None

    def _begin_member(self) -> None:
        self.members += 1
        if self.members > BODY_MEMBERS_MAX:
            detail = f"a compressed body may have {BODY_MEMBERS_MAX} members or frames at most"
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, detail)
        self._member = self._begin()


def encoding_of(values: list[str]) -> str | None:
    """The one encoding of a body with these `Content-Encoding` headers; None where it is not compressed.

    Raises `RequestRefused` 415 for an encoding that is not known, and for several on top of each other.
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
