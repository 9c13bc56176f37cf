"""The retention of streams in a migration: carried between Tailrace stores, and named where it is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.migrate.places import End, migrate, migrated
from tests.support.redis_cluster import RedisCluster
from tests.support.server_process import running_server

RULES = {"max_age_ms": 1, "max_length": 1, "protect_unread": True}
ENTRIES = 3


def retained(url: str, key: str, rules: dict[str, Any] = RULES) -> None:
    """A stream whose entries all exceed its rules: they remain because the group has not read them."""
    with httpx.Client(base_url=f"{url}/v1") as client:
        client.delete(f"/streams/{key}")
        client.put(f"/streams/{key}/groups/g", json={"after": "0", "create_stream": True})
        entries = [{"id": f"{number}-0", "fields": {"n": str(number)}} for number in range(1, ENTRIES + 1)]
        client.post(f"/streams/{key}/entries:batch", json={"entries": entries})
        assert client.post(f"/streams/{key}:configure", json={"retention": rules}).is_success


def state_of(url: str, key: str) -> tuple[int, dict[str, Any]]:
    stream = httpx.get(f"{url}/v1/streams/{key}").json()
    rules = stream["retention"] or {}
    return stream["length"], {name: rules[name] for name in RULES if name in rules}


def test_retention_goes_to_a_directory_and_back_and_removes_nothing_on_its_way(
    tailrace: End, tmp_path: Path
) -> None:
    key, data = "retention:round", tmp_path / "data"
    retained(tailrace.address, key)
    migrated(tailrace, data, "--keys", key, directory=tmp_path)
    httpx.post(f"{tailrace.address}/v1/streams/{key}:configure", json={"retention": {"max_length": 9}})
    compared = migrate(data, tailrace, "--keys", key, "--verify-only", directory=tmp_path)
    assert compared.returncode == 1
    said = " ".join(compared.stderr.split())
    assert "max_length 1, protect_unread in the source and max_length 9 in the target" in said
    migrated(data, tailrace, "--keys", key, directory=tmp_path)
    assert state_of(tailrace.address, key) == (ENTRIES, RULES)


def lost_on_the_way_to(target: str, key: str, source: End, directory: Path) -> None:
    """No engine has `max_bytes`, and a gateway in front of it neither."""
    retained(source.address, key, {"max_bytes": 1, "protect_unread": True})
    surveyed = migrate(source, target, "--keys", key, "--dry-run", directory=directory)
    assert "the target cannot hold: " + key + ": the retention max_bytes 1" in " ".join(
        surveyed.stdout.split()
    )
    printed = migrated(source, target, "--keys", key, "--accept-losses", directory=directory)
    assert printed.splitlines()[-1].endswith("equal")


def test_retention_that_redis_cannot_hold_is_named(redis_8: End, tailrace: End, tmp_path: Path) -> None:
    lost_on_the_way_to(redis_8.address, "retention:redis", tailrace, tmp_path)
    assert redis_8.run("XLEN", "retention:redis") == ENTRIES


def test_retention_that_a_gateway_cannot_hold_is_named(
    cluster: RedisCluster, in_cluster: End, tailrace: End, tmp_path: Path
) -> None:
    engine = f"redis+cluster://{cluster.nodes[0].address}"
    with running_server(tmp_path, "--store", engine) as gateway:
        lost_on_the_way_to(gateway.base_url, "retention:gateway", tailrace, tmp_path)
    assert in_cluster.run("XLEN", "retention:gateway") == ENTRIES
