"""Operations on one socket, with its errors as httpx errors. This module uses no pools and no responses."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable
from types import TracebackType
from typing import Final

import httpx


class _Errors:
    """A context that raises the errors of sockets as httpx errors."""

    def __init__(
        self, on_timeout: type[httpx.TimeoutException], on_failure: type[httpx.NetworkError]
    ) -> None:
        self._on_timeout = on_timeout
        self._on_failure = on_failure

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if isinstance(error, TimeoutError):
            raise self._on_timeout(str(error)) from error
        if isinstance(error, OSError):
            raise self._on_failure(str(error) or type(error).__name__) from error


SENDING: Final = _Errors(httpx.WriteTimeout, httpx.WriteError)
RECEIVING: Final = _Errors(httpx.ReadTimeout, httpx.ReadError)


def send(connection: socket.socket, head: bytes, parts: Iterable[bytes]) -> None:
    """Send head and body. The first part of the body is sent with the head, so that a small request is one
    packet."""
    data = head
    with SENDING:
        for part in parts:
            connection.sendall(data + part)
            data = b""
        if data:
            connection.sendall(data)


def is_readable(connection: socket.socket) -> bool:
    """Return whether an idle connection has something to read, which can only be its end."""
    if not hasattr(select, "poll"):
        return bool(select.select([connection], [], [], 0)[0])
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    return bool(poller.poll(0))
