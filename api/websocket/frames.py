"""Splits frames into requests, and decodes the parts that depend only on the bytes of a frame.

A thread can do this for a large frame, because this module never uses a connection. `api.websocket.plans`
decides what a request does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tailrace.api.problems.table import CommandRefused, RequestRefused
from tailrace.api.websocket.codecs import AppendRun, Codec, Envelope
from tailrace.api.websocket_limits import REQUESTS_PER_FRAME_MAX
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import StreamError, kept
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.parser import parse_request

Content: TypeAlias = Append | ScheduleEntries | RedisRequest | RequestRefused | StreamError
"""The command of an append, the decoded Redis command, or the error of an invalid one."""


class ReadRequest(NamedTuple):
    """One request. `envelope` and `content` are None if they are decoded later."""

    raw: bytes
    envelope: Envelope | None = None
    content: Content | None = None


class Frame(NamedTuple):
    """The requests of one frame, in order, and whether they came as an array."""

    is_array: bool
    requests: Sequence[ReadRequest | AppendRun]
    request_count: int


def split_frame(codec: Codec, data: str | bytes) -> Frame:
    """Return the requests of a frame: decoded, if all are appends without options, else as raw bytes. Raises
    `ProtocolViolation`."""
    runs = codec.append_runs(data)
    if runs is not None:
        requests = [run if len(run.fragments) > 1 else one_by_one(run)[0] for run in runs]
        return Frame(is_array=True, requests=requests, request_count=sum(len(run.fragments) for run in runs))
    is_array, parts = codec.split(data)
    return Frame(is_array, [ReadRequest(part) for part in parts], len(parts))


def one_by_one(run: AppendRun) -> list[ReadRequest]:
    """Return the appends of a run as decoded requests of their own."""
    return [
        ReadRequest(b"", Envelope(request_id, "append"), Append(run.key, (fragment,)))
        for request_id, fragment in zip(run.request_ids, run.fragments, strict=True)
    ]


def read_frame(codec: Codec, data: str | bytes) -> Frame:
    """Return the requests of a frame, with decoded appends and commands. O(bytes).

    Raises `ProtocolViolation`. It shares no state with a connection, so it can run in a thread.
    """
    frame = split_frame(codec, data)
    if frame.request_count > REQUESTS_PER_FRAME_MAX:
        return frame
    return frame._replace(requests=[_read(codec, request) for request in frame.requests])


def _read(codec: Codec, request: ReadRequest | AppendRun) -> ReadRequest | AppendRun:
    if isinstance(request, AppendRun) or request.content is not None:
        return request
    raw = request.raw
    try:
        envelope = codec.envelope(raw)
    except RequestRefused:
        # The session reports the error when it handles this request.
        return ReadRequest(raw)
    return ReadRequest(raw, envelope, _content(codec, envelope.op, raw))


def _content(codec: Codec, op: object, raw: bytes) -> Content | None:
    try:
        if op == "append":
            return codec.append(raw)
        return parse_request(codec.words(raw)) if op == "command" else None
    except RequestRefused as refusal:
        return kept(refusal)
    except StreamError as error:
        return kept(CommandRefused(error))
