"""The stored form of an entry's fields: the fragment.

A fragment is canonical JSON (compact, UTF-8, no raw newline), and its first byte says its kind::

    {"rider":"Castilla","speed":"30.2"}      fields: names are unique
    [["k","1"],["k","2"]]                    pairs: a name repeats
    ~{"AA==":"/w=="}  or  ~[[...],...]       the same in base64: some name or value is not UTF-8

An entry has exactly one fragment, whatever form a client sent it in. This module owns that form. It knows
nothing of ids, streams or HTTP; `core.log.entry_json` writes entries for clients.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX

BASE64_MARK: Final = b"~"
"""The first byte of a fragment in base64."""

_encode: Final = msgspec.json.Encoder().encode
_decode_fields: Final = msgspec.json.Decoder(dict[str, str]).decode
_decode_pairs: Final = msgspec.json.Decoder(list[tuple[str, str]])


class BadEntry(ValueError):
    """A client's entry is invalid or too large. The text says what is wrong, and where."""

    def __init__(self, message: str, *, too_large: bool = False) -> None:
        super().__init__(message)
        # True: the entry is well formed and exceeds a limit.
        self.too_large = too_large


# --- from Redis arguments --------------------------------------------------------------------------


def fragment_from_flat(flat: Sequence[bytes]) -> bytes:
    """Return the fragment of ``name value name value ...``; the length is even and not zero. O(bytes). Raises
    `BadEntry` if the entry is too large."""
    if len(flat) > 2 * FIELDS_PER_ENTRY_MAX:
        raise BadEntry(f"an entry may have {FIELDS_PER_ENTRY_MAX} fields at most", too_large=True)
    return _bounded(fragment_of_any_size(flat))


def fragment_of_any_size(flat: Sequence[bytes]) -> bytes:
    """Return the fragment of ``name value name value ...`` that may exceed the limits of an entry, because
    the server adds fields of its own to an entry within them. O(bytes)."""
    # For the few fields of most entries, this loop costs less than a list of texts and a zip.
    fields: dict[str, str] = {}
    following = iter(flat)
    try:
        for name in following:
            fields[name.decode()] = next(following).decode()
    except UnicodeDecodeError:
        return BASE64_MARK + _encode(_fields_or_pairs(list(map(_to_base64, flat))))
    if 2 * len(fields) == len(flat):
        return _encode(fields)
    return _encode(_fields_or_pairs([item.decode() for item in flat]))


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
    """Return ``[name, value, name, value, ...]``, byte for byte as the client sent them. O(bytes)."""
    encoded = fragment[:1] == BASE64_MARK
    texts = _texts_of(fragment[1:] if encoded else fragment)
    if encoded:
        return list(map(a2b_base64, texts))
    return [text.encode() for text in texts]


def _texts_of(body: bytes) -> Iterable[str]:
    if body[:1] == b"{":
        return chain.from_iterable(_decode_fields(body).items())
    return chain.from_iterable(_decode_pairs.decode(body))


def with_field(fragment: bytes, name: bytes, value: bytes) -> bytes:
    """Return the fragment with one more field at the end; unchanged if it has a field of that name. O(bytes).
    Raises `BadEntry` if the result is too large."""
    flat = flat_of(fragment)
    return fragment if name in flat[::2] else fragment_from_flat([*flat, name, value])


# --- from JSON -------------------------------------------------------------------------------------


def fragment_from_fields(raw: bytes | msgspec.Raw, *, base64: bool = False) -> bytes:
    """Return the fragment of a JSON object of strings, as a client sent it. O(bytes).

    `base64`: names and values are base64. Raises `BadEntry` if `raw` is not such an object, is empty or too
    large, or repeats a name: a parsed object would silently keep the last value only, so the error says to
    send pairs.
    """
    try:
        fields = _decode_fields(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadEntry(_readable(error)) from None
    fragment = _encode(fields)
    if fragment != raw and not is_whole(fragment, bytes(raw)):
        _refuse_repeated_names(bytes(raw))
    if not base64 and fields and len(fields) <= FIELDS_PER_ENTRY_MAX and len(fragment) <= ENTRY_BYTES_MAX:
        return fragment  # nothing is left to check: most entries end here
    return _checked(fields, fragment, base64=base64)


def fragment_from_pairs(raw: bytes | msgspec.Raw, *, base64: bool = False) -> bytes:
    """Return the fragment of a JSON array of ``[name, value]`` arrays. O(bytes). `base64` and `BadEntry` as
    in `fragment_from_fields`; names may repeat."""
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
    # Text that does not need base64 is stored as text, so that an entry has one stored form.
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
    """Whether the canonical form certainly has all fields of `raw`; parsing drops repeated names silently.
    May be False although no name repeats. O(bytes) in C.

    Without a backslash, every quotation mark begins or ends a string: equal counts mean equally many strings.
    """
    return canonical == raw or (b"\\" not in raw and canonical.count(b'"') == raw.count(b'"'))


def _readable(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8: send names and values as base64 with `encoding`"
    return str(error)


# --- other forms -----------------------------------------------------------------------------------


def reshaped(fragment: bytes, *, pairs: bool, base64: bool) -> bytes:
    """Return the fragment as pairs and in base64 if asked for; False: only where the entry needs it.
    O(bytes)."""
    encoded = fragment[:1] == BASE64_MARK
    texts = list(_texts_of(fragment[1:] if encoded else fragment))
    if base64 and not encoded:
        encoded = True
        texts = [_to_base64(text.encode()) for text in texts]
    mark = BASE64_MARK if encoded else b""
    if pairs:
        return mark + _encode(list(zip(texts[::2], texts[1::2], strict=True)))
    return mark + _encode(_fields_or_pairs(texts))
