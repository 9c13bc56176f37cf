"""Settings of groups in a migration: carried between Tailrace stores, and named where they are lost."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.migrate.places import End, migrated
from tests.support.engines import engine, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server

SETTINGS = {
    "max_deliveries": 1,
    "dead_letter_stream": "settings:dead",
    "filter": 'fields.n == "1"',
    "claim_min_idle_ms": 60_000,
    "consumer_expiry_ms": 300_000,
    "max_lag_ms": 1_000,
    "order_by": "n",
    "backoff": {"initial_ms": 1_000, "factor": 1.5, "max_ms": 60_000},
}


def configured(url: str, key: str) -> None:
    """A stream with a group that has settings, a pending entry, and one that a nack has given back."""
    with httpx.Client(base_url=f"{url}/v1") as client:
        client.delete(f"/streams/{key}")
        client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
        for number in (1, 2):
            client.post(f"/streams/{key}/entries", json={"id": f"{number}-0", "fields": {"n": "1"}})
        client.post("/read-group", json={"group": "g", "consumer": "alice", "streams": [{"key": key}]})
        client.post(f"/streams/{key}/groups/g:nack", json={"ids": ["1-0"], "mode": "fail"})
        assert client.post(f"/streams/{key}/groups/g:configure", json=SETTINGS).is_success


def settings_of(url: str, key: str) -> dict[str, object]:
    group = httpx.get(f"{url}/v1/streams/{key}/groups/g").json()
    assert group["pending"] == 2, "no entry has moved"
    return {name: group.get(name) for name in SETTINGS}


def test_settings_go_from_a_server_to_a_directory_and_to_a_server(tailrace: End, tmp_path: Path) -> None:
    key, data = "settings:round", tmp_path / "data"
    configured(tailrace.address, key)
    for _ in range(2):
        printed = migrated(tailrace, data, "--keys", key, directory=tmp_path)
        assert printed.splitlines()[-1].endswith("equal")
    with running_server(tmp_path) as server:
        assert settings_of(server.base_url, key) == SETTINGS
    httpx.delete(f"{tailrace.address}/v1/streams/{key}")
    migrated(data, tailrace, "--keys", key, directory=tmp_path)
    assert settings_of(tailrace.address, key) == SETTINGS


def test_what_redis_cannot_hold_is_named(redis_8: End, tailrace: End, tmp_path: Path) -> None:
    key = "settings:lost"
    configured(tailrace.address, key)
    httpx.post(
        f"{tailrace.address}/v1/streams/{key}/groups/g:configure",
        json={"dead_letter_stream": "/w==", "encoding": "base64"},
    )
    printed = migrated(tailrace, redis_8, "--keys", key, "--accept-losses", directory=tmp_path)
    lost = "group g: its settings (backoff_factor 1.5, backoff_initial_ms 1000, backoff_max_ms 60000, claim_"
    assert lost in " ".join(printed.split())


def test_no_entry_that_a_group_holds_back_is_lost(tailrace: End, tmp_path: Path) -> None:
    key, data = "settings:held", tmp_path / "data"
    read = {"group": "g", "consumer": "alice", "streams": [{"key": key}]}
    with httpx.Client(base_url=f"{tailrace.address}/v1") as client:
        client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
        client.post(f"/streams/{key}/groups/g:configure", json={"order_by": "n"})
        for number, value in enumerate("aaba", 1):
            client.post(f"/streams/{key}/entries", json={"id": f"{number}-0", "fields": {"n": value}})
        client.post("/read-group", json=read)
        client.post(f"/streams/{key}/groups/g:ack", json={"ids": ["3-0"]})
        assert client.get(f"/streams/{key}/groups/g").json()["held"] == 2
    printed = migrated(tailrace, data, "--keys", key, directory=tmp_path)
    assert printed.splitlines()[-1].endswith("equal")
    got = []
    with running_server(tmp_path) as server, httpx.Client(base_url=f"{server.base_url}/v1") as client:
        client.post(f"/streams/{key}/groups/g:ack", json={"ids": ["1-0"]})
        while streams := client.post("/read-group", json=read).json()["streams"]:
            if not (ids := [entry["id"] for entry in streams[0]["entries"]]):
                break
            got.append(ids)
            client.post(f"/streams/{key}/groups/g:ack", json={"ids": ids})
    assert got == [["2-0", "3-0"], ["4-0"]]


def test_a_gateway_gets_the_settings_that_it_has_and_the_others_are_named(
    tailrace: End, tmp_path: Path
) -> None:
    if executable_of("redis-8.10.2") is None and not required():
        pytest.skip("Redis 8.10.2 is missing")
    key = "settings:gateway"
    configured(tailrace.address, key)
    with engine("redis-8.10.2") as url, running_server(tmp_path, "--store", url) as gateway:
        for _ in range(2):
            printed = migrated(
                tailrace, gateway.base_url, "--keys", key, "--accept-losses", directory=tmp_path
            )
            lost = "backoff_max_ms 60000, consumer_expiry_ms 300000, filter"
            assert lost in " ".join(printed.split())
            assert printed.splitlines()[-1].endswith("equal")
        held = {"max_deliveries", "dead_letter_stream", "claim_min_idle_ms"}
        assert settings_of(gateway.base_url, key) == {
            name: value if name in held else None for name, value in SETTINGS.items()
        }
