"""One connection to one Redis or Valkey node: commands in pipelines and transactions, replies unread.

It uses the connections of redis-py (TLS, AUTH, Unix sockets) without its commands, whose replies lose
repeated field names. It never repeats a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, cast

from redis.connection import AbstractConnection, Connection
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ExecAbortError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import (
    ConnectionError as LostConnection,
)
from redis.exceptions import (
    TimeoutError as NoAnswer,
)

from tailrace.app.cli.migrate.port import CannotMigrate, PlaceDown, Refusal, Reply, Words

CONNECT_TIMEOUT_S: Final = 5.0
READ_TIMEOUT_S: Final = 60.0

Raw: TypeAlias = "int | bytes | list[Raw] | RedisError | None"

Options: TypeAlias = dict[str, Any]
"""Arguments of a connection of redis-py, and `connection_class`."""

_MULTI: Final = (b"MULTI",)
_EXEC: Final = (b"EXEC",)
_ASKING: Final = (b"ASKING",)
_PAIR: Final = 2

TEMPORARY: Final = (TryAgainError, ClusterDownError, MasterDownError, ReadOnlyError, BusyLoadingError)
"""Error replies after which the same command can succeed later."""


class Redirected(Exception):
    """Another node has the key. `asked`: only for this command (ASK), else for good (MOVED)."""

    def __init__(self, host: str, port: int, *, asked: bool) -> None:
        super().__init__(host, port)
        self.host = host
        self.port = port
        self.asked = asked


class RedisNode:
    """One node. It connects at the first command, and again after a lost connection."""

    def __init__(self, options: Options) -> None:
        given = dict(options)
        kind = cast("Callable[..., AbstractConnection]", given.pop("connection_class", Connection))
        self._connection = kind(
            **{
                "socket_timeout": READ_TIMEOUT_S,
                "socket_connect_timeout": CONNECT_TIMEOUT_S,
                **given,
                "protocol": 2,
                "decode_responses": False,
            }
        )
        self._address = given.get("path") or f"{given.get('host', 'localhost')}:{given.get('port', 6379)}"

    def close(self) -> None:
        """Close the connection."""
        self._connection.disconnect()  # type: ignore[no-untyped-call]

    def run(self, commands: Sequence[Words], *, atomic: bool = False, asking: bool = False) -> list[Reply]:
        """Run commands in order. `asking`: the node is to accept a key of a slot that is moving to it.

        Raises `PlaceDown`, `CannotMigrate` or `Redirected`.
        """
        with self._errors():
            if atomic:
                return self._transaction(commands, asking=asking)
            sent = [words for each in commands for words in ((_ASKING, each) if asking else (each,))]
            replies = self._send(sent)
            return [_settled(reply) for reply in replies[asking :: 1 + asking]]

    def _transaction(self, commands: Sequence[Words], *, asking: bool) -> list[Reply]:
        before = (_ASKING, _MULTI) if asking else (_MULTI,)
        queued = self._send([*before, *commands, _EXEC])
        outcome = queued.pop()
        if isinstance(outcome, ExecAbortError):
            # The error of the command that could not be queued says why.
            for reply in queued:
                refusal = _settled(reply)
                if isinstance(refusal, Refusal):
                    raise CannotMigrate(f"{self._address} refused a transaction: {refusal.line}")
        settled = _settled(outcome)
        if isinstance(settled, Refusal):
            raise CannotMigrate(f"{self._address} refused a transaction: {settled.line}")
        return cast("list[Reply]", settled)

    def _send(self, commands: Sequence[Words]) -> list[Raw]:
        self._connection.send_packed_command([_packed(commands)])  # type: ignore[no-untyped-call]
        return [self._reply() for _ in commands]

    def _reply(self) -> Raw:
        try:
            return cast("Raw", self._connection.read_response(disconnect_on_error=False))
        except (ResponseError, BusyLoadingError) as error:
            return cast("RedisError", error)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Redirected:
            raise
        except AuthenticationError as error:
            self.close()
            raise CannotMigrate(f"{self._address} requires a valid user and password: {error}") from None
        except (LostConnection, NoAnswer) as error:
            self.close()
            raise PlaceDown(f"cannot reach {self._address}: {error}") from None
        except RedisError as error:
            self.close()
            raise CannotMigrate(f"{self._address}: {error}") from None
        except BaseException:
            # Replies may be outstanding.
            self.close()
            raise


def _packed(commands: Sequence[Words]) -> bytes:
    parts = []
    for words in commands:
        parts.append(b"*%d\r\n" % len(words))
        parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


def _settled(reply: Raw) -> Reply:
    """Return a reply whose errors are refusals. Raises for errors that concern no single command."""
    if isinstance(reply, list):
        return (
            [_settled(item) for item in reply] if any(map(_may_hold_errors, reply)) else cast("Reply", reply)
        )
    if not isinstance(reply, Exception):
        return reply
    if isinstance(reply, MovedError | AskError):
        raise Redirected(reply.host, reply.port, asked=type(reply) is AskError)
    if isinstance(reply, TEMPORARY):
        raise PlaceDown(f"the node answered {_line(reply)}")
    if isinstance(reply, NoPermissionError):
        raise CannotMigrate(f"the user lacks a permission: {reply}")
    return Refusal(_line(reply))


def _may_hold_errors(item: object) -> bool:
    return isinstance(item, Exception)


def _line(error: Exception) -> str:
    code = getattr(error, "status_code", None) or ""
    return f"{code} {error}".strip()
