"""State files: the settings and the progress of an import or export.

It owns the file; `importing` and `exporting` own the content. Each save replaces the whole file atomically
and syncs it before the transfer continues.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from tailrace.app.cli.transfer.files import BadFile
from tailrace.app.reasons import reason

PLAN_DIGEST_BYTES: Final = 6

StateT = TypeVar("StateT", bound=msgspec.Struct)


class StateFile(Generic[StateT]):
    """The file at `path` with a state of the type `kind`."""

    def __init__(self, path: Path, kind: type[StateT]) -> None:
        self.path = path
        self._decoder = msgspec.json.Decoder(kind)

    def load(self) -> StateT | None:
        """Return the state; None if the file does not exist. Raises `BadFile`."""
        try:
            return self._decoder.decode(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadFile(f"cannot read the state file {self.path}: {reason(error)}") from None
        except msgspec.DecodeError as error:
            raise BadFile(f"{self.path} is not a state file of this command: {error}") from None

    def save(self, state: StateT) -> None:
        """Replace the state and sync the file. Raises `BadFile`."""
        unfinished = self.path.with_name(f"{self.path.name}.new")
        try:
            with unfinished.open("wb") as file:
                file.write(msgspec.json.encode(state))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path)
        except OSError as error:
            raise BadFile(
                f"cannot write the state file {self.path}: {reason(error)}; choose another file with --state"
            ) from None

    def forget(self) -> None:
        """Delete the file if it exists."""
        self.path.unlink(missing_ok=True)


def state_path(file: Path, doing: str, *target: str) -> Path:
    """Return the default path: a hidden file next to `file`, one for each `target` (server and stream)."""
    digest = blake2b("\0".join(target).encode("utf-8", "surrogateescape"), digest_size=PLAN_DIGEST_BYTES)
    return file.with_name(f".{file.name}.{doing}-{digest.hexdigest()}")


def differences(begun: msgspec.Struct, wanted: msgspec.Struct) -> str:
    """Return the settings in which two plans differ, in words; empty if they are equal."""
    one, other = msgspec.structs.asdict(begun), msgspec.structs.asdict(wanted)
    return ", ".join(
        f"{name} was {one[name]!r}, now it is {other[name]!r}" for name in one if one[name] != other[name]
    )
