"""A real Redis as the peer of a page's examples: several connections, some of which wait.

It owns the connections. Replies are compared as in the other differential tests: times agree within a
tolerance, and any two times of today agree.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import hiredis

from tailrace.core.limits import (
    IDMP_DURATION_S_DEFAULT,
    IDMP_MAXSIZE_DEFAULT,
    NODE_BYTES_DEFAULT,
    NODE_ENTRIES_DEFAULT,
)
from tests.differential.redis_8_10 import TREE_MEMBERS
from tests.differential.replies import Refusal, comparable
from tests.support.redis_blocks import OWN, WAITS, ErrorText, Reply, Words
from tests.support.redis_server import RedisConnection, RedisServer
from tests.support.waiting_readers import until

_TODAY_MS: Final = range(1_600_000_000_000, 2_600_000_000_000)
_FRESH: Final = (
    ("FLUSHALL",),
    ("CONFIG", "SET", "stream-node-max-entries", NODE_ENTRIES_DEFAULT),
    ("CONFIG", "SET", "stream-node-max-bytes", NODE_BYTES_DEFAULT),
    ("CONFIG", "SET", "stream-idmp-duration", IDMP_DURATION_S_DEFAULT),
    ("CONFIG", "SET", "stream-idmp-maxsize", IDMP_MAXSIZE_DEFAULT),
)
_SOON_S: Final = 0.005
_AT_LAST_S: Final = 10


class RedisPeer:
    """The server's connections by name."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server
        self._connections: dict[str, RedisConnection] = {}
        for words in _FRESH:
            server.run(*words)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        until(lambda: not self._waiting())

    def execute(self, client: str, words: Words) -> Reply:
        connection = self._connection(client)
        before = self._waiting()
        connection.send_all([words])
        until(lambda: connection.has_reply(_SOON_S) or (client != OWN and self._waiting() > before))
        return connection.receive() if connection.has_reply(0) else WAITS

    def awaited(self, client: str) -> Reply:
        connection = self._connection(client)
        assert connection.has_reply(_AT_LAST_S), f"{client} still waits"
        return connection.receive()

    def _connection(self, client: str) -> RedisConnection:
        if client not in self._connections:
            self._connections[client] = self._server.another_connection()
        return self._connections[client]

    def _waiting(self) -> int:
        info = self._server.run("INFO", "clients")
        assert isinstance(info, bytes)
        return int(info.split(b"blocked_clients:")[1].split()[0])


@contextmanager
def redis_peer(server: RedisServer) -> Iterator[RedisPeer]:
    """Connections that are closed in the end."""
    peer = RedisPeer(server)
    try:
        yield peer
    finally:
        peer.close()


def alike(words: Words, reply: Reply) -> Any:
    """A reply of Redis, or one of a page, in the form in which they are compared."""
    return WAITS if reply == WAITS else comparable(words, _as_redis(reply), TREE_MEMBERS)


def _as_redis(reply: Reply) -> Any:
    """Return the reply in the types that `hiredis` uses."""
    if isinstance(reply, ErrorText):
        return Refusal(reply.line)
    if isinstance(reply, hiredis.ReplyError):
        return Refusal(str(reply))
    if isinstance(reply, dict):
        return Refusal(reply["error"]) if "error" in reply else b64decode(reply["base64"])
    if isinstance(reply, str):
        return reply.encode()
    if isinstance(reply, list):
        return [_as_redis(item) for item in reply]
    return 0 if isinstance(reply, int) and reply in _TODAY_MS else reply
