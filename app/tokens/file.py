"""The tokens file: read and judged as a whole, written atomically, by one writer at a time.

It owns the file's form and its safety: mode 0600, a new file put in place of the old one and both synced, so
that a crash leaves one of the two. A file that is damaged, or that others may read, is refused as a whole,
with its place: half of the tokens would be a guess.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from app.tokens.tokens import TokenRecord, complaint_about
from core.storage.schema import sync_directory

VERSION: Final = 1
FILE_MODE: Final = 0o600
DEFAULT_NAME: Final = "tokens.json"
"""The tokens file's name in the data directory, where no other place is given."""


class BadTokensFile(Exception):
    """The file cannot be used; the text says where and why, and holds nothing of a token."""


class TokensFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the file."""

    version: int
    tokens: tuple[TokenRecord, ...]


def read_tokens(path: Path) -> tuple[TokenRecord, ...]:
    """All tokens. Raises `BadTokensFile`, or `OSError` where it cannot be read."""
    _require_private(path)
    try:
        content = msgspec.json.decode(path.read_bytes(), type=TokensFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadTokensFile(f"{path} is no tokens file: {error}") from None
    if content.version != VERSION:
        raise BadTokensFile(f"{path} is of version {content.version}, and this release knows {VERSION}")
    _judge(path, content.tokens)
    return content.tokens


def _require_private(path: Path) -> None:
    """Digests let nobody in; but who may write the file lets in anybody."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise BadTokensFile(f"{path} is no regular file")
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadTokensFile(f"{path} can be written by others than its owner: chmod 600 {path}")


def _judge(path: Path, tokens: tuple[TokenRecord, ...]) -> None:
    for number, record in enumerate(tokens):
        complaint = complaint_about(record)
        if complaint is not None:
            raise BadTokensFile(f"{path}: token {number} ({record.id!r:.40}): {complaint}")
    for what, values in (("id", [t.id for t in tokens]), ("digest", [t.sha256 for t in tokens])):
        if len(set(values)) < len(values):
            raise BadTokensFile(f"{path}: two tokens have the same {what}")


@contextmanager
def changing_tokens(path: Path) -> Iterator[list[TokenRecord]]:
    """The tokens, to be changed in place; written when the context ends well. Waits for another writer.

    The directory and the file are made where they are missing. Raises as `read_tokens` does.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        before = read_tokens(path) if path.exists() else ()
        tokens = list(before)
        yield tokens
        if tuple(tokens) != before or not path.exists():
            write_privately(path, msgspec.json.encode(TokensFile(VERSION, tuple(tokens))))


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
