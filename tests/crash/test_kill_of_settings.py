"""`kill -9` right after settings of groups and heartbeats were acknowledged: a restart has all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.support.server_process import running_server

ROUNDS = 3


def test_acknowledged_settings_and_heartbeats_survive(tmp_path: Path) -> None:
    expected: dict[str, Any] = {}
    value = ""
    for number in range(ROUNDS):
        with running_server(tmp_path) as server:
            url = f"{server.base_url}/v1/streams/s/groups/g"
            if not number:
                httpx.put(url, json={"after": "0", "create_stream": True}).raise_for_status()
                value = httpx.post(
                    f"{server.base_url}/v1/streams/s/entries", json={"fields": {"n": "1"}}
                ).json()["id"]
                read = {"group": "g", "consumer": "alice", "streams": [{"key": "s"}]}
                httpx.post(f"{server.base_url}/v1/read-group", json=read).raise_for_status()
            found = httpx.get(url).json()
            assert {name: found.get(name) for name in expected} == expected
            expected = {
                "claim_min_idle_ms": 60_000 + number,
                "consumer_expiry_ms": 3_600_000 + number,
                "max_lag_ms": 1_000 + number,
                "max_deliveries": 5 + number,
                "dead_letter_stream": f"dead:{number}",
            }
            httpx.post(f"{url}:configure", json=expected).raise_for_status()
            kept = httpx.post(f"{url}:extend", json={"consumer": "alice", "ids": [value]}).json()
            assert kept == {"extended": [value], "lost": []}
            [before] = httpx.get(f"{url}/pending").json()["pending"]
            server.kill()
        with running_server(tmp_path) as server:
            [after] = httpx.get(f"{server.base_url}/v1/streams/s/groups/g/pending").json()["pending"]
            names = ("consumer", "deliveries", "delivered_at_ms")
            assert [after[name] for name in names] == [before[name] for name in names]
