"""A server whose disk takes a random time for each commit, as a program that starts it.

Owns the text of the program. Only the caller starts it (`server_process`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

COMMIT_S: Final = (0.0, 0.001, 0.004)
"""The times that a commit takes in addition to its own."""

_PROGRAM: Final = """#!{python}
import random
import time

from tailrace.core.storage import journal

chance = random.Random({seed})
commit = journal.append


def slow(connection, seq, body):
    commit(connection, seq, body)
    time.sleep(chance.choice({times}))


journal.append = slow
{more}
from tailrace.app.cli import main

main()
"""

_NARROW: Final = """
from tailrace.api import websocket_limits
from tailrace.api.wire import turns

websocket_limits.TURN_REQUESTS_MAX = 3
websocket_limits.TURN_BYTES_MAX = 400
websocket_limits.BACKLOG_MAX = 12
websocket_limits.OUTPUT_PAUSE_BYTES = 4096
turns.AT_ONCE_BYTES_MAX = 300

import socket

from tailrace.app.protocols.websocket import WebSocketProtocol

made = WebSocketProtocol.connection_made


def connection_made(self, transport):
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    made(self, transport)


WebSocketProtocol.connection_made = connection_made
"""


def slow_disk_program(directory: Path, seed: int, *, is_narrow: bool = False) -> Path:
    """Write the program to `directory`, and return its path. `is_narrow`: with small limits of WebSockets."""
    program = directory / "serve_with_a_slow_disk"
    program.write_text(
        _PROGRAM.format(python=sys.executable, seed=seed, times=COMMIT_S, more=_NARROW if is_narrow else "")
    )
    program.chmod(0o755)
    return program
