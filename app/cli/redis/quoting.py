r"""Splits typed lines into words and quotes values, by the rules of redis-cli.

Blanks separate words. Inside ``"..."``, the escapes are ``\n \r \t \b \a``, ``\xHH`` for any byte, and a
backslash before any other character for that character. Inside ``'...'``, the only escape is ``\'``. A blank
or the end of the line must follow a closing quote. Lines are bytes and may be invalid UTF-8.
"""

from __future__ import annotations

import re
from typing import Final

_BLANKS: Final = b" \t\n\r\v\f\0"
_ESCAPES: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a"}

_DOUBLE: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"(?=[\s\0]|\Z)', re.DOTALL)
_SINGLE: Final = re.compile(rb"'((?:\\'|[^'])*+)'(?=[\s\0]|\Z)", re.DOTALL)
_BARE: Final = re.compile(rb"[^ \t\n\r\0\"']+")
_ESCAPED: Final = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class Unbalanced(ValueError):
    """A quote is not closed, or a character other than a blank follows a closing quote."""


def split_words(line: bytes) -> list[bytes]:
    """Return the words of `line`. Raises `Unbalanced`. O(bytes)."""
    words = []
    at = _past_blanks(line, 0)
    while at < len(line):
        word, at = _word(line, at)
        words.append(word)
        at = _past_blanks(line, at)
    return words


def _past_blanks(line: bytes, at: int) -> int:
    while at < len(line) and line[at] in _BLANKS:
        at += 1
    return at


def _word(line: bytes, at: int) -> tuple[bytes, int]:
    """Return the word that begins at `at`, and its end.

    A quoted part may follow a bare part; it ends the word. Raises `Unbalanced`.
    """
    bare = _BARE.match(line, at)
    begun = b"" if bare is None else bare[0]
    at += len(begun)
    if at == len(line) or line[at] in _BLANKS:
        return begun, at
    if (quoted := _DOUBLE.match(line, at)) is not None:
        return begun + _ESCAPED.sub(_unescaped, quoted[1]), quoted.end()
    if (quoted := _SINGLE.match(line, at)) is not None:
        return begun + quoted[1].replace(rb"\'", b"'"), quoted.end()
    raise Unbalanced("Invalid argument(s)")


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return bytes.fromhex(found[1].decode())
    return _ESCAPES.get(found[2], found[2])


def quoted(value: bytes) -> str:
    """Return `value` as redis-cli shows it: in double quotes, with all but printable ASCII escaped.

    O(bytes).
    """
    return f'"{"".join(map(_SHOWN.__getitem__, value))}"'


def _shown(byte: int) -> str:
    for name, raw in _ESCAPES.items():
        if raw[0] == byte:
            return f"\\{name.decode()}"
    character = chr(byte)
    if character in '"\\':
        return f"\\{character}"
    return character if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"  # noqa: PLR2004 - printable ASCII


_SHOWN: Final = [_shown(byte) for byte in range(256)]
