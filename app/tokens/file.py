"""The tokens file: reads and validates each entry; writes atomically, with one writer at a time.

It owns the format and the safety of the file. The mode is 0600. A change writes and syncs a new file and
renames it, so a crash leaves the old file or the new file. A file with another format, or one that other
users can write, is rejected as a whole. An invalid entry becomes a `DamagedEntry`: it grants no access, does
not affect the other tokens, and stays unchanged in the file until a user removes it.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from tailrace.app.tokens.tokens import TokenRecord, complaint_about
from tailrace.core.storage.schema import sync_directory

VERSION: Final = 1
FILE_MODE: Final = 0o600
DEFAULT_NAME: Final = "tokens.json"
"""The name of the tokens file in the data directory, if no other path is set."""


class BadTokensFile(Exception):
    """The file cannot be used. The text gives the place and the reason, and no part of a token."""


class DamagedEntry(NamedTuple):
    """An invalid entry of the file.

    `id` is the id of the entry, or `entry-N` for the N-th entry if it has no id. `name` is empty if the entry
    has none. `reason` is a sentence without a full stop. `raw` is the JSON of the entry.
    """

    id: str
    name: str
    reason: str
    raw: bytes


Entry: TypeAlias = TokenRecord | DamagedEntry


class _TokensFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    version: int
    tokens: tuple[msgspec.Raw, ...]


def read_tokens(path: Path) -> tuple[TokenRecord, ...]:
    """Return the valid tokens. Raises the exceptions of `read_entries`."""
    return tuple(entry for entry in read_entries(path) if isinstance(entry, TokenRecord))


def read_entries(path: Path) -> tuple[Entry, ...]:
    """Return all entries in the order of the file.

    Raises `BadTokensFile` if the file is rejected, and `OSError` if it cannot be read.
    """
    _require_private(path)
    content = path.read_bytes()
    if not content.strip():
        raise BadTokensFile(f"{path} is not a tokens file: it is empty. {_REPAIR}")
    try:
        file = msgspec.json.decode(content, type=_TokensFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadTokensFile(f"{path} is not a tokens file: {error}. {_REPAIR}") from None
    if file.version != VERSION:
        raise BadTokensFile(
            f"{path} has version {file.version}, and this release reads version {VERSION}: use the release "
            "that wrote it, or create new tokens in another file"
        )
    return _without_doubles([_entry(number, raw) for number, raw in enumerate(file.tokens, 1)])


_REPAIR: Final = "Restore it from a copy, or delete it and create new tokens"


def _require_private(path: Path) -> None:
    """Raise `BadTokensFile` if other users can write the file: they could add tokens. Reading is harmless."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise BadTokensFile(f"{path} is not a regular file")
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadTokensFile(f"other users than the owner can write {path}; correct it with: chmod 600 {path}")


def _entry(number: int, raw: msgspec.Raw) -> Entry:
    content = bytes(raw)
    try:
        record = msgspec.json.decode(content, type=TokenRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return DamagedEntry(*_labels(number, content), str(error), content)
    complaint = complaint_about(record)
    if complaint is not None:
        return DamagedEntry(*_labels(number, content), complaint, content)
    return record


def _labels(number: int, content: bytes) -> tuple[str, str]:
    """Return the id and the name of a damaged entry."""
    try:
        members = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        members = None
    found = members if isinstance(members, dict) else {}
    token_id, name = (value if isinstance(value, str) else "" for value in map(found.get, ("id", "name")))
    return token_id or f"entry-{number}", name


def _without_doubles(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Mark a token with the id or the digest of an earlier token as damaged: its rights are ambiguous."""
    seen: set[str] = set()
    judged: list[Entry] = []
    for entry in entries:
        if isinstance(entry, TokenRecord):
            doubled = next((what for what in ("id", "sha256") if getattr(entry, what) in seen), None)
            if doubled is not None:
                reason = f"another token has the same {doubled}"
                judged.append(DamagedEntry(entry.id, entry.name, reason, msgspec.json.encode(entry)))
                continue
            seen |= {entry.id, entry.sha256}
        judged.append(entry)
    return tuple(judged)


@contextmanager
def changing_tokens(path: Path) -> Iterator[list[Entry]]:
    """Yield the entries for changes in place; the file is written if the context ends without an error.

    Blocks while another writer holds the lock. Creates the directory and the file if missing. Raises the
    exceptions of `read_entries`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        before = read_entries(path) if path.exists() else ()
        entries = list(before)
        yield entries
        if tuple(entries) != before or not path.exists():
            raw = tuple(msgspec.Raw(_json_of(entry)) for entry in entries)
            write_privately(path, msgspec.json.encode(_TokensFile(VERSION, raw)))


def _json_of(entry: Entry) -> bytes:
    return entry.raw if isinstance(entry, DamagedEntry) else msgspec.json.encode(entry)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of writers. The lock is a separate file, because each change replaces the tokens file."""
    descriptor = os.open(
        path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_privately(path: Path, content: bytes) -> None:
    """Replace `path` atomically with a file that only its owner can read, and sync it. Raises `OSError`."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)
