"""Runs typed commands, and queues them between MULTI and EXEC.

It owns the state of a transaction: HTTP requests are independent, so the client queues the commands and sends
all of them at EXEC. As in Redis, an unknown command, or one with a wrong number of arguments, is rejected
when it is typed, and EXEC then runs no command. The check uses the same parser as the server.
"""

from __future__ import annotations

from tailrace.app.cli.redis.replies import OK, QUEUED, Failure, Reply, Words, run, run_transaction
from tailrace.app.cli.server import Server
from tailrace.core.errors import StreamError
from tailrace.core.parser import parse_queued

_ABORTED = Failure("EXECABORT Transaction discarded because of previous errors.")


class Session:
    """The commands of one user, sent to one server one after another."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.failures = 0
        """The number of error replies so far."""
        self._gathered: list[Words] | None = None
        self._is_spoilt = False

    @property
    def is_in_transaction(self) -> bool:
        """Return whether a transaction is open."""
        return self._gathered is not None

    def execute(self, words: Words) -> Reply:
        """Run or queue one command and return its reply. Raises `ServerProblem`."""
        reply = self._reply(words)
        self.failures += isinstance(reply, Failure)
        return reply

    def _reply(self, words: Words) -> Reply:
        name = words[0].upper()
        if name in (b"MULTI", b"EXEC", b"DISCARD"):
            return self._transaction(name, words)
        if self._gathered is None:
            return run(self.server, words)
        return self._gather(self._gathered, words)

    def _transaction(self, name: bytes, words: Words) -> Reply:
        if len(words) > 1:
            return Failure(f"ERR wrong number of arguments for '{name.decode().lower()}' command")
        if name == b"MULTI":
            return self._begin()
        gathered, is_spoilt = self._gathered, self._is_spoilt
        if gathered is None:
            return Failure(f"ERR {name.decode()} without MULTI")
        self._gathered, self._is_spoilt = None, False
        if name == b"DISCARD":
            return OK
        if is_spoilt:
            return _ABORTED
        return run_transaction(self.server, gathered)

    def _begin(self) -> Reply:
        if self._gathered is not None:
            return Failure("ERR MULTI calls can not be nested")
        self._gathered = []
        return OK

    def _gather(self, gathered: list[Words], words: Words) -> Reply:
        try:
            parse_queued(words)
        except StreamError as error:
            self._is_spoilt = True
            return Failure(error.line)
        gathered.append(words)
        return QUEUED
