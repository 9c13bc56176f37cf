"""Scheduled entries in a migration: they stay in the source, and are named."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.migrate.places import End, migrated


def test_scheduled_entries_that_stay_behind_are_named(tailrace: End, tmp_path: Path) -> None:
    key = "scheduled:lost"
    with httpx.Client(base_url=f"{tailrace.address}/v1") as client:
        client.post(f"/streams/{key}/entries", json={"id": "1-0", "fields": {"n": "1"}})
        for _ in range(2):
            later = {"fields": {"n": "2"}, "delay_ms": 3_600_000}
            assert client.post(f"/streams/{key}/entries", json=later).is_success
        printed = migrated(tailrace, tmp_path / "data", "--keys", key, "--accept-losses", directory=tmp_path)
        assert f"the target cannot hold: {key}: 2 scheduled entries: they stay" in " ".join(printed.split())
        assert client.get(f"/streams/{key}").json()["scheduled"] == 2
