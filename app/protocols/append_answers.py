"""Makes the answers to appends that ran together: their ids follow each other.

The answer to one append is made as any other answer (`answer_heads`, `api.operations.appends`). The answers
after it are the same bytes with the other ids of request and entry, as long as the id of the entry has the
same millisecond and the same length. This module never writes to a connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.api.operations.appends import xadd_bytes
from tailrace.api.operations.table import XADD
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.answer_heads import AnswerStarts, answer_head
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.core.stream_id import U64_MAX, StreamId

_REQUEST_ID: Final = "\0"
"""The place of the id of the request in a head: no head has this character."""

_BODY_END: Final = '"}'


class AppendAnswers:
    """The parts of the last answer. `starts`: the first lines of answers."""

    def __init__(self, starts: AnswerStarts) -> None:
        self._starts = starts
        self._start = ""
        self._lines = ""
        self._heads: dict[int, list[str]] = {}
        """The text before and after the id of the request, by the size of the body; all with `_start` and
        `_lines`."""
        self._base: StreamId = -1
        """The first id of the millisecond."""
        self._body = ""
        """The body up to the sequence number."""
        self._before = ""
        self._between = ""
        """The answer before the id of the request, and from there to the sequence number."""
        self._first: StreamId = 0
        self._end: StreamId = 0
        """Ids from `_first` up to `_end` differ in their sequence number only."""

    def give(self, requests: Sequence[HotRequest], ids: Sequence[StreamId]) -> None:
        """Set the answers of `requests`, which are 201. `ids` rise. O(requests)."""
        status = XADD.status
        first = requests[0]
        start = self._starts.of(status, first.connection.server_state.default_headers)
        lines = first.client.answer_lines
        if start is not self._start or lines is not self._lines or not self._first <= ids[0] < self._end:
            self._divide(start, lines, ids[0])
        before, between, base, end = self._before, self._between, self._base, self._end
        for request, value in zip(requests, ids, strict=True):
            if value >= end or request.client.answer_lines is not lines:
                lines = request.client.answer_lines
                self._divide(start, lines, value)
                before, between, base, end = self._before, self._between, self._base, self._end
            request.status = status
            request.answer = f"{before}{request.request_id}{between}{value - base}{_BODY_END}".encode()

    def _divide(self, start: str, lines: str, value: StreamId) -> None:
        """Find the parts of the answer with the id `value` and the further headers `lines`."""
        seq = value & U64_MAX
        base = value - seq
        digits = len(str(seq))
        if base != self._base:
            self._base = base
            self._body = xadd_bytes(base).decode().removesuffix("0" + _BODY_END)
        if start is not self._start:
            self._start = start
            self._heads.clear()
        if lines is not self._lines:
            self._lines = lines
            self._heads.clear()
        size = len(self._body) + digits + len(_BODY_END)
        head = self._heads.get(size)
        if head is None:
            head = self._heads[size] = answer_head(start, size, JSON, _REQUEST_ID, lines).split(_REQUEST_ID)
        self._before, end_of_head = head
        self._between = end_of_head + self._body
        self._first = base + (10 ** (digits - 1) if digits > 1 else 0)
        self._end = base + min(10**digits, U64_MAX + 1)
