"""One entry's fields, in the one form in which they are stored and sent: the fragment.

A fragment is canonical JSON (compact, UTF-8, no raw newline), and its first byte tells its kind::

    {"rider":"Castilla","speed":"30.2"}      fields: names are unique
    [["k","1"],["k","2"]]                    pairs: a name repeats
    ~{"AA==":"/w=="}  or  ~[[...],...]       the same in base64: some name or value is not UTF-8

It becomes an entry on the wire by wrapping, without looking inside: ``{"id":"1-0","fields":`` +
fragment + ``}``. This module knows that form, and nothing of streams, ids' order or HTTP.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from itertools import chain
from typing import Any, Final

import msgspec

from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

BASE64_MARK: Final = b"~"

_encode: Final = msgspec.json.Encoder().encode
_decode_fields: Final = msgspec.json.Decoder(dict[str, str])
_decode_pairs: Final = msgspec.json.Decoder(list[tuple[str, str]])


class BadEntry(ValueError):
    """An entry as a client wrote it cannot be taken; the text says what and where.

    `too_large`: it is well formed and over a limit.
    """

    def __init__(self, message: str, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.too_large = too_large


class Shape(Enum):
    """How entries are written for a client that asks (``?shape=``, ``?encoding=``)."""

    NATURAL = "natural"
    """`fields` where names are unique, else `pairs`; base64 only where it must be."""
    PAIRS = "pairs"
    NATURAL_BASE64 = "natural+base64"
    PAIRS_BASE64 = "pairs+base64"


# --- from Redis arguments --------------------------------------------------------------------------


def fragment_from_flat(flat: Sequence[bytes]) -> bytes:
    """The fragment of ``name value name value ...``; O(bytes). The length is even and not zero."""
    if len(flat) > 2 * FIELDS_PER_ENTRY_MAX:
        raise BadEntry(f"an entry may have {FIELDS_PER_ENTRY_MAX} fields at most", too_large=True)
    try:
        fragment = _encode(_fields_or_pairs([item.decode() for item in flat]))
    except UnicodeDecodeError:
        fragment = BASE64_MARK + _encode(_fields_or_pairs(list(map(_to_base64, flat))))
    return _bounded(fragment)


def _fields_or_pairs(texts: Sequence[str]) -> dict[str, str] | list[tuple[str, str]]:
    following = iter(texts)
    fields = dict(zip(following, following))  # noqa: B905 - pairs taken from one iterator
    if 2 * len(fields) == len(texts):
        return fields
    return list(zip(texts[::2], texts[1::2], strict=True))


def _bounded(fragment: bytes) -> bytes:
    if len(fragment) > ENTRY_BYTES_MAX:
        raise BadEntry(
            f"an entry may take {ENTRY_BYTES_MAX} bytes at most, this one takes {len(fragment)}",
            too_large=True,
        )
    return fragment


def flat_of(fragment: bytes) -> list[bytes]:
    """``[name, value, name, value, ...]`` as they were given, byte for byte. O(bytes)."""
    encoded = fragment[:1] == BASE64_MARK
    texts = _texts_of(fragment[1:] if encoded else fragment)
    if encoded:
        return list(map(a2b_base64, texts))
    return [text.encode() for text in texts]


def names_of(fragment: bytes) -> Collection[str]:
    """The names of a fragment of fields. O(bytes)."""
    return _decode_fields.decode(fragment)


def _texts_of(body: bytes) -> Iterable[str]:
    if body[:1] == b"{":
        return chain.from_iterable(_decode_fields.decode(body).items())
    return chain.from_iterable(_decode_pairs.decode(body))


def with_field(fragment: bytes, name: bytes, value: bytes) -> bytes:
    """The fragment with one more field, the last; as it is where it has one of that name. O(bytes)."""
    flat = flat_of(fragment)
    return fragment if name in flat[::2] else fragment_from_flat([*flat, name, value])


# --- from JSON -------------------------------------------------------------------------------------


def fragment_from_fields(raw: bytes | msgspec.Raw, *, base64: bool = False) -> bytes:
    """The fragment of a JSON object of strings, as a client wrote it.

    Raises `BadEntry` where it is no such object, is empty, or repeats a name: a parsed object would
    silently keep only the last of those, so the client is told to send pairs.
    """
    try:
        fields = _decode_fields.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadEntry(_readable(error)) from None
    fragment = _encode(fields)
    if fragment != raw and not is_whole(fragment, bytes(raw)):
        _refuse_repeated_names(bytes(raw))
    return _checked(fields, fragment, base64=base64)


def fragment_from_pairs(raw: bytes | msgspec.Raw, *, base64: bool = False) -> bytes:
    """The fragment of a JSON array of ``[name, value]`` arrays; raises `BadEntry`."""
    try:
        pairs = _decode_pairs.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadEntry(_readable(error)) from None
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return _checked(fields, _encode(fields), base64=base64)
    return _checked(pairs, _encode(pairs), base64=base64)


def _checked(content: dict[str, str] | list[tuple[str, str]], fragment: bytes, *, base64: bool) -> bytes:
    if not content:
        raise BadEntry("an entry needs at least one field")
    if len(content) > FIELDS_PER_ENTRY_MAX:
        raise BadEntry(f"an entry may have {FIELDS_PER_ENTRY_MAX} fields at most", too_large=True)
    if not base64:
        return _bounded(fragment)
    pairs = content.items() if isinstance(content, dict) else content
    # Decoded and written anew: text that need not be base64 is stored as text, so that an entry has
    # one stored form however it was sent.
    return fragment_from_flat([from_base64(text) for text in chain.from_iterable(pairs)])


def _to_base64(item: bytes) -> str:
    return b2a_base64(item, newline=False).decode()


def from_base64(text: str) -> bytes:
    """Return the bytes that `text` encodes. Raises `BadEntry` if it is not base64 (RFC 4648, with
    padding)."""
    try:
        return a2b_base64(text, strict_mode=True)
    except ValueError:
        raise BadEntry(f"not base64: {text[:40]!r}") from None


def _refuse_repeated_names(raw: bytes) -> None:
    def hook(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise BadEntry(f"the name {name!r} repeats in `fields`: send `pairs` instead")
            seen.add(name)

    json.loads(raw, object_pairs_hook=hook)


def is_whole(canonical: bytes, raw: bytes) -> bool:
    """Whether nothing was lost between `raw` and its canonical form: no name repeats, which a parsed object
    drops silently. Sufficient, not necessary; O(bytes) in C.

    Without a backslash every quotation mark begins or ends a string, so as many marks are as many strings.
    """
    return canonical == raw or (b"\\" not in raw and canonical.count(b'"') == raw.count(b'"'))


def _readable(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8: send names and values as base64 with `encoding`"
    return str(error)


# --- to the wire -----------------------------------------------------------------------------------

_IDS_MASK: Final = U64_MAX
_PIECE_ENTRIES: Final = 500
_PLAIN: Final = b'{"id":"%d-%d","fields":%b}'
_NEW: Final = b'{"id":"%d-%d","fields":%b,"idle_ms":0,"deliveries":0}'
_CLAIMED: Final = b'{"id":"%d-%d","fields":%b,"idle_ms":%d,"deliveries":%d}'


def wire_entries(entries: Entries, shape: Shape = Shape.NATURAL, *, deliveries: bool = False) -> bytes:
    """The entries as a JSON array. O(bytes); about 0.3 us an entry where all are plain.

    `deliveries`: write `idle_ms` and `deliveries` with each, zeros where the reply has none.
    """
    return b"[" + _written(entries, shape, b",", deliveries=deliveries) + b"]"


def wire_ndjson(entries: Entries, shape: Shape = Shape.NATURAL) -> bytes:
    """The entries as one JSON object a line; there is at least one."""
    return _written(entries, shape, b"\n", deliveries=False) + b"\n"


def _written(entries: Entries, shape: Shape, separator: bytes, *, deliveries: bool) -> bytes:
    if _are_plain(entries, shape):
        return _plain_entries(entries, separator, deliveries=deliveries)
    return separator.join(wire_lines(entries, shape, deliveries=deliveries))


def _are_plain(entries: Entries, shape: Shape) -> bool:
    """Whether all are written the same way, without looking into any."""
    fragments: Sequence[Any] = entries.fragments
    if shape is not Shape.NATURAL or not fragments or None in fragments:
        return False
    # Fields begin with a brace, and nothing else does; bytes are compared in C.
    return bool(min(fragments) >= b"{" and max(fragments) < b"|")


def _plain_entries(entries: Entries, separator: bytes, *, deliveries: bool) -> bytes:
    """All entries, some hundred in one go: formatting each by itself costs half as much again."""
    template = _NEW if deliveries else _PLAIN
    columns: list[Sequence[Any]] = [entries.fragments]
    if deliveries and entries.idle_ms is not None and entries.deliveries is not None:
        template = _CLAIMED
        columns += [entries.idle_ms, entries.deliveries]
    pieces = []
    for start in range(0, len(entries.ids), _PIECE_ENTRIES):
        piece = slice(start, start + _PIECE_ENTRIES)
        ids = entries.ids[piece]
        each, *numbers = _template_and_numbers(template, ids)
        filled = [*numbers, *[column[piece] for column in columns]]
        parts: list[Any] = [None] * (len(filled) * len(ids))
        for number, column in enumerate(filled):
            parts[number :: len(filled)] = column
        pieces.append(separator.join([each] * len(ids)) % tuple(parts))
    return separator.join(pieces)


def _template_and_numbers(
    template: bytes, ids: Sequence[StreamId]
) -> tuple[bytes, *tuple[Sequence[int], ...]]:
    """The template of each entry, and the numbers of the ids that are filled in. Those of entries that were
    appended together follow each other within a millisecond, which then is a part of the template."""
    time = ids[0] >> SEQ_BITS
    if isinstance(ids, range) and time == ids[-1] >> SEQ_BITS:
        first, last = ids[0] & _IDS_MASK, ids[-1] & _IDS_MASK
        return template.replace(b"%d", b"%d" % time, 1), range(first, last + 1)
    return template, [value >> SEQ_BITS for value in ids], [value & _IDS_MASK for value in ids]


def wire_lines(entries: Entries, shape: Shape = Shape.NATURAL, *, deliveries: bool = False) -> list[bytes]:
    """The entries as one JSON object each."""
    ids, fragments = entries.ids, entries.fragments
    idle_ms = entries.idle_ms or [0] * len(ids)
    counts = entries.deliveries or [0] * len(ids)
    return [
        b'{"id":"%d-%d",%b%b}'
        % (
            value >> SEQ_BITS,
            value & _IDS_MASK,
            _members(fragment, shape),
            b',"idle_ms":%d,"deliveries":%d' % (idle, count) if deliveries else b"",
        )
        for value, fragment, idle, count in zip(ids, fragments, idle_ms, counts, strict=True)
    ]


def _members(fragment: bytes | None, shape: Shape) -> bytes:
    """What stands between an entry's id and its closing brace."""
    if fragment is None:
        return b'"deleted":true'
    if shape is not Shape.NATURAL:
        fragment = _reshaped(fragment, shape)
    if fragment[:1] == BASE64_MARK:
        return _named(fragment[1:]) + b',"encoding":"base64"'
    return _named(fragment)


def _named(body: bytes) -> bytes:
    return (b'"fields":' if body[:1] == b"{" else b'"pairs":') + body


def _reshaped(fragment: bytes, shape: Shape) -> bytes:
    encoded = fragment[:1] == BASE64_MARK
    texts = list(_texts_of(fragment[1:] if encoded else fragment))
    if not encoded and shape in (Shape.NATURAL_BASE64, Shape.PAIRS_BASE64):
        encoded = True
        texts = [_to_base64(text.encode()) for text in texts]
    mark = BASE64_MARK if encoded else b""
    if shape in (Shape.PAIRS, Shape.PAIRS_BASE64):
        return mark + _encode(list(zip(texts[::2], texts[1::2], strict=True)))
    return mark + _encode(_fields_or_pairs(texts))
