"""Servers for the tests of an application: in memory, in this process, with a clock that a test can move.

It owns the start and the stop of such a server. It never decides what a stream does, and a production server
never imports it.
"""

from __future__ import annotations

from tailrace.testing.application import TestApplication, application
from tailrace.testing.async_server import AsyncTestClock, AsyncTestServer, async_server
from tailrace.testing.clock import TestClock
from tailrace.testing.server import TestServer, server

__all__ = [
    "AsyncTestClock",
    "AsyncTestServer",
    "TestApplication",
    "TestClock",
    "TestServer",
    "application",
    "async_server",
    "server",
]
