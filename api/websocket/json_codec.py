"""`tailrace.v1.json`: text frames, in the JSON of the HTTP surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from tailrace.api.name_members import named
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.codecs import (
    Codec,
    Envelope,
    NewEntry,
    RawAppend,
    RawCommand,
    RequestT,
    decoded_envelope,
    encoding_of,
    entry_refusal,
    has_fields,
    new_entry_of,
)
from tailrace.api.websocket.requests import AppendRequest, CommandRequest
from tailrace.api.websocket_limits import CloseCode, ProtocolViolation
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import explained, require_few_elements
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.redis_words import decode_command, result_parts
from tailrace.api.wire.replies import entries_json
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar import Resp
from tailrace.core.limits import BODY_ELEMENTS_MAX, BULK_ELEMENTS_MAX
from tailrace.core.log.entry import BadEntry, Shape, fragment_from_fields, fragment_from_pairs
from tailrace.core.replies import Entries

_SPACE: Final = b" \t\r\n"


class JsonCodec(Codec):
    """Text frames; the JSON of the HTTP surface."""

    subprotocol = "tailrace.v1.json"
    is_text = True

    _decode_array: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
    _decode_one: Final = msgspec.json.Decoder(msgspec.Raw).decode
    _decode_envelope: Final = msgspec.json.Decoder(Envelope).decode
    _decode_append: Final = msgspec.json.Decoder(RawAppend).decode
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

    def envelope(self, raw: bytes) -> Envelope:
        """An object with these members."""
        return decoded_envelope(self._decode_envelope, raw)

    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """Read and checked by pydantic."""
        require_few_elements(raw, BODY_ELEMENTS_MAX)
        return model.model_validate_json(raw)

    def new_entry(self, raw: bytes) -> NewEntry:
        """Its fields are read once."""
        try:
            request = self._decode_append(raw)
            key = name_from_body(self._decode_text(request.key), encoding_of(request), "key")
            return new_entry_of(key, self._fragment(request), request)
        except (*UNREADABLE, BadEntry) as error:
            raise self._append_refusal(raw, error) from None

    def _fragment(self, request: RawAppend) -> bytes:
        base64 = encoding_of(request) is not None
        if has_fields(request):
            return fragment_from_fields(request.fields, base64=base64)
        return fragment_from_pairs(request.pairs, base64=base64)

    def _append_refusal(self, raw: bytes, error: Exception) -> RequestRefused:
        """The best that can be said of it: the model sees more places than the fast way does."""
        refusal = entry_refusal(error)
        if refusal.code is ErrorCode.ENTRY_TOO_LARGE:
            return refusal
        return explained(raw, AppendRequest, error)

    def words(self, raw: bytes) -> list[bytes]:
        """As the command endpoint takes them."""
        try:
            return decode_command(bytes(self._decode_command(raw).command))
        except UNREADABLE as error:
            raise explained(raw, CommandRequest, error) from None

    def encode(self, content: object) -> bytes:
        """A frame."""
        return self._encode(content)

    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """As text, or all base64."""
        return named(**names)

    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """Joined from the stored bytes."""
        return entries_json(entries, Shape.NATURAL, deliveries=deliveries)

    def result(self, reply: Resp) -> object:
        """As the command endpoint gives it."""
        return msgspec.Raw(b"".join(result_parts(reply, all_base64=False)))
