"""The subprotocol `tailrace.v1.msgpack`: binary frames, with raw bytes where JSON needs base64.

It has the same members as JSON. The names and values of an entry are `str` if all of them are UTF-8,
otherwise all of them are `bin`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any, Final

import msgspec

from tailrace.api.websocket.codecs import (
    Codec,
    Envelope,
    RawAppend,
    RawCommand,
    RequestT,
    append_of,
    decoded_envelope,
    entry_refusal,
    has_fields,
)
from tailrace.api.websocket_limits import REQUESTS_PER_FRAME_MAX
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import mismatch
from tailrace.api.wire.members import repetition
from tailrace.api.wire.names import checked_name
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.grammar import Resp, Rows, SimpleString
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX
from tailrace.core.log.entry import BASE64_MARK, BadEntry, flat_of, fragment_from_flat
from tailrace.core.replies import Entries
from tailrace.core.stream_id import format_id


def _decoder(type_: Any) -> Callable[[bytes | msgspec.Raw], Any]:
    """Return a function that decodes a value of this type. It raises one of `UNREADABLE`."""
    decode = msgspec.msgpack.Decoder(type_).decode

    def decoded(raw: bytes | msgspec.Raw) -> Any:
        try:
            return decode(raw)
        except msgspec.DecodeError:
            raise
        except ValueError as error:  # msgspec rounds the last microsecond of the year 9999 up
            raise msgspec.DecodeError(str(error)) from None

    return decoded


class MsgpackCodec(Codec):
    """Reads and writes binary frames."""

    subprotocol = "tailrace.v1.msgpack"
    is_text = False

    _decode_array: Final = staticmethod(_decoder(list[msgspec.Raw]))
    _decode_one: Final = staticmethod(_decoder(msgspec.Raw))
    _decode_members: Final = staticmethod(_decoder(dict[Any, msgspec.Raw]))
    _decode_any: Final = staticmethod(_decoder(Any))
    _decode_envelope: Final = staticmethod(_decoder(Envelope))
    _decode_append: Final = staticmethod(_decoder(RawAppend))
    _decode_command: Final = staticmethod(_decoder(RawCommand))
    _encode: Final = msgspec.msgpack.Encoder().encode

    def _split(self, raw: bytes) -> tuple[bool, list[bytes]]:
        if _is_msgpack_array(raw):
            return True, [bytes(part) for part in self._decode_array(raw)]
        return False, [bytes(self._decode_one(raw))]

    def envelope(self, raw: bytes) -> Envelope:
        """Return the id and op of a request. Raises `RequestRefused` if the request is not a map."""
        return decoded_envelope(self._decode_envelope, raw)

    def _require_unique(self, raw: bytes) -> None:
        """Raise `RequestRefused` 400 if a member is repeated."""
        place = self._repeated_in(raw, "")
        if place is not None:
            raise repetition(place)

    def _repeated_in(self, raw: bytes, place: str) -> str | None:
        """Return the place of a map with a repeated member, in arrays of maps as well; None without one. A
        decoded map keeps only the last value."""
        if _is_msgpack_array(raw):
            items = [bytes(item) for item in self._decode_array(raw)]
            if not items or not _is_msgpack_map(items[0]):
                return None
            members = [(str(number), item) for number, item in enumerate(items)]
        elif _is_msgpack_map(raw):
            found = self._decode_members(raw)
            if len(found) != _msgpack_map_length(raw):
                return place
            members = [(str(name), bytes(item)) for name, item in found.items() if name != "fields"]
        else:
            return None
        places = (self._repeated_in(item, f"{place}/{name}") for name, item in members)
        return next((each for each in places if each is not None), None)

    def request(self, raw: bytes, model: type[RequestT]) -> RequestT:
        """Return the request, checked by pydantic. Raises `RequestRefused`."""
        try:
            self._require_unique(raw)
            members = self._decode_any(raw)
        except UNREADABLE as error:
            raise mismatch([("", str(error))]) from None
        try:
            return model.model_validate(members)
        except UnicodeDecodeError:
            # pydantic decodes the name of an unknown member, and fails if it is `bin` and not UTF-8.
            raise mismatch([("", "the names of a request's members must be `str`")]) from None

    def append(self, raw: bytes) -> Append | ScheduleEntries:
        """Return the command of an `append`; its fields are parsed once. Raises `RequestRefused`."""
        try:
            request = self._decode_append(raw)
            key = checked_name(_octets(self._decode_any(request.key)), "key")
            command = append_of(key, fragment_from_flat(self._flat(request)), request)
        except (*UNREADABLE, BadEntry) as error:
            raise entry_refusal(error) from None
        self._require_unique(raw)
        return command

    def _flat(self, request: RawAppend) -> list[bytes]:
        if not has_fields(request):
            return _flat_pairs(self._decode_any(request.pairs))
        fields = self._decode_any(request.fields)
        if not isinstance(fields, dict) or not fields:
            raise BadEntry("`fields` must be a map with at least one name")
        if len(fields) != _msgpack_map_length(bytes(request.fields)):
            raise BadEntry("a name repeats in `fields`; send `pairs` instead")
        return [_octets(item) for item in chain.from_iterable(fields.items())]

    def words(self, raw: bytes) -> list[bytes]:
        """Return the words of a `command`: strings, integers and bytes. Raises `RequestRefused`."""
        try:
            words = _words(self._decode_any(self._decode_command(raw).command))
        except (*UNREADABLE, BadEntry) as error:
            raise mismatch([("", str(error))]) from None
        self._require_unique(raw)
        return words

    def encode(self, content: object) -> bytes:
        """Return one frame with `content`."""
        return self._encode(content)

    def piece(self, frames: Sequence[bytes]) -> bytes:
        """Return the contents as a piece of an array."""
        return b"".join(frames)

    def joined(self, pieces: Sequence[bytes], count: int) -> bytes:
        """Return one frame with an array of the contents in `pieces`."""
        if count <= _FIXARRAY_LENGTH_MAX:
            return b"%c%b" % (_FIXARRAY[count], b"".join(pieces))
        return b"%c%b%b" % (_ARRAYS[0], count.to_bytes(2), b"".join(pieces))

    def names(self, **names: bytes | None) -> Mapping[str, object]:
        """Return the names as `str`, or as `bin` if not UTF-8."""
        return {member: None if name is None else _text_or_bytes(name) for member, name in names.items()}

    def entries(self, entries: Entries, *, deliveries: bool = False) -> object:
        """Return the entries as maps. O(entries), because each one is converted from its stored JSON."""
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
        """Return a RESP2 reply, with strings as `str`, or as `bin` if not UTF-8."""
        if isinstance(reply, list | Rows):
            return [self.result(item) for item in reply]
        if isinstance(reply, bytes):
            return _text_or_bytes(reply)
        return str(reply) if isinstance(reply, SimpleString) else reply


_FIXARRAY: Final = range(0x90, 0xA0)
_FIXARRAY_LENGTH_MAX: Final = 15
_ARRAYS: Final = (0xDC, 0xDD)
assert REQUESTS_PER_FRAME_MAX < 1 << 16, "the length of an array of replies takes two bytes"
_FIXMAP: Final = range(0x80, 0x90)
_FIXMAP_MASK: Final = 0x0F
_MAP_LENGTH_BYTES: Final = {0xDE: 2, 0xDF: 4}


def _is_msgpack_array(raw: bytes) -> bool:
    return bool(raw) and (raw[0] in _FIXARRAY or raw[0] in _ARRAYS)


def _is_msgpack_map(raw: bytes) -> bool:
    return bool(raw) and (raw[0] in _FIXMAP or raw[0] in _MAP_LENGTH_BYTES)


def _msgpack_map_length(raw: bytes) -> int:
    """Return the number of pairs that a map declares. The decoded map keeps only the last of equal names."""
    width = _MAP_LENGTH_BYTES.get(raw[0])
    return raw[0] & _FIXMAP_MASK if width is None else int.from_bytes(raw[1 : 1 + width])


def _flat_pairs(pairs: Any) -> list[bytes]:
    if not isinstance(pairs, list) or not pairs:
        raise BadEntry("`pairs` must be an array with at least one pair")
    if not all(isinstance(pair, list) and len(pair) == len(("name", "value")) for pair in pairs):
        raise BadEntry("each of `pairs` must be an array of a name and a value")
    return [_octets(item) for item in chain.from_iterable(pairs)]


def _words(words: object) -> list[bytes]:
    if not isinstance(words, list) or not words:
        raise BadEntry("`command` must be an array with at least a name")
    if len(words) > COMMAND_ARGUMENTS_MAX:
        raise BadEntry(f"the command has {len(words)} arguments; at most {COMMAND_ARGUMENTS_MAX} are allowed")
    return [str(word).encode() if type(word) is int else _octets(word) for word in words]


_KINDS: Final = {NoneType: "nil", bool: "bool", int: "int", float: "float", list: "array", dict: "map"}
"""How MessagePack calls the types that are neither text nor bytes. `bool` is before `int`, its base."""


def _octets(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    kind = next((name for type_, name in _KINDS.items() if isinstance(value, type_)), "ext")
    raise BadEntry(f"names and values must be `str` or `bin`, not `{kind}`")


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
