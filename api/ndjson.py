"""NDJSON bodies: decompressed within a bound on the way in, written page by page on the way out.

It owns `Content-Encoding` and the export's stream. Lines are parsed by `api.appends`.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Final

import zstandard

from api.ports import StreamStore
from api.problems import HttpCode, RequestRefused
from core.commands import Range
from core.entry import Shape, wire_lines, wire_ndjson
from core.limits import BODY_BYTES_MAX, KIB, MIB
from core.replies import Entries, RangeReply

GZIP_WINDOW_BITS: Final = 16 + zlib.MAX_WBITS
ZSTD_WINDOW_BYTES_MAX: Final = 8 * MIB
"""What a sender may ask us to keep in memory for it; the standard asks for no less."""

ZSTD_PIECE_BYTES: Final = KIB
"""At most 256 blocks that say "128 KiB of one byte"."""

EXPORT_PAGE_ENTRIES: Final = 10_000
EXPORT_PAGE_BYTES: Final = MIB
"""A page of an export: enough that the cost of a page does not show, little enough to send at once."""


def decompressed(body: bytes, content_encoding: str | None) -> bytes:
    """The body as it was before compression, of `BODY_BYTES_MAX` bytes at most.

    Raises `RequestRefused`: 400 where it does not decompress, 413 where it grows too large, 415 for
    an encoding that is not known.
    """
    encoding = (content_encoding or "identity").strip().lower()
    try:
        if encoding == "identity":
            return body
        if encoding == "gzip":
            return _from_gzip(body)
        if encoding == "zstd":
            return _from_zstd(body)
    except (zlib.error, zstandard.ZstdError) as error:
        raise RequestRefused(HttpCode.MALFORMED_BODY, f"the body is not {encoding}: {error}") from None
    raise RequestRefused(
        HttpCode.UNSUPPORTED_MEDIA_TYPE,
        f"Content-Encoding {encoding!r} is not understood; gzip and zstd are",
        headers={"Accept-Encoding": "gzip, zstd"},
    )


def _from_gzip(body: bytes) -> bytes:
    whole = bytearray()
    while body:
        member = zlib.decompressobj(GZIP_WINDOW_BITS)
        whole += member.decompress(body, BODY_BYTES_MAX + 1 - len(whole))
        _check_size(len(whole))
        if not member.eof:
            raise RequestRefused(HttpCode.MALFORMED_BODY, "the gzip body is cut off")
        body = member.unused_data
    return bytes(whole)


def _from_zstd(body: bytes) -> bytes:
    """Fed in small pieces: what one of them becomes has no other bound. A frame that ends too early must be
    seen, which a stream reader does not tell."""
    whole = bytearray()
    while body:
        frame = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES_MAX).decompressobj()
        for begin in range(0, len(body), ZSTD_PIECE_BYTES):
            whole += frame.decompress(body[begin : begin + ZSTD_PIECE_BYTES])
            _check_size(len(whole))
            if frame.eof:
                body = frame.unused_data + body[begin + ZSTD_PIECE_BYTES :]
                break
        else:
            raise RequestRefused(HttpCode.MALFORMED_BODY, "the zstd body is cut off")
    return bytes(whole)


def _check_size(size: int) -> None:
    if size > BODY_BYTES_MAX:
        detail = f"a body may take {BODY_BYTES_MAX} bytes at most after decompression"
        raise RequestRefused(HttpCode.BODY_TOO_LARGE, detail)


def export_page(query: Range) -> Range:
    """`query` bounded to one page of an export."""
    return Range(query.key, query.start, query.end, count=EXPORT_PAGE_ENTRIES, max_bytes=EXPORT_PAGE_BYTES)


async def exported(
    store: StreamStore, query: Range, first: RangeReply, shape: Shape, *, fields_only: bool
) -> AsyncIterator[bytes]:
    """The lines of all pages, beginning with `first`. One page is held at a time."""
    page = first
    while page.entries.ids:
        yield _fields_lines(page.entries, shape) if fields_only else wire_ndjson(page.entries, shape)
        if not page.more:
            return
        reply = await store.execute(
            export_page(Range(query.key, start=page.entries.ids[-1] + 1, end=query.end))
        )
        assert isinstance(reply, RangeReply)
        page = reply


def _fields_lines(entries: Entries, shape: Shape) -> bytes:
    """The fields alone, one object a line, as `import` takes them.

    An entry that has no such form (a name repeats, or bytes are not UTF-8) is written whole: nothing is
    lost, and the two cannot be mixed up, since the values of fields are never objects.
    """
    whole = wire_lines(entries, shape)
    lines = [
        fragment if fragment is not None and fragment[:1] == b"{" else line
        for fragment, line in zip(entries.fragments, whole, strict=True)
    ]
    return b"\n".join(lines) + b"\n"
