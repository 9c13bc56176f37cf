"""The log record of a request: what it contains, and what it never contains."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from tests.support.server_process import ServerProcess, running_server


def logged_request(server: ServerProcess, request_id: str) -> dict[str, Any]:
    """The record of that request; it is written after the answer, so it may be a moment late."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        for record in server.log_records:
            if record.get("request_id") == request_id:
                return record
        time.sleep(0.01)
    raise AssertionError(f"no record of {request_id}")


def test_a_request_is_logged_as_json_with_id_method_path_status_and_duration(server: ServerProcess) -> None:
    url = f"{server.base_url}/v1/streams/race%3Alogged%2F1/entries"
    answer = httpx.post(url, json={"fields": {"rider": "Norem"}}, headers={"x-request-id": "logged-1"})
    record = logged_request(server, "logged-1")
    assert answer.headers["x-request-id"] == "logged-1"
    assert record["level"] == "info"
    assert record["event"] == "request"
    assert record["method"] == "POST"
    assert record["path"] == "/v1/streams/race%3Alogged%2F1/entries"
    assert record["status"] == answer.status_code == 201
    assert record["duration_ms"] > 0


def test_a_request_without_an_id_is_given_one(server: ServerProcess) -> None:
    answer = httpx.get(f"{server.base_url}/v1/limits")
    assert logged_request(server, answer.headers["x-request-id"])["path"] == "/v1/limits"


def test_queries_headers_and_bodies_are_not_logged(server: ServerProcess) -> None:
    httpx.post(
        f"{server.base_url}/v1/streams/race:secret/entries?token=s3cret-query",
        json={"fields": {"rider": "s3cret-body"}},
        headers={"authorization": "Bearer s3cret-header", "x-request-id": "secretive"},
    )
    logged_request(server, "secretive")
    assert "s3cret" not in server.log_text


def test_at_level_warning_no_request_is_logged(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning", "--durability", "none") as server:
        httpx.get(f"{server.base_url}/healthz")
        assert [record["event"] for record in server.log_records] == [
            "data is in memory only and is lost when this process ends"
        ]
