"""Prints what commands say. It is the only place where a command writes text to standard output or error.

Keys, names, fields and replies come from other clients and from the server, and can have any characters.
Everything that is not printable is therefore escaped here: control characters, which a terminal would obey,
and characters that change the direction of text. In a pipe they would forge lines and columns.

Exceptions: replies in the raw form of `redis-cli`, and the files of `tailrace export`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
import typer

_ESCAPED_BYTES: Final = range(0xDC80, 0xDD00)
"""Python decodes a byte of an argument that is not UTF-8 as one of these."""

_BMP: Final = 0x10000


def say(line: str, *, err: bool = False, style: tuple[str, str] = ("", "")) -> None:
    """Print one line. `style`: what begins and ends its colour."""
    typer.echo(visible(line).join(style), err=err)


def note(sentence: str) -> None:
    """Print a sentence for the user to standard error."""
    say(f"tailrace: {sentence}", err=True)


def counted(count: int, name: str) -> str:
    """Return a number with the noun that it counts: `1 entry`, `2,000 entries`."""
    plural = f"{name.removesuffix('y')}ies" if name.endswith("y") else f"{name}s"
    return f"{count:,} {name if count == 1 else plural}"


def say_row(cells: Iterable[str]) -> None:
    """Print cells, separated by tabs."""
    typer.echo("\t".join(map(visible, cells)))


def say_json(item: object, *, indent: int = 0) -> None:
    """Print a value as JSON: one line, unless it is indented."""
    encoded = msgspec.json.encode(item)
    typer.echo(visible_json((msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()))


def visible(text: str) -> str:
    """Return `text` with everything escaped that is not printable. O(len(text))."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if code in _ESCAPED_BYTES:
        return f"\\x{code & 0xFF:02x}"
    return character.encode("unicode_escape").decode()


def visible_json(text: str) -> str:
    """Return JSON of the same value, with escapes for everything but line ends that is not printable."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else _escaped_in_json(each) for each in text)


def _escaped_in_json(character: str) -> str:
    code = ord(character)
    if code < _BMP:
        return f"\\u{code:04x}"
    code -= _BMP
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
