"""The tokens file: read entry by entry, written atomically, by one writer at a time.

It owns the file's form and its safety: mode 0600, a new file put in place of the old one and both synced, so
that a crash leaves one of the two. A file that is no tokens file, or that others may write, is refused as a
whole. An entry that is no valid token is a `DamagedEntry`: it opens nothing, the other tokens are unaffected,
and it stays in the file as it is until somebody removes it.
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
"""The tokens file's name in the data directory, where no other place is given."""


class BadTokensFile(Exception):
    """The file cannot be used; the text says where and why, and holds nothing of a token."""


class DamagedEntry(NamedTuple):
    """An entry of the file that is no valid token. `id` is the entry's own where it has one, else its place
    in the file (`entry-3` is the third); `name` is empty where it has none. `raw` is its JSON."""

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
    """The valid tokens. Raises as `read_entries` does."""
    return tuple(entry for entry in read_entries(path) if isinstance(entry, TokenRecord))


def read_entries(path: Path) -> tuple[Entry, ...]:
    """All entries in their order. Raises `BadTokensFile`, or `OSError` where it cannot be read."""
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
    """Digests let nobody in; but who may write the file lets in anybody."""
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
    """The id and the name under which a damaged entry is listed."""
    try:
        members = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        members = None
    found = members if isinstance(members, dict) else {}
    token_id, name = (value if isinstance(value, str) else "" for value in map(found.get, ("id", "name")))
    return token_id or f"entry-{number}", name


def _without_doubles(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries; a token with the id or the digest of an earlier one is damaged: its rights are unclear."""
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
    """The entries, to be changed in place; written when the context ends well. Waits for another writer.

    The directory and the file are made where they are missing. Raises as `read_entries` does.
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
    """The lock is a file of its own: the tokens file is replaced by each change."""
    descriptor = os.open(
        path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_privately(path: Path, content: bytes) -> None:
    """Put a file with `content` in the place of `path`, for its owner's eyes; it is there for good then."""
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
