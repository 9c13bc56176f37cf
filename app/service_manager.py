"""Tells systemd what the server does: ready, reloading, stopping, and at intervals that it is alive.

It owns the protocol of `sd_notify(3)`: lines of text in a datagram to the socket that `NOTIFY_SOCKET`
names. Without this variable it does nothing. It never decides what the server does.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

SEND_TIMEOUT_S: Final = 1.0
"""systemd reads at once. A manager that does not read must not stop the server."""

_US_PER_S: Final = 1_000_000

_logger: Final = logging.getLogger("tailrace")


class ServiceManager:
    """The service manager of this process, as the variables in `environment` describe it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address: Final = f"\0{address[1:]}" if address.startswith("@") else address
        is_watched = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        watchdog_us = environment.get("WATCHDOG_USEC", "")
        self.alive_period_s: float | None = None
        """Half of the time after which systemd ends a process that says nothing. None: it waits forever."""
        if self._address and is_watched and watchdog_us.isdecimal():
            self.alive_period_s = int(watchdog_us) / _US_PER_S / 2
        self._said_at_s = 0.0

    def ready(self, status: str) -> None:
        """The server accepts connections, or a reload has ended. `status` is shown by `systemctl status`."""
        self._tell("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """A reload begins; `ready` ends it."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The server stops: it finishes running requests, and accepts no new ones."""
        self._tell("STOPPING=1", "STATUS=finishing running requests")

    def look(self, now_s: float) -> None:
        """Say that the event loop runs, if it is time. `now_s`: a clock that only rises."""
        if self.alive_period_s is not None and now_s - self._said_at_s >= self.alive_period_s:
            self._said_at_s = now_s
            self._tell("WATCHDOG=1")

    def _tell(self, *lines: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(SEND_TIMEOUT_S)
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            fields = {"reason": str(error)}
            _logger.warning("the service manager was not told: %s", lines[0], extra={"fields": fields})
