"""The first commands of a connection: AUTH or HELLO, SELECT, READONLY, CLIENT TRACKING.

It owns the first commands of a connection, and the meaning of their refusals. No message contains a password.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tailrace.app.reasons import reason as reason_of
from tailrace.app.remote.link.connection import Connection, Push
from tailrace.app.remote.link.exchange import TogetherExchange, Way, packed
from tailrace.app.remote.link.port import EngineError, LinkDown, LinkRefused, Words
from tailrace.app.remote.link.url import Address


@dataclass(frozen=True)
class Greeting:
    """How to introduce ourselves to a node. The password appears in no representation."""

    username: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    is_cluster: bool = False

    def commands(self, way: Way) -> list[Words]:
        """Return the first commands of a connection."""
        name = [] if not self.username else [self.username.encode()]
        secret = self.password.encode()
        words: list[Words] = []
        if way in {Way.TRACKING, Way.WAKES}:
            auth = [b"AUTH", name[0] if name else b"default", secret] if secret else []
            words.append([b"HELLO", b"3", *auth])
        elif secret:
            words.append([b"AUTH", *name, secret])
        if self.database:
            words.append([b"SELECT", b"%d" % self.database])
        if way is Way.EVENTUAL and self.is_cluster:
            words.append([b"READONLY"])
        if way is Way.TRACKING:
            words.append([b"CLIENT", b"TRACKING", b"ON"])
        # The reply shows that the node wants no password and has loaded its data.
        return [*words, [b"PING"]]


def _answer_anyway(exchange: TogetherExchange, failure: EngineError | LinkDown) -> None:
    """Treat errors such as LOADING as replies: the handshake is not repeated."""
    if isinstance(failure, LinkDown):
        exchange.fail(failure)
    else:
        exchange.future.set_result(exchange.results)


async def run_once(connection: Connection, commands: list[Words]) -> list[Any]:
    """Run commands on a connection that has no other user yet; return replies and errors. Raises
    `LinkDown`."""
    future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
    exchange = TogetherExchange(
        [packed(words) for words in commands], slot=None, is_write=False, retry=_answer_anyway, future=future
    )
    connection.write(exchange.payload(), [exchange])
    return await future


async def open_connection(
    address: Address,
    way: Way,
    greeting: Greeting,
    within_s: float,
    on_lost: Callable[[str], None],
    on_push: Push,
) -> Connection:
    """Return a connection that has introduced itself. Raises `LinkDown`: nothing was executed."""
    connection: Connection | None = None
    try:
        async with asyncio.timeout(within_s):
            connection = await _connected(
                address, greeting, lambda: Connection(str(address), on_lost, on_push)
            )
            commands = greeting.commands(way)
            _refuse(address, commands, await run_once(connection, commands))
    except BaseException as error:
        if connection is not None:
            connection.drop("the handshake failed")
        if isinstance(error, LinkDown):
            raise
        if isinstance(
            error, OSError | UnicodeError
        ):  # a time-out is one as well; the other is a bad host name
            why = _why(error, within_s, has_tls=greeting.tls is not None)
            raise LinkDown(f"{address} cannot be reached: {why}", outcome_unknown=False) from None
        raise
    return connection


async def _connected(address: Address, greeting: Greeting, make: Callable[[], Connection]) -> Connection:
    loop = asyncio.get_running_loop()
    if not address.port:
        return (await loop.create_unix_connection(make, address.host))[1]
    return (await loop.create_connection(make, address.host, address.port, ssl=greeting.tls))[1]


_MISMATCHES: Final = frozenset({62, 64})
"""Codes of OpenSSL: the certificate is for another host name or address."""

_CREDENTIALS: Final = frozenset({b"NOAUTH", b"WRONGPASS"})
"""Errors that say that the credentials are wrong."""

_OTHER_NAME: Final = "the URL of the store must name the host as its certificate does"
_UNKNOWN_CA: Final = "ssl_ca_certs in the URL of the store names the file with the certificate of its CA"


def _why(error: OSError | UnicodeError, within_s: float, *, has_tls: bool) -> str:
    if isinstance(error, TimeoutError):
        hint = "; if the port has no TLS, use redis:// in place of rediss://" if has_tls else ""
        return f"no answer within {within_s:g} s{hint}"
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = _OTHER_NAME if error.verify_code in _MISMATCHES else _UNKNOWN_CA
        return f"its certificate is refused: {error.verify_message.rstrip('.')}; {hint}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason}"
    return reason_of(error) if isinstance(error, OSError) else str(error)


def _refuse(address: Address, commands: list[Words], replies: list[Any]) -> None:
    """Raise `LinkDown` if the node refused one of the first commands."""
    for words, reply in zip(commands, replies, strict=True):
        if type(reply) is EngineError:
            why = _refusal(address, words[0].decode(), reply)
            raise LinkRefused(why) if reply.code in _CREDENTIALS else LinkDown(why, outcome_unknown=False)


def _refusal(address: Address, command: str, error: EngineError) -> str:
    if error.code == b"NOAUTH":
        return f"{address} needs a password; write redis://user:password@host or redis://:password@host"
    if error.code == b"WRONGPASS" or (command == "AUTH" and error.code == b"ERR"):
        return f"{address} refuses the user or the password: {error}"
    if command == "HELLO" and error.code in {b"ERR", b"NOPROTO"}:
        return f"{address} does not speak RESP3, which Redis has from 6.0 on: {error}"
    return f"{address} refuses {command}: {error}"
