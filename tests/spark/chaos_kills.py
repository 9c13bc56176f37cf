"""Find and kill a Python worker or an executor of a driver that this run started.

A driver starts a session of its own, so its session id tells its processes from all others.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

WORKER: Final = b"pyspark.daemon"
EXECUTOR: Final = b"CoarseGrainedExecutorBackend"


def kill_a_worker(session_id: int, chance: random.Random) -> str | None:
    """Kill one of the workers and executors, and return which kind it was; None if there are none yet."""
    found = victims(session_id)
    while found:
        kind = chance.choice(sorted(found))
        victim = chance.choice(found[kind])
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            return kind
        found = victims(session_id)
    return None


def victims(session_id: int) -> dict[str, list[int]]:
    """The workers and executors of a session, by kind. Daemons that fork workers are no victims."""
    commands = {pid: _command(pid) for pid in _pids_of(session_id)}
    daemons = {pid for pid, command in commands.items() if WORKER in command}
    workers = [pid for pid in daemons if _parent_of(pid) in daemons]
    executors = [pid for pid, command in commands.items() if EXECUTOR in command]
    kinds = {"Python workers": workers, "executors": executors}
    return {kind: pids for kind, pids in kinds.items() if pids}


def _pids_of(session_id: int) -> list[int]:
    pids = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            pid = int(directory.name)
            if os.getsid(pid) == session_id:
                pids.append(pid)
    return pids


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _parent_of(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0
