"""The subprotocol `tailrace.v1.json`: text frames with the JSON of the HTTP API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Final, Literal

import msgspec

from tailrace.api.name_members import named
from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.websocket.codecs import (
    AppendRun,
    Codec,
    Envelope,
    PlainAck,
    PlainAppend,
    RawAppend,
    RawCommand,
    RequestT,
    append_of,
    decoded_envelope,
    encoding_of,
    entry_refusal,
    has_fields,
)
from tailrace.api.websocket.requests import AppendRequest, CommandRequest, RequestId
from tailrace.api.websocket_limits import (
    FRAME_BYTES_MAX,
    JOINED_FRAME_BYTES_MAX,
    TURN_REQUESTS_MAX,
    CloseCode,
    ProtocolViolation,
)
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import explained, require_few_elements
from tailrace.api.wire.id_lists import id_list
from tailrace.api.wire.members import keeps_members, require_unique, require_unique_in_model
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.redis_words import decode_command, result_parts
from tailrace.api.wire.replies import entries_json
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar import Resp
from tailrace.core.limits import BULK_ELEMENTS_MAX, REQUEST_ELEMENTS_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_fields, fragment_from_pairs
from tailrace.core.log.entry_json import Shape
from tailrace.core.log.entry_lines import fragments_from_ndjson
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

_SPACE: Final = b" \t\r\n"
_APPENDED: Final = b'{"id":%b,"ok":{"id":"%d-%d"}}'


class _PlainAck(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An acknowledgment without options."""

    id: Any
    op: Any
    key: str
    group: str
    ids: msgspec.Raw


class JsonCodec(Codec):
    """Reads and writes text frames with the JSON of the HTTP API."""

    subprotocol = "tailrace.v1.json"
    is_text = True

    _decode_array: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
    _decode_one: Final = msgspec.json.Decoder(msgspec.Raw).decode
    _decode_envelope: Final = msgspec.json.Decoder(Envelope).decode
    _decode_append: Final = msgspec.json.Decoder(RawAppend).decode
    _decode_ack: Final = msgspec.json.Decoder(_PlainAck).decode
    _decode_command: Final = msgspec.json.Decoder(RawCommand).decode
    _decode_text: Final = msgspec.json.Decoder(str).decode
    _encode: Final = msgspec.json.Encoder().encode

    def _split(self, raw: bytes) -> tuple[bool, list[bytes]]:
        try:
            require_few_elements(raw, BULK_ELEMENTS_MAX)
        except RequestRefused as refusal:
            raise ProtocolViolation(CloseCode.TOO_BIG, refusal.detail) from None
        if raw.lstrip(_SPACE).startswith(b"["):
            return True, [bytes(part) for part in self._decode_array(raw)]
        return False, [bytes(self._decode_one(raw))]

    def append_runs(self, data: str | bytes) -> list[AppendRun] | None:
        """Return the requests of a frame, if it is an array of valid appends of fields without options."""
        return append_runs(data)

    def plain_append(self, data: str | bytes) -> PlainAppend | None:
        """Return the append of a small frame, if it is one of fields without options."""
        return plain_append(data)

    def run_of(self, appends: Sequence[PlainAppend]) -> AppendRun | None:
        """Return appends to one stream as a run, None if one of them is invalid."""
        return run_of(appends)

    def envelope(self, raw: bytes) -> Envelope:
        """Return the id and op of a request. Raises `RequestRefused` if the request is not an object."""
        return decoded_envelope(self._decode_envelope, raw)

    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """Return the request, parsed and checked by pydantic."""
        require_few_elements(raw, REQUEST_ELEMENTS_MAX)
        request = model.model_validate_json(raw)
        require_unique_in_model(raw, request)
        return request

    def append(self, raw: bytes) -> Append | ScheduleEntries:
        """Return the command of an `append`; its fields are parsed once. Raises `RequestRefused`."""
        try:
            request = self._decode_append(raw)
            key = name_from_body(self._decode_text(request.key), encoding_of(request), "key")
            command = append_of(key, self._fragment(request), request)
        except (*UNREADABLE, BadEntry) as error:
            raise self._append_refusal(raw, error) from None
        if not keeps_members(raw, request):
            require_unique(raw)
        return command

    def _fragment(self, request: RawAppend) -> bytes:
        base64 = encoding_of(request) is not None
        if has_fields(request):
            return fragment_from_fields(request.fields, base64=base64)
        return fragment_from_pairs(request.pairs, base64=base64)

    def _append_refusal(self, raw: bytes, error: Exception) -> RequestRefused:
        """Return the error of an invalid append. The model finds all mistakes, the decoder only the first."""
        refusal = entry_refusal(error)
        if refusal.code is ErrorCode.ENTRY_TOO_LARGE:
            return refusal
        return explained(raw, AppendRequest, error)

    def plain_ack(self, raw: bytes) -> PlainAck | None:
        """Return a valid `ack` without options, else None."""
        try:
            require_few_elements(raw, REQUEST_ELEMENTS_MAX)
            request = self._decode_ack(raw)
            if not keeps_members(raw, request):
                return None
            key, group = (
                name_from_body(request.key, None, "key"),
                name_from_body(request.group, None, "group"),
            )
            return PlainAck(key, group, id_list(bytes(request.ids)))
        except (*UNREADABLE, RequestRefused):
            return None

    def words(self, raw: bytes) -> list[bytes]:
        """Return the words of a `command`, in the format of the command endpoint. Raises `RequestRefused`."""
        try:
            request = self._decode_command(raw)
            words = decode_command(bytes(request.command))
        except UNREADABLE as error:
            raise explained(raw, CommandRequest, error) from None
        if not keeps_members(raw, request):
            require_unique(raw)
        return words

    def encode(self, content: object) -> bytes:
        """Return one frame with `content`."""
        return self._encode(content)

    def piece(self, frames: Sequence[bytes]) -> bytes:
        """Return the contents as a piece of an array."""
        return b",".join(frames)

    def joined(self, pieces: Sequence[bytes], count: int) -> bytes:
        """Return one frame with an array of the contents in `pieces`."""
        del count
        return b"[%b]" % b",".join(pieces)

    def appended(self, request_ids: Sequence[RequestId], ids: Sequence[StreamId]) -> bytes:
        """Return the replies to appends that succeeded, as a piece of an array. O(ids), formatted at once."""
        return self._appended(b",", request_ids, ids)

    def appended_apart(self, request_ids: Sequence[RequestId], ids: Sequence[StreamId]) -> list[bytes]:
        """Return the replies to appends that succeeded, each as a frame. O(ids), formatted at once."""
        # A line break in an id of a request is escaped.
        return self._appended(b"\n", request_ids, ids).split(b"\n") if ids else []

    def _appended(self, between: bytes, request_ids: Sequence[RequestId], ids: Sequence[StreamId]) -> bytes:
        columns = (
            list(map(self._encode, request_ids)),
            [value >> SEQ_BITS for value in ids],
            [value & U64_MAX for value in ids],
        )
        return between.join([_APPENDED] * len(ids)) % tuple(chain.from_iterable(zip(*columns, strict=True)))

    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """Return the names as text, or all of them in base64 if one of them is not UTF-8."""
        return named(**names)

    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """Return the entries as an array, joined from the stored bytes. O(bytes)."""
        return entries_json(entries, Shape.NATURAL, deliveries=deliveries)

    def result(self, reply: Resp) -> object:
        """Return a RESP2 reply in the format of the command endpoint."""
        return msgspec.Raw(b"".join(result_parts(reply, all_base64=False)))


# --- many appends at once ---------------------------------------------------------------------------


_ID_TYPES: Final = frozenset({int, str})
_I64_MIN: Final = -I64_MAX - 1


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An append of fields without options."""

    id: Any
    op: Literal["append"]
    key: str
    fields: msgspec.Raw


_decode_row: Final = msgspec.json.Decoder(_Row).decode
_decode_rows: Final = msgspec.json.Decoder(list[_Row]).decode


def append_runs(data: str | bytes) -> list[AppendRun] | None:
    """Return the requests of a frame, if it is an array of valid appends. Else return None. O(bytes)."""
    if not isinstance(data, str) or not data.startswith("["):
        return None
    raw = data.encode()
    if len(raw) > FRAME_BYTES_MAX:
        return None
    try:
        require_few_elements(raw, BULK_ELEMENTS_MAX)
        rows = _decode_rows(raw)
        if not keeps_members(raw, rows):
            return None
        fragments = _fragments_of([row.id for row in rows], [row.fields for row in rows])
        return None if fragments is None else list(_runs_of(rows, fragments))
    except (*UNREADABLE, BadEntry, RequestRefused):
        return None


def plain_append(data: str | bytes) -> PlainAppend | None:
    """Return the append of a small frame. Whether its fields are an entry is not known yet. O(bytes)."""
    if not isinstance(data, str) or len(data) > JOINED_FRAME_BYTES_MAX or '"append"' not in data:
        return None
    raw = data.encode()
    try:
        row = _decode_row(raw)
    except UNREADABLE:
        return None
    if not keeps_members(raw, row):
        return None
    return PlainAppend(raw, row.id, row.key, row.fields)


def run_of(appends: Sequence[PlainAppend]) -> AppendRun | None:
    """Return appends to one stream as a run, None if one of them is invalid. O(bytes)."""
    request_ids = [append.request_id for append in appends]
    try:
        key = name_from_body(appends[0].key, None, "key")
        fragments = _fragments_of(request_ids, [append.fields for append in appends])
        return None if fragments is None else AppendRun(key, request_ids, fragments)
    except (*UNREADABLE, BadEntry, RequestRefused):
        return None


def _are_usable(request_ids: Sequence[Any]) -> bool:
    """Return whether all ids are strings or integers that every encoder can write."""
    if not _ID_TYPES.issuperset(map(type, request_ids)):
        return False
    numbers = [value for value in request_ids if type(value) is int]
    return not numbers or (min(numbers) >= _I64_MIN and max(numbers) <= I64_MAX)


def _fragments_of(
    request_ids: Sequence[Any], fields: Sequence[bytes | msgspec.Raw]
) -> Sequence[bytes] | None:
    """Return the entries of appends, None if an id cannot be used. Raises `BadEntry`."""
    fragments = fragments_from_ndjson(b"\n".join(fields))
    return fragments if len(fragments) == len(fields) and _are_usable(request_ids) else None


def _runs_of(rows: Sequence[_Row], fragments: Sequence[bytes]) -> Iterator[AppendRun]:
    """Yield the appends in runs to one stream, of at most one turn each. Raises `RequestRefused`."""
    start = 0
    for text, some in groupby(row.key for row in rows):
        key, stop = name_from_body(text, None, "key"), start + len(list(some))
        for first in range(start, stop, TURN_REQUESTS_MAX):
            part = slice(first, min(first + TURN_REQUESTS_MAX, stop))
            yield AppendRun(key, [row.id for row in rows[part]], fragments[part])
        start = stop
