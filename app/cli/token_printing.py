"""Formats tokens for `tailrace token`: one-line descriptions, the rows of a list, and JSON.

It owns the printed form of tokens. It never reads the tokens file and never prints a digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from tailrace.app.cli.output import visible
from tailrace.app.clock import system_clock_ms
from tailrace.app.tokens.file import DamagedEntry, Entry
from tailrace.app.tokens.tokens import TokenRecord

_COLUMNS: Final = ("id", "name", "scopes", "keys", "created", "expires", "last used")


def described(record: TokenRecord) -> str:
    """Return the id, name, scopes, keys and expiry of a token as text."""
    until = "" if record.expires_at_ms is None else f", until {_time(record.expires_at_ms)}"
    keys = " ".join(record.keys)
    return f"{record.id} ({record.name}): {' '.join(record.scopes)} on {keys}{until}"


def described_damage(entry: DamagedEntry) -> str:
    """Return the id and name of a damaged entry, and the reason why the server ignores it, on one line."""
    return f"{labelled(entry)}: {entry.reason}"


def labelled(entry: Entry) -> str:
    """Return the id and the name of an entry on one line."""
    return f"{entry.id} ({entry.name})"


def json_row(entry: Entry, last_used_at_ms: int | None) -> dict[str, object]:
    """Return the members of a token without its digest; for a damaged entry, the reason it is ignored."""
    if isinstance(entry, DamagedEntry):
        return {"id": entry.id, "name": entry.name, "ignored": entry.reason}
    row: dict[str, object] = msgspec.to_builtins(entry)
    del row["sha256"]
    return {**row, "last_used_at_ms": last_used_at_ms}


def table(entries: Sequence[Entry], used_at_ms: Mapping[str, int]) -> list[str]:
    """Return a heading and one line per valid token, in aligned columns.

    `used_at_ms`: the last use by token id, in Unix milliseconds. Values are never shortened, because scripts
    may read the table.
    """
    tokens = [entry for entry in entries if isinstance(entry, TokenRecord)]
    rows = [_COLUMNS, *(tuple(map(visible, _row(each, used_at_ms.get(each.id)))) for each in tokens)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(record: TokenRecord, used_at_ms: int | None) -> tuple[str, ...]:
    return (
        record.id,
        record.name,
        " ".join(record.scopes),
        " ".join(record.keys),
        _time(record.created_at_ms),
        _expiry(record.expires_at_ms),
        "-" if used_at_ms is None else _time(used_at_ms),
    )


def _expiry(expires_at_ms: int | None) -> str:
    if expires_at_ms is None:
        return "never"
    past = " (expired)" if expires_at_ms <= system_clock_ms() else ""
    return _time(expires_at_ms) + past


def _time(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")
