"""A disk between SQLite and the system that records every write and sync, and can be made to fail.

It is a VFS of SQLite, the default one while it is installed: the program under test opens its files as
ever and does not know. Files are really written; syncs are recorded and not carried out, because
whether they were asked for is the question. What a power cut leaves is `tests.crash.power_cut`'s.
"""

from __future__ import annotations

import ctypes
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

SQLITE_OK: Final = 0
_VOID = ctypes.c_void_p
_INT = ctypes.c_int
_INT64 = ctypes.c_int64

# A name is passed on as the same address: SQLite keeps the address, and reads beyond the end of the name.
Open = ctypes.CFUNCTYPE(_INT, _VOID, _VOID, _VOID, _INT, _VOID)
Delete = ctypes.CFUNCTYPE(_INT, _VOID, _VOID, _INT)
Write = ctypes.CFUNCTYPE(_INT, _VOID, _VOID, _INT, _INT64)
Truncate = ctypes.CFUNCTYPE(_INT, _VOID, _INT64)
Sync = ctypes.CFUNCTYPE(_INT, _VOID, _INT)


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs`."""

    _fields_ = (
        ("version", _INT),
        ("file_size", _INT),
        ("max_pathname", _INT),
        ("next", _VOID),
        ("name", ctypes.c_char_p),
        ("data", _VOID),
        ("open", Open),
        ("delete", Delete),
        ("others", _VOID * 16),
    )


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`."""

    _fields_ = (
        ("version", _INT),
        ("close", _VOID),
        ("read", _VOID),
        ("write", Write),
        ("truncate", Truncate),
        ("sync", Sync),
        ("others", _VOID * 14),
    )


class _File(ctypes.Structure):
    """The head of every `sqlite3_file`."""

    _fields_ = (("methods", _VOID),)


class Operation(NamedTuple):
    """`kind`: write, truncate, sync or delete. `at`: an offset, or the size after a truncation."""

    kind: str
    file: str
    at: int = 0
    data: bytes = b""


class Fault(NamedTuple):
    """The `number`-th operation of `kind` from now on, and every later one of that kind, gives `code`."""

    kind: str
    number: int
    code: int


FULL: Final = 13
WRITE_ERROR: Final = 10 | 3 << 8
SYNC_ERROR: Final = 10 | 4 << 8


class RecordedDisk:
    """The operations on the files below `directory`, in order. Use `recorded_disk`."""

    def __init__(self, directory: Path) -> None:
        self.operations: list[Operation] = []
        self.faults_fired = 0
        self._directory = directory
        self._fault: Fault | None = None
        self._names: dict[int, str] = {}
        self._methods: dict[int, _Methods] = {}

    def fail(self, fault: Fault | None) -> None:
        """Make operations fail, or stop failing."""
        self._fault = fault

    def _refusal(self, kind: str) -> int:
        fault = self._fault
        if fault is None or fault.kind != kind:
            return SQLITE_OK
        if fault.number > 1:
            self._fault = fault._replace(number=fault.number - 1)
            return SQLITE_OK
        self.faults_fired += 1
        return fault.code

    def open(self, original: _Vfs, name: int | None, file: int, flags: int, out_flags: int | None) -> int:
        code: int = original.open(ctypes.addressof(original), name, file, flags, out_flags)
        if code == SQLITE_OK and (file_name := self._name_of(name)):
            self._names[file] = file_name
            head = _File.from_address(file)
            head.methods = self._recording(head.methods)
        return code

    def delete(self, original: _Vfs, name: int, sync_directory: int) -> int:
        if file_name := self._name_of(name):
            self.operations.append(Operation("delete", file_name))
        return int(original.delete(ctypes.addressof(original), name, sync_directory))

    def _name_of(self, name: int | None) -> str | None:
        """The file's name if the file is in the directory."""
        path = Path(ctypes.string_at(name).decode()) if name else Path()
        return path.name if path.parent == self._directory else None

    def _recording(self, address: int) -> int:
        """The address of methods that record and then do as those at `address`, one for each kind of file."""
        if address not in self._methods:
            original = _Methods.from_address(address)
            methods = self._methods[address] = _Methods.from_buffer_copy(original)
            methods.write = Write(partial(self._write, original.write))
            methods.truncate = Truncate(partial(self._truncate, original.truncate))
            methods.sync = Sync(self._sync)
        return ctypes.addressof(self._methods[address])

    def _write(self, original: Any, file: int, data: int, size: int, offset: int) -> int:
        if code := self._refusal("write"):
            return code
        content = ctypes.string_at(data, size)
        self.operations.append(Operation("write", self._names[file], offset, content))
        return int(original(file, data, size, offset))

    def _truncate(self, original: Any, file: int, size: int) -> int:
        self.operations.append(Operation("truncate", self._names[file], size))
        return int(original(file, size))

    def _sync(self, file: int, _: int) -> int:
        if code := self._refusal("sync"):
            return code
        self.operations.append(Operation("sync", self._names[file]))
        return SQLITE_OK


def _sqlite() -> ctypes.CDLL:
    """The library that Python's own module uses: there must be one, and not a copy of it inside Python."""
    assert sqlite3.sqlite_version
    maps = Path("/proc/self/maps").read_text().split()
    [path] = {word for word in maps if "/libsqlite3.so" in word}
    library = ctypes.CDLL(path)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    library.sqlite3_vfs_register.argtypes = [_VOID, _INT]
    library.sqlite3_vfs_unregister.argtypes = [_VOID]
    return library


@contextmanager
def recorded_disk(directory: Path) -> Iterator[RecordedDisk]:
    """Record the operations on the files in `directory`, by connections that are opened in the context."""
    library = _sqlite()
    original = library.sqlite3_vfs_find(None).contents
    disk = RecordedDisk(directory.resolve())
    vfs = _Vfs.from_buffer_copy(original)
    vfs.name = b"recorded"
    vfs.open = Open(lambda _, *arguments: disk.open(original, *arguments))
    vfs.delete = Delete(lambda _, *arguments: disk.delete(original, *arguments))
    library.sqlite3_vfs_register(ctypes.addressof(vfs), 1)
    try:
        yield disk
    finally:
        library.sqlite3_vfs_unregister(ctypes.addressof(vfs))
        library.sqlite3_vfs_register(ctypes.addressof(original), 1)
        _KEPT.append((vfs, disk))


_KEPT: Final[list[tuple[_Vfs, RecordedDisk]]] = []
"""A connection may outlive its context, and then it still calls these."""
