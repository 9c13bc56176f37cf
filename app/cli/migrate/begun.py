"""The state file: which streams of the target belong to this migration. Each is recorded before its first
write.

The file has one JSON value a line: first the ends of the migration, then the key of each begun stream. A line
that a crash cut off is ignored: nothing was written to its stream yet.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from tailrace.app.cli.migrate.port import CannotMigrate
from tailrace.app.reasons import reason

_DIGEST_BYTES: Final = 6


class _Ends(msgspec.Struct, frozen=True):
    """The first line."""

    source: str
    target: str


class Begun:
    """The begun streams of the migration from `source` to `target`, stored in `path`."""

    def __init__(self, path: Path, source: str, target: str) -> None:
        self.path = path
        self._ends = _Ends(source, target)
        self._intact_bytes = 0
        self._keys = self._load()

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys

    @property
    def keys(self) -> frozenset[bytes]:
        """The keys of all begun streams."""
        return frozenset(self._keys)

    def add(self, key: bytes) -> None:
        """Record a stream, and sync the file. Raises `CannotMigrate`."""
        if key not in self._keys:
            self._write(b64encode(key).decode())
            self._keys.add(key)

    def forget(self) -> None:
        """Delete the file: the migration is complete."""
        self.path.unlink(missing_ok=True)

    def _load(self) -> set[bytes]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise CannotMigrate(f"cannot read the state file {self.path}: {reason(error)}") from None
        self._intact_bytes = content.rfind(b"\n") + 1
        lines = content[: self._intact_bytes].splitlines()
        if not lines:
            return set()
        try:
            ends = msgspec.json.decode(lines[0], type=_Ends)
            keys = {b64decode(msgspec.json.decode(line, type=str), validate=True) for line in lines[1:]}
        except (msgspec.DecodeError, ValueError) as error:
            raise CannotMigrate(f"{self.path} is not a state file of this command: {error}") from None
        if ends != self._ends:
            raise CannotMigrate(
                f"{self.path} belongs to a migration from {ends.source} to {ends.target}: choose "
                "another file with --state"
            )
        return keys

    def _write(self, value: str) -> None:
        try:
            with self.path.open("ab") as file:
                # A crash may have left an incomplete line.
                file.truncate(self._intact_bytes)
                if not self._intact_bytes:
                    file.write(msgspec.json.encode(self._ends) + b"\n")
                file.write(msgspec.json.encode(value) + b"\n")
                file.flush()
                os.fsync(file.fileno())
                self._intact_bytes = file.tell()
        except OSError as error:
            raise CannotMigrate(
                f"cannot write the state file {self.path}: {reason(error)}; choose another file with --state"
            ) from None


def default_path(source: str, target: str) -> Path:
    """Return the path of the state file in the current directory, one for each pair of ends."""
    ends = f"{source}\0{target}".encode("utf-8", "surrogateescape")
    return Path(f".tailrace-migrate-{blake2b(ends, digest_size=_DIGEST_BYTES).hexdigest()}")
