"""The incarnations of streams through restarts, crashes, backups, and with `--durability none`."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx

from tests.support.server_process import ServerProcess, running_server, tailrace


def append(server: ServerProcess) -> None:
    httpx.post(f"{server.base_url}/v1/streams/s/entries", json={"fields": {"n": "1"}}).raise_for_status()


def incarnation(server: ServerProcess) -> str:
    state = httpx.get(f"{server.base_url}/v1/streams/s").raise_for_status().json()
    assert state["incarnation"]
    return str(state["incarnation"])


def test_a_restart_and_a_crash_keep_it_and_a_stream_made_anew_after_them_has_another(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        append(server)
        expected = incarnation(server)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    with running_server(tmp_path) as server:
        assert incarnation(server) == expected
        append(server)
        server.kill()
    with running_server(tmp_path) as server:
        assert incarnation(server) == expected
        httpx.delete(f"{server.base_url}/v1/streams/s").raise_for_status()
        server.kill()
    with running_server(tmp_path) as server:
        append(server)
        assert incarnation(server) != expected


def test_a_backup_and_each_restore_of_it_have_their_own(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        append(server)
        seen = {incarnation(server)}
        assert tailrace("backup", str(tmp_path / "data"), str(tmp_path / "backup")).returncode == 0
    for name in ("one", "other"):
        restored = tmp_path / name / "data"
        assert tailrace("restore", str(tmp_path / "backup"), str(restored)).returncode == 0
        with running_server(tmp_path / name) as server:
            seen.add(incarnation(server))
    with running_server(tmp_path, "--data-dir", str(tmp_path / "backup")) as server:
        seen.add(incarnation(server))
    assert len(seen) == 4


def test_two_servers_that_keep_nothing_never_share_one(tmp_path: Path) -> None:
    seen = set()
    for _ in range(2):
        with running_server(tmp_path, "--durability", "none") as server:
            append(server)
            seen.add(incarnation(server))
    assert len(seen) == 2
