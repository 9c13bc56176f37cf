"""The heads of answers to hot requests. This module owns their form, and never writes to a connection."""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.problems.table import NO_STORE
from tailrace.app.protocols.heads import Headers

NO_STORE_LINES: Final = [(name.lower().encode(), value.encode()) for name, value in NO_STORE.items()]
"""`Cache-Control`, as the connection writes it."""


def answer_head(start: str, size: int, media_type: str, request_id: str, lines: str = "") -> str:
    """Return the head of an answer. `start`: from `AnswerStarts`; `size`: the bytes of its body; `lines`:
    further headers."""
    return (
        f"{start}content-length: {size}\r\ncontent-type: {media_type}\r\n"
        f"x-request-id: {request_id}\r\n{lines}\r\n"
    )


class AnswerStarts:
    """The first lines of answers, by status: status line and default headers, which uvicorn renews."""

    def __init__(self) -> None:
        self._headers: Headers | None = None
        self._starts: dict[int, str] = {}

    def of(self, status: int, headers: Headers) -> str:
        """Return the lines before the headers of a single answer."""
        if headers is not self._headers:
            self._headers = headers
            self._starts.clear()
        start = self._starts.get(status)
        if start is None:
            lines = b"".join(b"%b: %b\r\n" % header for header in (*headers, *NO_STORE_LINES))
            start = self._starts[status] = (STATUS_LINE[status] + lines).decode()
        return start
