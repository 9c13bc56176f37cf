"""What `/metrics` says, from outside."""

from __future__ import annotations

from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.server_process import ServerProcess, running_server

ENTRY = {"fields": {"rider": "Castilla"}}


def figures(server: ServerProcess) -> dict[str, float]:
    answer = httpx.get(f"{server.base_url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_the_figures_follow_what_happens(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        before = figures(server)
        for _ in range(3):
            httpx.post(f"{server.base_url}/v1/streams/s/entries", json=ENTRY)
        httpx.put(f"{server.base_url}/v1/streams/s/groups/g", json={"after": "0"})
        read = {"group": "g", "consumer": "c", "count": 2, "streams": [{"key": "s", "id": ">"}]}
        httpx.post(f"{server.base_url}/v1/read-group", json=read)
        after = figures(server)
    assert (before["tailrace_entries"], before["tailrace_streams"]) == (0, 0)
    assert (after["tailrace_entries"], after["tailrace_streams"], after["tailrace_groups"]) == (3, 1, 1)
    assert after["tailrace_pending_entries"] == 2
    assert after["tailrace_commits_total"] - before["tailrace_commits_total"] == 5
    assert after["tailrace_journal_bytes"] > 0
    assert (after["tailrace_ready"], after["tailrace_storage_failed"]) == (1, 0)


def test_a_server_in_memory_has_no_figures_of_storage(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        shown = figures(server)
    assert "tailrace_storage_failed" not in shown
    assert shown["tailrace_ready"] == 1
