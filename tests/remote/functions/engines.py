"""A real engine with the function library, for tests: runs calls, one after another, and reads their replies.

Owns the process of one `redis-server` for a test session. No link: the words go over one connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import hiredis

from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.library import How, Library
from tailrace.app.remote.link.port import EngineError
from tests.support.redis_server import RedisServer, Value

T = TypeVar("T")

UNKNOWN_FUNCTION: Final = b"ERR Function not found"


class FunctionEngine:
    """One server, and the library on it."""

    def __init__(self, executable: str, directory: Path, how: How = "functions") -> None:
        self.server = RedisServer(executable, directory)
        self.library = Library(how)
        self.load()

    def load(self) -> None:
        for words in self.library.load_commands():
            answer = self.server.run_all([words])[0]
            assert not isinstance(answer, hiredis.ReplyError), answer

    def close(self) -> None:
        self.server.close()

    def run(self, call: Call[T]) -> T:
        """Raises `EngineError` for an error of the engine, `StreamError` for a refusal of the library."""
        return call.read(port_value(self.server.run_all([self.library.words(call)])[0]))

    def command(self, *words: bytes | str | int) -> Any:
        """A command of the engine; raises `EngineError`."""
        return port_value(self.server.run(*words))

    def run_each(self, commands: Sequence[Sequence[bytes]]) -> list[Value]:
        return self.server.run_all(commands)


def port_value(value: Value) -> Any:
    """A reply as the link gives it: an error is raised."""
    if isinstance(value, hiredis.ReplyError):
        raise EngineError(str(value).encode("utf-8", "surrogateescape"))
    return value


def refused(run: Callable[[], object]) -> Exception:
    """The error that `run` raises."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 - the caller looks at what it is
        return error
    raise AssertionError("nothing was refused")
