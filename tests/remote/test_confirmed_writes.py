"""`--min-replicas`: a write is acknowledged when its replicas have it, and otherwise its outcome is
unknown."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server
from tests.support.waiting_readers import until

ENTRY = {"fields": {"rider": "Castilla"}}


def test_a_write_that_its_replica_does_not_confirm_has_an_unknown_outcome(tmp_path: Path) -> None:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with (
        RedisOnPort(executable, "--repl-diskless-sync-delay", "0") as master,
        RedisOnPort(executable, "--replicaof", "127.0.0.1", str(master.port)) as replica,
    ):
        until(lambda: b"master_link_status:up" in replica.info("replication"))
        options = ("--store", master.url, "--min-replicas", "1", "--min-replicas-timeout-ms", "300")
        with running_server(tmp_path, *options) as gateway:
            entries = f"{gateway.base_url}/v1/streams/s/entries"
            assert httpx.post(entries, json=ENTRY, timeout=20).status_code == 201
            replica.send_signal(signal.SIGSTOP)
            unknown = httpx.post(entries, json=ENTRY, timeout=20)
            assert (unknown.status_code, unknown.json()["side_effects"]) == (503, "unknown")
            unasked = httpx.post(entries, json=ENTRY, headers={"Min-Replicas": "0"}, timeout=20)
            assert unasked.status_code == 201
            replica.send_signal(signal.SIGCONT)
            until(lambda: httpx.post(entries, json=ENTRY, timeout=20).status_code == 201)
