"""The base class of the two subprotocols: how to read requests and write replies.

It owns the code that both share, and the reading of appends. It never decides what a request does.
`api.websocket.json_codec` implements `tailrace.v1.json`, and `api.websocket.msgpack_codec` implements
`tailrace.v1.msgpack`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import msgspec

from tailrace.api.operations.appends import append_command
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.requests import Request, RequestId
from tailrace.api.websocket_limits import FRAME_BYTES_MAX, CloseCode, ProtocolViolation
from tailrace.api.wire.appends import UNREADABLE, Delay, NewEntries
from tailrace.api.wire.bodies import mismatch
from tailrace.api.wire.names import checked_name, name_from_body
from tailrace.api.wire.parameters import requested_id_of
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar import Resp
from tailrace.core.log.entry import BadEntry, from_base64
from tailrace.core.replies import Entries
from tailrace.core.stream_id import StreamId, format_id

RequestT = TypeVar("RequestT", bound=Request)


class Envelope(msgspec.Struct):
    """The members of every request. Their types are not checked yet."""

    id: Any = None
    op: Any = None


class AppendRun(NamedTuple):
    """Adjacent appends of one frame to one stream, without options. `request_ids`: those of the requests."""

    key: bytes
    request_ids: Sequence[RequestId]
    fragments: Sequence[bytes]


class PlainAppend(NamedTuple):
    """A frame with one append of `fields` without options. Whether they are an entry is not known yet."""

    raw: bytes
    request_id: Any
    key: str
    fields: bytes | msgspec.Raw

    @property
    def request_count(self) -> int:
        """Return 1: it is one request."""
        return 1


class PlainAck(NamedTuple):
    """An acknowledgment without options."""

    key: bytes
    group: bytes
    ids: tuple[StreamId, ...] | range


class RawAppend(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An `append` with its key and fields as raw bytes. Documented as `AppendRequest`."""

    key: msgspec.Raw
    id: Any = None
    op: Any = None
    fields: msgspec.Raw = msgspec.Raw()
    pairs: msgspec.Raw = msgspec.Raw()
    encoding: str | None = None
    entry_id: str | None = None
    trim: dict[str, Any] | None = None
    nomkstream: bool = False
    if_last_id: str | None = None
    delay_ms: Delay | None = None
    deliver_at_ms: Delay | None = None


class RawCommand(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A `command` with its words as raw bytes. Documented as `CommandRequest`."""

    command: msgspec.Raw
    id: Any = None
    op: Any = None


class Codec(ABC):
    """A subprotocol. It has no state, so one object serves all connections."""

    subprotocol: ClassVar[str]
    is_text: ClassVar[bool]

    # --- in ------------------------------------------------------------------------------------

    def split(self, data: str | bytes) -> tuple[bool, list[bytes]]:
        """Return whether a frame is an array of requests, and its requests as raw bytes. O(bytes).

        Raises `ProtocolViolation` if the frame has the wrong type (text or binary), is too large, or cannot
        be decoded.
        """
        if isinstance(data, str) is not self.is_text:
            wanted = "text" if self.is_text else "binary"
            raise ProtocolViolation(CloseCode.UNSUPPORTED_DATA, f"{self.subprotocol} uses {wanted} frames")
        raw = data.encode() if isinstance(data, str) else data
        if len(raw) > FRAME_BYTES_MAX:
            raise ProtocolViolation(
                CloseCode.TOO_BIG, f"the frame is too large; at most {FRAME_BYTES_MAX} bytes are allowed"
            )
        try:
            return self._split(raw)
        except UNREADABLE as error:
            raise ProtocolViolation(CloseCode.INVALID_PAYLOAD, str(error)) from None

    @abstractmethod
    def _split(self, raw: bytes) -> tuple[bool, list[bytes]]: ...

    def append_runs(self, data: str | bytes) -> list[AppendRun] | None:
        """Return the requests of a frame in one decoding, if the frame is an array of valid appends without
        options. Else return None: `split` reads the frame. O(bytes)."""
        del data
        return None

    def plain_append(self, data: str | bytes) -> PlainAppend | None:
        """Return the append of a small frame, if it is one without options. Else return None: `split` reads
        the frame. O(bytes) in C."""
        del data
        return None

    def run_of(self, appends: Sequence[PlainAppend]) -> AppendRun | None:
        """Return appends to one stream as a run, None if one of them is invalid. O(bytes)."""
        del appends
        return None

    @abstractmethod
    def envelope(self, raw: bytes) -> Envelope:
        """Return the id and op of a request. Raises `RequestRefused` if the request is not an object."""

    @abstractmethod
    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """Return the request as `model`.

        Raises `RequestRefused`, or `ValidationError` of pydantic: the caller describes the mistakes.
        """

    @abstractmethod
    def append(self, raw: bytes) -> Append | ScheduleEntries:
        """Return the command of an `append`. Raises `RequestRefused`."""

    def plain_ack(self, raw: bytes) -> PlainAck | None:
        """Return a valid `ack` without options, else None: `request` reads it. O(bytes) in C."""
        del raw
        return None

    @abstractmethod
    def words(self, raw: bytes) -> list[bytes]:
        """Return the words of a `command`. Raises `RequestRefused`."""

    # --- out -----------------------------------------------------------------------------------

    @abstractmethod
    def encode(self, content: object) -> bytes:
        """Return one frame with `content`: plain values, and results of the other methods. O(bytes)."""

    @abstractmethod
    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """Return members with these names."""

    @abstractmethod
    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """Return the entries as an array; with `deliveries`, also their idle time and delivery count.
        O(bytes)."""

    @abstractmethod
    def result(self, reply: Resp) -> object:
        """Return a RESP2 reply as content of a frame."""

    @abstractmethod
    def piece(self, frames: Sequence[bytes]) -> bytes:
        """Return encoded contents as a piece of an array."""

    @abstractmethod
    def joined(self, pieces: Sequence[bytes], count: int) -> bytes:
        """Return one frame with an array of `count` encoded contents, in pieces of one or more."""

    def appended(self, request_ids: Sequence[RequestId], ids: Sequence[StreamId]) -> bytes:
        """Return the replies to appends that succeeded, as a piece of an array. O(ids)."""
        return self.piece(self.appended_apart(request_ids, ids))

    def appended_apart(self, request_ids: Sequence[RequestId], ids: Sequence[StreamId]) -> list[bytes]:
        """Return the replies to appends that succeeded, each as a frame. O(ids)."""
        pairs = zip(request_ids, ids, strict=True)
        return [self.encode({"id": name, "ok": {"id": format_id(value)}}) for name, value in pairs]


def name_of(value: str | bytes, encoding: Any, what: str) -> bytes:
    """Return the name that a member of a request encodes. Raises `RequestRefused` INVALID_NAME."""
    if isinstance(value, bytes):
        return checked_name(value, what)
    return name_from_body(value, encoding, what)


def octets_of(value: str | bytes, encoding: Any) -> bytes:
    """Return the bytes of a field's value. Raises `RequestRefused` if it is not valid base64."""
    if isinstance(value, bytes):
        return value
    if encoding is None:
        return value.encode()
    try:
        return from_base64(value)
    except BadEntry as error:
        raise mismatch([("", str(error))]) from None


# --- for both -----------------------------------------------------------------------------------------


def decoded_envelope(decode: Callable[[bytes], Envelope], raw: bytes) -> Envelope:
    """Return the envelope of a request. Raises `RequestRefused` if the request is not an object."""
    try:
        return decode(raw)
    except UNREADABLE as error:
        raise mismatch([("", f"a request must be an object: {error}")]) from None


# --- appends, for both ------------------------------------------------------------------------------


_ABSENT: Final = (b"", b"null", b"\xc0")


def append_of(key: bytes, fragment: bytes, request: RawAppend) -> Append | ScheduleEntries:
    """Return the command of an append. Raises `RequestRefused`."""
    requested = requested_id_of(request.entry_id)
    new = NewEntries([fragment], None if requested is None else [requested])
    return append_command(key, request, new, create=not request.nomkstream)


def has_fields(request: RawAppend) -> bool:
    """Return whether an append has `fields` rather than `pairs`. Raises `BadEntry` unless it has exactly
    one."""
    fields, pairs = bytes(request.fields) not in _ABSENT, bytes(request.pairs) not in _ABSENT
    if fields is pairs:
        raise BadEntry("give exactly one of `fields` and `pairs`")
    return fields


def encoding_of(request: RawAppend) -> Any:
    """Return `base64` or None. Raises `BadEntry` for another value."""
    if request.encoding not in (None, "base64"):
        raise BadEntry("`encoding` must be `base64`, or absent")
    return request.encoding


def entry_refusal(error: Exception) -> RequestRefused:
    """Return the error for an entry that could not be read."""
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    return mismatch([("", str(error))])
