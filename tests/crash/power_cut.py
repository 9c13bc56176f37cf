"""The state of a disk after a power cut: all synced operations, and a random part of the others.

A write that was not synced reaches the disk completely, not at all, or in any of its sectors,
independently of the writes before and after it. A sector is old or new, never a mixture.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.crash.recorded_disk import Operation

SECTOR_BYTES: Final = 512
SHARES_KEPT: Final = (0.0, 0.1, 0.5, 0.9, 1.0)


def after_power_cut(operations: Sequence[Operation], chance: random.Random) -> dict[str, bytes]:
    """The files as they are found when the power is back."""
    files: dict[str, bytearray] = {}
    unsynced: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.kind == "sync":
            _apply_all(files, unsynced.pop(operation.file, []))
        elif operation.kind == "delete":
            files.pop(operation.file, None)
            unsynced.pop(operation.file, None)
        else:
            unsynced.setdefault(operation.file, []).append(operation)
    for pending in unsynced.values():
        _apply_all(files, _survivors(pending, chance))
    return {name: bytes(content) for name, content in files.items()}


def _apply_all(files: dict[str, bytearray], operations: Sequence[Operation]) -> None:
    for operation in operations:
        content = files.setdefault(operation.file, bytearray())
        if operation.kind == "truncate":
            del content[operation.at :]
        else:
            content.extend(bytes(max(operation.at - len(content), 0)))
            content[operation.at : operation.at + len(operation.data)] = operation.data


def _survivors(pending: Sequence[Operation], chance: random.Random) -> list[Operation]:
    share = chance.choice(SHARES_KEPT)
    return [part for each in pending for part in _sectors(each) if chance.random() < share]


def _sectors(operation: Operation) -> list[Operation]:
    if operation.kind == "truncate":
        return [operation]
    parts = []
    start = 0
    while start < len(operation.data):
        at = operation.at + start
        end = start + SECTOR_BYTES - at % SECTOR_BYTES
        parts.append(operation._replace(at=at, data=operation.data[start:end]))
        start = end
    return parts


def write_files(directory: Path, files: dict[str, bytes]) -> None:
    """Make `directory` hold these files and no others."""
    directory.mkdir(exist_ok=True)
    for stale in directory.iterdir():
        stale.unlink()
    for name, content in files.items():
        (directory / name).write_bytes(content)
