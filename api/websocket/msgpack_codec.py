"""`tailrace.v1.msgpack`: binary frames, with raw bytes for what is not text.

The members are those of JSON. Names and values of an entry are `str` where all of it is UTF-8, else all of
them are `bin`; so nothing is base64, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from tailrace.api.websocket.codecs import (
    Codec,
    Envelope,
    NewEntry,
    RawAppend,
    RawCommand,
    RequestT,
    decoded_envelope,
    entry_refusal,
    has_fields,
    new_entry_of,
)
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import mismatch
from tailrace.api.wire.names import checked_name
from tailrace.core.grammar import Resp, Rows, SimpleString
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX
from tailrace.core.log.entry import BASE64_MARK, BadEntry, flat_of, fragment_from_flat
from tailrace.core.replies import Entries
from tailrace.core.stream_id import format_id


class MsgpackCodec(Codec):
    """Binary frames; names and values as raw bytes where they are not text."""

    subprotocol = "tailrace.v1.msgpack"
    is_text = False

    _decode_array: Final = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
    _decode_any: Final = msgspec.msgpack.Decoder().decode
    _decode_envelope: Final = msgspec.msgpack.Decoder(Envelope).decode
    _decode_append: Final = msgspec.msgpack.Decoder(RawAppend).decode
    _decode_command: Final = msgspec.msgpack.Decoder(RawCommand).decode
    _encode: Final = msgspec.msgpack.Encoder().encode

    def _split(self, raw: bytes) -> tuple[bool, list[bytes]]:
        if _is_msgpack_array(raw):
            return True, [bytes(part) for part in self._decode_array(raw)]
        self._decode_any(raw)
        return False, [raw]

    def envelope(self, raw: bytes) -> Envelope:
        """An object with these members."""
        return decoded_envelope(self._decode_envelope, raw)

    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """Read and checked by pydantic."""
        try:
            return model.model_validate(self._decode_any(raw))
        except UnicodeDecodeError:
            # pydantic names a member that it does not know, and fails where that is `bin` and no text.
            raise mismatch([("", "a request's members are named by `str`")]) from None

    def new_entry(self, raw: bytes) -> NewEntry:
        """Its fields are read once."""
        try:
            request = self._decode_append(raw)
            key = checked_name(_octets(self._decode_any(request.key)), "key")
            return new_entry_of(key, fragment_from_flat(self._flat(request)), request)
        except (*UNREADABLE, BadEntry) as error:
            raise entry_refusal(error) from None

    def _flat(self, request: RawAppend) -> list[bytes]:
        if not has_fields(request):
            return _flat_pairs(self._decode_any(request.pairs))
        fields = self._decode_any(request.fields)
        if not isinstance(fields, dict) or not fields:
            raise BadEntry("`fields` is a map with at least one name")
        if len(fields) != _msgpack_map_length(bytes(request.fields)):
            raise BadEntry("a name repeats in `fields`: send `pairs` instead")
        return [_octets(item) for item in chain.from_iterable(fields.items())]

    def words(self, raw: bytes) -> list[bytes]:
        """Strings, integers and bytes."""
        try:
            return _words(self._decode_any(self._decode_command(raw).command))
        except (*UNREADABLE, BadEntry) as error:
            raise mismatch([("", str(error))]) from None

    def encode(self, content: object) -> bytes:
        """A frame."""
        return self._encode(content)

    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """`str`, or `bin` where a name is not UTF-8."""
        return {member: None if name is None else _text_or_bytes(name) for member, name in names.items()}

    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """Maps; O(entries), since each is written anew."""
        plain = [
            {"id": format_id(value), **_content(fragment)}
            for value, fragment in zip(entries.ids, entries.fragments, strict=True)
        ]
        if deliveries:
            zeros = [0] * len(plain)
            times = zip(entries.idle_ms or zeros, entries.deliveries or zeros, strict=True)
            for entry, (idle_ms, count) in zip(plain, times, strict=True):
                entry |= {"idle_ms": idle_ms, "deliveries": count}
        return plain

    def result(self, reply: Resp) -> object:
        """Strings as `str`, or `bin` where one is not UTF-8."""
        if isinstance(reply, list | Rows):
            return [self.result(item) for item in reply]
        if isinstance(reply, bytes):
            return _text_or_bytes(reply)
        return str(reply) if isinstance(reply, SimpleString) else reply


_FIXARRAY: Final = range(0x90, 0xA0)
_ARRAYS: Final = (0xDC, 0xDD)
_FIXMAP_MASK: Final = 0x0F
_MAP_LENGTH_BYTES: Final = {0xDE: 2, 0xDF: 4}


def _is_msgpack_array(raw: bytes) -> bool:
    return bool(raw) and (raw[0] in _FIXARRAY or raw[0] in _ARRAYS)


def _msgpack_map_length(raw: bytes) -> int:
    """How many pairs a map says it has; a decoded one keeps only the last of those with equal names."""
    width = _MAP_LENGTH_BYTES.get(raw[0])
    return raw[0] & _FIXMAP_MASK if width is None else int.from_bytes(raw[1 : 1 + width])


def _flat_pairs(pairs: Any) -> list[bytes]:
    if not isinstance(pairs, list) or not pairs:
        raise BadEntry("`pairs` is an array with at least one pair")
    if not all(isinstance(pair, list) and len(pair) == len(("name", "value")) for pair in pairs):
        raise BadEntry("each of `pairs` is an array of a name and a value")
    return [_octets(item) for item in chain.from_iterable(pairs)]


def _words(words: object) -> list[bytes]:
    if not isinstance(words, list) or not words:
        raise BadEntry("`command` is an array with at least a name")
    if len(words) > COMMAND_ARGUMENTS_MAX:
        raise BadEntry(f"{len(words)} arguments: {COMMAND_ARGUMENTS_MAX} may be sent at once")
    return [str(word).encode() if type(word) is int else _octets(word) for word in words]


def _octets(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise BadEntry(f"names and values are `str` or `bin`, not {type(value).__name__}")


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _content(fragment: bytes | None) -> dict[str, Any]:
    if fragment is None:
        return {"deleted": True}
    is_binary = fragment[:1] == BASE64_MARK
    flat: Sequence[str | bytes] = flat_of(fragment)
    if not is_binary:
        flat = [item.decode() for item in flat_of(fragment)]
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    is_object = fragment[is_binary : is_binary + 1] == b"{"
    return {"fields": dict(pairs)} if is_object else {"pairs": pairs}
