"""Entries as they came, and as they are printed: for eyes, as JSON, or in a form of the user's own.

It owns their text. Whatever an entry holds, it cannot write anything but visible characters to a terminal.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from tailrace.app.cli.redis.quoting import quoted
from tailrace.core.stream_id import id_ms, parse_id

TIME_MS_MIN: Final = 10**12
TIME_MS_MAX: Final = 10**14
"""The milliseconds that are shown as a time: from 2001 on, for some thousand years. Others are a counter."""

_DIM: Final = "\x1b[2m"
_CYAN: Final = "\x1b[36m"
_GREEN: Final = "\x1b[32m"
_PLAIN: Final = "\x1b[0m"
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")


class Line(NamedTuple):
    """One entry to print, and the stream that it is of."""

    key: bytes
    entry: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The entry's id."""
        return str(self.entry["id"])

    @property
    def pairs(self) -> list[tuple[bytes, bytes]]:
        """Names and values, in order; none of an entry that was deleted."""
        fields = self.entry.get("fields") or {}
        pairs = self.entry.get("pairs") or fields.items()
        as_bytes = b64decode if self.entry.get("encoding") == "base64" else str.encode
        return [(as_bytes(name), as_bytes(value)) for name, value in pairs]


Written: TypeAlias = Callable[[Line], str]


def for_eyes(line: Line, *, with_key: bool, colour: bool) -> str:
    """Time, stream (where there are several), id and fields."""
    key = f"{_text(line.key)}  " if with_key else ""
    if not colour:
        return f"{_time(line.id)}  {key}{line.id}  {_fields(line)}"
    shown = " ".join(f"{_GREEN}{_text(name)}{_PLAIN}={_text(value)}" for name, value in line.pairs)
    return f"{_DIM}{_time(line.id)}{_PLAIN}  {key}{_CYAN}{line.id}{_PLAIN}  {shown or _fields(line)}"


def as_json(line: Line, *, with_key: bool) -> str:
    """The entry as the server's JSON has it; with its `key` where there are several streams."""
    key = {"key": line.key.decode("utf-8", "backslashreplace")} if with_key else {}
    return msgspec.json.encode({**key, **line.entry}).decode()


def in_form(form: str, line: Line) -> str:
    """`form` with `{time}`, `{key}`, `{id}`, `{fields}` put in, and `{name}` for the field of that name."""
    known = {"time": _time(line.id), "key": _text(line.key), "id": line.id, "fields": _fields(line)}
    fields = {name.decode("utf-8", "backslashreplace"): _shown(value) for name, value in reversed(line.pairs)}
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], fields.get(found[1], "")), form)


def _fields(line: Line) -> str:
    if line.entry.get("deleted"):
        return "(deleted)"
    return " ".join(f"{_text(name)}={_text(value)}" for name, value in line.pairs)


def _time(entry_id: str) -> str:
    ms = id_ms(parse_id(entry_id.encode()))
    if not TIME_MS_MIN <= ms < TIME_MS_MAX:
        return "-"
    moment = datetime.fromtimestamp(ms // 1000, UTC).astimezone()
    return f"{moment:%Y-%m-%d %H:%M:%S}.{ms % 1000:03}"


def _text(value: bytes) -> str:
    """A name or value between blanks: quoted where it is empty or could be misread there."""
    shown = _shown(value)
    return quoted(value) if not value or " " in shown or '"' in shown or "=" in shown else shown


def _shown(value: bytes) -> str:
    """Text as it is where all of it is visible, else with escapes."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return quoted(value)
    return text if text.isprintable() else quoted(value)
