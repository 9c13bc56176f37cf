"""Formats replies in the three forms of redis-cli.

*Formatted*, for people: numbered, nested, strings quoted. *Raw*, for programs: unchanged bytes, one value per
line. *JSON*: one line per reply. It never chooses the form: options and the kind of output decide.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, cast

import msgspec

from tailrace.app.cli.output import visible, visible_json
from tailrace.app.cli.redis.quoting import quoted
from tailrace.app.cli.redis.replies import Failure, Reply, SimpleString, Words

RED: Final = "\x1b[31m"
PLAIN: Final = "\x1b[0m"


class Form(Enum):
    """The form of printed replies."""

    FORMATTED = "formatted"
    RAW = "raw"
    JSON = "json"


def written(reply: Reply, form: Form, words: Words = (), *, colour: bool = False) -> bytes:
    """Return the formatted reply to the command `words`, with its line end."""
    if form is Form.FORMATTED and _is_text(words, reply):
        return _text(cast("bytes", reply))
    return _WRITERS[form](reply, colour)


def _is_text(words: Words, reply: Reply) -> bool:
    """Return whether the reply is the text of INFO, which is shown unquoted because it has many lines."""
    return bool(words) and words[0].upper() == b"INFO" and isinstance(reply, bytes)


def _text(reply: bytes) -> bytes:
    lines = reply.decode("utf-8", "backslashreplace").split("\r\n")
    return "\r\n".join(map(visible, lines)).encode() + b"\n"


# --- formatted -------------------------------------------------------------------------------------


def _formatted(reply: Reply, colour: bool) -> bytes:  # noqa: FBT001 - one of a table of writers
    return _lines(reply, "", colour=colour).encode()


def _lines(reply: Reply, margin: str, *, colour: bool) -> str:
    """Format one value. Its first line has no margin: the enclosing list puts the item's number there."""
    if isinstance(reply, list):
        return _numbered(reply, margin, colour=colour) if reply else "(empty array)\n"
    return f"{_scalar(reply, colour=colour)}\n"


def _numbered(items: list[Reply], margin: str, *, colour: bool) -> str:
    width = len(str(len(items)))
    inner = margin + " " * (width + 2)
    written = [
        f"{number:>{width}}) {_lines(item, inner, colour=colour)}"
        for number, item in enumerate(items, start=1)
    ]
    return margin.join(written)


def _scalar(reply: int | bytes | SimpleString | Failure | None, *, colour: bool) -> str:
    if reply is None:
        return "(nil)"
    if isinstance(reply, Failure):
        text = f"(error) {visible(reply.line)}"
        return f"{RED}{text}{PLAIN}" if colour else text
    if isinstance(reply, bytes):
        return quoted(reply)
    return f"(integer) {reply}" if isinstance(reply, int) else visible(reply)


# --- raw -------------------------------------------------------------------------------------------


def _raw(reply: Reply, colour: bool) -> bytes:  # noqa: ARG001, FBT001 - raw is without colours
    # As in redis-cli, an error adds a line end of its own before that of the reply.
    return _raw_value(reply) + b"\n"


def _raw_value(reply: Reply) -> bytes:
    if reply is None:
        return b""
    if isinstance(reply, list):
        return b"\n".join(map(_raw_value, reply))
    if isinstance(reply, Failure):
        return reply.line.encode() + b"\n"
    return reply if isinstance(reply, bytes) else str(reply).encode()


# --- JSON ------------------------------------------------------------------------------------------


def _json(reply: Reply, colour: bool) -> bytes:  # noqa: ARG001, FBT001 - JSON is without colours
    return visible_json(msgspec.json.encode(_json_value(reply)).decode()).encode() + b"\n"


def _json_value(reply: Reply) -> Any:
    """Return the value in the server's JSON form: bytes that are not UTF-8 become `{"base64": ...}`."""
    if isinstance(reply, list):
        return [_json_value(item) for item in reply]
    if isinstance(reply, Failure):
        return {"error": reply.line}
    if isinstance(reply, bytes):
        try:
            return reply.decode()
        except UnicodeDecodeError:
            return {"base64": reply}
    return str(reply) if isinstance(reply, SimpleString) else reply


_WRITERS: Final[dict[Form, Callable[[Reply, bool], bytes]]] = {
    Form.FORMATTED: _formatted,
    Form.RAW: _raw,
    Form.JSON: _json,
}
