"""What a subprotocol is: how requests are read and replies written, whatever the bytes look like.

It owns the form that both share, and the reading of an append's envelope. It never knows what a request
does. `tailrace.v1.json` is `api.websocket.json_codec`, `tailrace.v1.msgpack` `api.websocket.msgpack_codec`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import msgspec

from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.requests import Request
from tailrace.api.websocket_limits import FRAME_BYTES_MAX, CloseCode, ProtocolViolation
from tailrace.api.wire.appends import UNREADABLE, trimming_of
from tailrace.api.wire.bodies import mismatch
from tailrace.api.wire.names import checked_name, name_from_body
from tailrace.core.commands import Trim
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar import Resp
from tailrace.core.log.entry import BadEntry
from tailrace.core.replies import Entries

RequestT = TypeVar("RequestT", bound=Request)

_ABSENT: Final = (b"", b"null", b"\xc0")


class Envelope(msgspec.Struct):
    """What every request has; of any type, until it is looked at."""

    id: Any = None
    op: Any = None


class NewEntry(NamedTuple):
    """An append, read: the stream, the entry, and under which conditions."""

    key: bytes
    fragment: bytes
    entry_id: str | None
    trim: Trim | None
    nomkstream: bool
    if_last_id: str | None


class RawAppend(msgspec.Struct, forbid_unknown_fields=True):
    """An `append`, its key and fields still as they came. Documented as `AppendRequest`."""

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


class RawCommand(msgspec.Struct, forbid_unknown_fields=True):
    """A `command`, its words still as they came. Documented as `CommandRequest`."""

    command: msgspec.Raw
    id: Any = None
    op: Any = None


class Codec(ABC):
    """One subprotocol. It has no state: one object serves all connections."""

    subprotocol: ClassVar[str]
    is_text: ClassVar[bool]

    # --- in ------------------------------------------------------------------------------------

    def split(self, data: str | bytes) -> tuple[bool, list[bytes]]:
        """The requests of one frame, each still as bytes, and whether they came as an array.

        Raises `ProtocolViolation` for a frame of the wrong kind, one that is too big, or no document.
        """
        if isinstance(data, str) is not self.is_text:
            wanted = "text" if self.is_text else "binary"
            raise ProtocolViolation(CloseCode.UNSUPPORTED_DATA, f"{self.subprotocol} is spoken in {wanted}")
        raw = data.encode() if isinstance(data, str) else data
        if len(raw) > FRAME_BYTES_MAX:
            raise ProtocolViolation(CloseCode.TOO_BIG, f"a frame may take {FRAME_BYTES_MAX} bytes at most")
        try:
            return self._split(raw)
        except UNREADABLE as error:
            raise ProtocolViolation(CloseCode.INVALID_PAYLOAD, str(error)) from None

    @abstractmethod
    def _split(self, raw: bytes) -> tuple[bool, list[bytes]]: ...

    @abstractmethod
    def envelope(self, raw: bytes) -> Envelope:
        """The request's id and op. Raises `RequestRefused` where it is no object."""

    @abstractmethod
    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """The request as its model. Raises `RequestRefused`, or `ValidationError` of pydantic: the caller
        describes the mistakes."""

    @abstractmethod
    def new_entry(self, raw: bytes) -> NewEntry:
        """An `append`. Raises `RequestRefused`."""

    @abstractmethod
    def words(self, raw: bytes) -> list[bytes]:
        """The words of a `command`. Raises `RequestRefused`."""

    # --- out -----------------------------------------------------------------------------------

    @abstractmethod
    def encode(self, content: object) -> bytes:
        """Anything that the other methods gave, and plain values, as one frame's bytes."""

    @abstractmethod
    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """Members that hold names."""

    @abstractmethod
    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """The entries as an array; `deliveries`: with idle time and count of deliveries. O(bytes)."""

    @abstractmethod
    def result(self, reply: Resp) -> object:
        """A RESP2 reply."""

    def joined(self, frames: Sequence[bytes]) -> bytes:
        """Encoded contents as one array."""
        return self.encode([msgspec.Raw(frame) for frame in frames])


def name_of(value: str | bytes, encoding: Any, what: str) -> bytes:
    """The name that a request's member stands for. Raises `RequestRefused` INVALID_NAME."""
    if isinstance(value, bytes):
        return checked_name(value, what)
    return name_from_body(value, encoding, what)


def octets_of(value: str | bytes, encoding: Any) -> bytes:
    """A field's value as it is stored. Raises `RequestRefused`."""
    if isinstance(value, bytes):
        return value
    if encoding is None:
        return value.encode()
    try:
        return b64decode(value, validate=True)
    except ValueError:
        raise mismatch([("", f"not base64: {value[:40]!r}")]) from None


# --- for both -----------------------------------------------------------------------------------------


def new_entry_of(key: bytes, fragment: bytes, request: RawAppend) -> NewEntry:
    """All of it that is the same in both subprotocols. Raises `RequestRefused` for a bad trimming rule."""
    return NewEntry(
        key,
        fragment,
        request.entry_id,
        trimming_of(request.trim),
        request.nomkstream,
        request.if_last_id,
    )


def has_fields(request: RawAppend) -> bool:
    """Whether the entry is written as `fields`; else it is as `pairs`. One of the two must be there."""
    fields, pairs = bytes(request.fields) not in _ABSENT, bytes(request.pairs) not in _ABSENT
    if fields is pairs:
        raise BadEntry("exactly one of `fields` and `pairs` is needed")
    return fields


def encoding_of(request: RawAppend) -> Any:
    """`base64` or None. Raises `BadEntry`."""
    if request.encoding not in (None, "base64"):
        raise BadEntry("`encoding` is `base64` or absent")
    return request.encoding


def entry_refusal(error: Exception) -> RequestRefused:
    """What to tell of an entry that could not be read."""
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    return mismatch([("", str(error))])


def decoded_envelope(decode: Callable[[bytes], Envelope], raw: bytes) -> Envelope:
    """The envelope. Raises `RequestRefused` where the request is no object."""
    try:
        return decode(raw)
    except UNREADABLE as error:
        raise mismatch([("", f"a request is an object: {error}")]) from None
