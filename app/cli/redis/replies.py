"""Sends commands to the command endpoint, converts its JSON into reply values, and gathers transactions.

It owns both JSON forms of the endpoint on the client's side, arguments and results. It asks for replies in
base64 because a JSON string cannot contain arbitrary bytes. It also owns the state of a transaction: HTTP
requests are independent, so the client queues the commands and sends all of them at EXEC. As in Redis, an
unknown command, or one with a wrong number of arguments, is rejected when it is typed, and EXEC then runs no
command. The check uses the same parser as the server."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from tailrace.app.cli.server import RefusedByServer, Server
from tailrace.core.errors import StreamError

REPLIES_IN_BASE64: Final = {"Upstash-Encoding": "base64"}


class SimpleString(str):
    """A status reply such as `OK`; it is printed without quotes."""

    __slots__ = ()


class Failure(NamedTuple):
    """An error reply. `line` is the Redis error line, without the leading `-`."""

    line: str


Reply: TypeAlias = "int | bytes | SimpleString | Failure | list[Reply] | None"
Words: TypeAlias = Sequence[bytes]

OK: Final = SimpleString("OK")
QUEUED: Final = SimpleString("QUEUED")

_NOT_TAKEN: Final = frozenset({401, 429, 503})
"""Statuses of responses that are sent before any command runs: unauthenticated, rate limit, unavailable."""


def run(server: Server, words: Words) -> Reply:
    """Run one command and return its reply. Raises `ServerProblem` if the server ran no command."""
    try:
        answer = server.request(
            "POST", "/v1/command", body=list(map(_argument, words)), headers=REPLIES_IN_BASE64
        )
    except RefusedByServer as refusal:
        return _failure(refusal)
    return _reply(answer.json()["result"], statuses=_answers_with_status(words))


def run_transaction(server: Server, commands: Sequence[Words]) -> Reply:
    """Run a transaction and return the reply to EXEC: one reply per command, or a `Failure` if none ran.

    Raises `ServerProblem` if the server did not process the transaction.
    """
    body = [[_argument(word) for word in words] for words in commands]
    try:
        answer = server.request("POST", "/v1/command/multi-exec", body=body, headers=REPLIES_IN_BASE64)
    except RefusedByServer as refusal:
        return _failure(refusal)
    return [
        Failure(item["error"])
        if "error" in item
        else _reply(item["result"], statuses=_answers_with_status(words))
        for words, item in zip(commands, answer.json(), strict=True)
    ]


def _failure(refusal: RefusedByServer) -> Failure:
    """Return the Redis error line of an error response. Raises `refusal` again if no command ran."""
    if refusal.status in _NOT_TAKEN or "error" not in refusal.problem:
        raise refusal
    return Failure(str(refusal.problem["error"]))


def _argument(word: bytes) -> str | dict[str, str]:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(word).decode()}


def _reply(result: Any, *, statuses: bool) -> Reply:
    """Convert one result. `statuses`: its strings are status replies, which JSON cannot express."""
    if isinstance(result, list):
        return [_reply(item, statuses=statuses) for item in result]
    if result == OK:
        return OK
    if isinstance(result, str):
        raw = b64decode(result)
        return SimpleString(raw.decode()) if statuses else raw
    assert result is None or isinstance(result, int)
    return result


def _answers_with_status(words: Words) -> bool:
    name = words[0].upper()
    if name == b"PING":
        return len(words) == 1
    return name == b"TYPE" or (len(words) == 2 and words[1].upper() == b"HELP")  # noqa: PLR2004 - XINFO HELP


# --- transactions -------------------------------------------------------------------------------


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
        # Importing the parser takes longer than a request, and only transactions need it.
        from tailrace.core.parser import parse_queued  # noqa: PLC0415

        try:
            parse_queued(words)
        except StreamError as error:
            self._is_spoilt = True
            return Failure(error.line)
        gathered.append(words)
        return QUEUED
