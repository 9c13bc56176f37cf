"""Entries for printing: as text, as JSON, or from a template of the user.

It owns the text of printed entries, and standard output while a command prints them. Control characters are
escaped, so an entry cannot control the terminal. It also notices when the reader of our output has exited.
"""

from __future__ import annotations

import re
import select
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from tailrace.app.cli.output import visible_json
from tailrace.app.cli.redis.quoting import quoted
from tailrace.core.stream_id import id_ms, parse_id

TIME_MS_MIN: Final = 10**12
TIME_MS_MAX: Final = 10**14
"""Ids between these Unix milliseconds (2001 to 5138) are shown with a time. Other ids are counters."""

_DIM: Final = "\x1b[2m"
_CYAN: Final = "\x1b[36m"
_GREEN: Final = "\x1b[32m"
_PLAIN: Final = "\x1b[0m"
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")


class Line(NamedTuple):
    """One entry to print, and the key of its stream."""

    key: bytes
    entry: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Return the id of the entry. Raises `StreamError` if it is none."""
        value = str(self.entry["id"])
        parse_id(value.encode())
        return value

    @property
    def pairs(self) -> list[tuple[bytes, bytes]]:
        """Return names and values in order; empty for a deleted entry."""
        fields = self.entry.get("fields") or {}
        pairs = self.entry.get("pairs") or fields.items()
        as_bytes = b64decode if self.entry.get("encoding") == "base64" else str.encode
        return [(as_bytes(name), as_bytes(value)) for name, value in pairs]


Written: TypeAlias = Callable[[Line], str]


def as_text(line: Line, *, with_key: bool, colour: bool) -> str:
    """Return one line with the time, the key (if `with_key`), the id and the fields."""
    key = f"{_text(line.key)}  " if with_key else ""
    if not colour:
        return f"{_time(line.id)}  {key}{line.id}  {_fields(line)}"
    shown = " ".join(f"{_GREEN}{_text(name)}{_PLAIN}={_text(value)}" for name, value in line.pairs)
    return f"{_DIM}{_time(line.id)}{_PLAIN}  {key}{_CYAN}{line.id}{_PLAIN}  {shown or _fields(line)}"


def as_cells(line: Line) -> str:
    """Return the id and each field as `NAME=VALUE`, separated by tabs."""
    if line.entry.get("deleted"):
        return f"{line.id}\t{_fields(line)}"
    return "\t".join([line.id, *(f"{_text(name)}={_text(value)}" for name, value in line.pairs)])


def as_json(line: Line, *, with_key: bool) -> str:
    """Return the entry in the server's JSON form, with its `key` if `with_key`."""
    key = {"key": line.key.decode("utf-8", "backslashreplace")} if with_key else {}
    return visible_json(msgspec.json.encode({**key, **line.entry}).decode())


def from_template(template: str, line: Line) -> str:
    """Return `template` with `{time}`, `{key}`, `{id}`, `{fields}` and `{NAME}`, a field, replaced.

    Unknown names are replaced with an empty text.
    """
    known = {"time": _time(line.id), "key": _text(line.key), "id": line.id, "fields": _fields(line)}
    fields = {name.decode("utf-8", "backslashreplace"): _shown(value) for name, value in reversed(line.pairs)}
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], fields.get(found[1], "")), template)


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
    """Return a name or value as one word: quoted if it is empty or contains a blank, a quote or `=`."""
    shown = _shown(value)
    return quoted(value) if not value or " " in shown or '"' in shown or "=" in shown else shown


def _shown(value: bytes) -> str:
    """Return printable UTF-8 unchanged, and any other value quoted and escaped."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return quoted(value)
    return text if text.isprintable() else quoted(value)


# --- printing --------------------------------------------------------------------------------------


def print_lines(lines: Iterable[Line], written: Written) -> dict[bytes, str]:
    """Print the entries; return the last printed id of each stream."""
    _check_reader()
    last_ids = {}
    for line in lines:
        sys.stdout.buffer.write(written(line).encode("utf-8", "surrogateescape") + b"\n")
        last_ids[line.key] = line.id
    sys.stdout.buffer.flush()
    return last_ids


def _check_reader() -> None:
    """Raise `BrokenPipeError` if the reader of our output has exited. Without new output, no write would
    detect that."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(what & select.POLLERR for _, what in poll.poll(0)):
        raise BrokenPipeError
