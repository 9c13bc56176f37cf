r"""A typed line as words, by the rules of redis-cli.

Words stand between blanks. ``"..."`` knows ``\n \r \t \b \a``, ``\xHH`` for any byte, and a backslash before
any other character stands for that character. ``'...'`` knows only ``\'``. A closing quote is followed by a
blank or the end. Bytes in, bytes out: a line need not be UTF-8.
"""

from __future__ import annotations

import re
from typing import Final

_BLANKS: Final = b" \t\n\r\v\f\0"
_ESCAPES: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a"}

_DOUBLE: Final = re.compile(rb'"((?:[^"\\]|\\.)*)"(?=[\s\0]|\Z)', re.DOTALL)
_SINGLE: Final = re.compile(rb"'((?:\\'|[^'])*)'(?=[\s\0]|\Z)", re.DOTALL)
_BARE: Final = re.compile(rb"[^ \t\n\r\0\"']+")
_ESCAPED: Final = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)


class Unbalanced(ValueError):
    """A quote is not closed, or something follows it directly."""


def split_words(line: bytes) -> list[bytes]:
    """The words of `line`. Raises `Unbalanced`. O(bytes)."""
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
    """The word that begins at `at`; a quoted part may follow a bare one, and ends the word."""
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
    """`value` as redis-cli shows a string: in double quotes, what is not printable ASCII escaped."""
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
