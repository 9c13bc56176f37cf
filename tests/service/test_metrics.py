"""`/metrics` of a running server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from tests.support.server_process import ServerProcess, running_server

ENTRY = {"fields": {"rider": "Castilla"}}
SAMPLED_WITHIN_S = 5


def scrape(server: ServerProcess) -> str:
    answer = httpx.get(f"{server.base_url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return answer.text


def figures(server: ServerProcess, **labels: str) -> dict[str, float]:
    """Return the values of all samples with these labels, by name."""
    families = text_string_to_metric_families(scrape(server))
    return {
        sample.name: sample.value
        for family in families
        for sample in family.samples
        if labels.items() <= sample.labels.items()
    }


def labelled(server: ServerProcess, name: str) -> list[tuple[Mapping[str, str], float]]:
    families = text_string_to_metric_families(scrape(server))
    return [
        (sample.labels, sample.value)
        for family in families
        for sample in family.samples
        if sample.name == name
    ]


def post(server: ServerProcess, path: str, body: object, **options: object) -> httpx.Response:
    return httpx.post(f"{server.base_url}{path}", json=body, **options)  # type: ignore[arg-type]


def test_the_figures_follow_what_happens(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        before = figures(server)
        for _ in range(3):
            post(server, "/v1/streams/s/entries", ENTRY)
        httpx.put(f"{server.base_url}/v1/streams/s/groups/g", json={"after": "0"})
        read = {"group": "g", "consumer": "c", "count": 2, "streams": [{"key": "s", "id": ">"}]}
        post(server, "/v1/read-group", read)
        after = figures(server)
    assert (before["tailrace_entries"], before["tailrace_streams"]) == (0, 0)
    assert (after["tailrace_entries"], after["tailrace_streams"], after["tailrace_groups"]) == (3, 1, 1)
    assert after["tailrace_pending_entries"] == 2
    assert after["tailrace_commits_total"] - before["tailrace_commits_total"] == 5
    assert after["tailrace_commit_duration_seconds_count"] == 5
    assert after["tailrace_commit_commands_sum"] == 5
    assert after["tailrace_journal_bytes"] == after["tailrace_commit_bytes_total"] > 0
    assert after["tailrace_data_bytes"] > after["tailrace_journal_bytes"]
    assert (after["tailrace_ready"], after["tailrace_storage_failed"]) == (1, 0)


def test_staged_chunks_are_counted_by_the_names_of_their_streams(tmp_path: Path) -> None:
    chunks = f"s:staged:{0:032x}"
    with running_server(tmp_path, "--durability", "none") as server:
        before = figures(server)
        for key in ("s", chunks, chunks, f"{chunks}:commit", "s:staged:0"):
            post(server, f"/v1/streams/{key}/entries", ENTRY)
        after = figures(server)
        size = httpx.get(f"{server.base_url}/v1/streams/{chunks}").json()["bytes"]
    assert (before["tailrace_staged_entries"], before["tailrace_staged_bytes"]) == (0, 0)
    assert (after["tailrace_staged_entries"], after["tailrace_staged_bytes"]) == (2, size)
    assert after["tailrace_entries"] == 5


def test_the_bytes_that_retention_must_keep_for_a_group_are_shown_after_a_sweep(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        assert figures(server)["tailrace_retention_protected_bytes"] == 0
        rules = {"max_length": 1, "protect_unread": True}
        httpx.put(f"{server.base_url}/v1/streams/s", json={"retention": rules})
        httpx.put(f"{server.base_url}/v1/streams/s/groups/g", json={"after": "0"})
        post(server, "/v1/streams/s/entries:batch", {"entries": [ENTRY] * 1000})
        deadline = time.monotonic() + SAMPLED_WITHIN_S
        while not (size_bytes := figures(server)["tailrace_retention_protected_bytes"]):
            assert time.monotonic() < deadline, "no sweep"
        shown = httpx.get(f"{server.base_url}/v1/streams/s").json()["retention"]
        assert size_bytes == shown["protected_bytes"] > 0


def test_a_server_in_memory_has_no_figures_of_storage(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        shown = figures(server)
    assert "tailrace_storage_failed" not in shown
    assert shown["tailrace_ready"] == 1


def test_requests_are_counted_by_operation_and_status_on_both_ways_to_a_hot_route(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        path = "/v1/streams/s/entries"
        post(server, path, ENTRY)
        post(server, path, ENTRY, headers={"x-unplain": "1"})
        for _ in range(2):
            post(server, path, {"id": "0-1", **ENTRY})
        httpx.get(f"{server.base_url}/v1/streams/none")
        httpx.get(f"{server.base_url}/nothing/here")
        answered = {
            (labels["operation"], labels["status"]): count
            for labels, count in labelled(server, "tailrace_requests_total")
        }
        took = figures(server, operation="xadd")
        refused = labelled(server, "tailrace_commands_refused_total")
    assert answered == {
        ("xadd", "201"): 2,
        ("xadd", "409"): 2,
        ("xinfo_stream", "404"): 1,
        ("unrouted", "404"): 1,
    }
    assert took["tailrace_request_duration_seconds_count"] == 4
    assert took["tailrace_request_duration_seconds_sum"] > 0
    assert refused == [
        ({"command": "xadd", "code": "ID_NOT_GREATER"}, 2),
        ({"command": "xinfo_stream", "code": "NO_SUCH_STREAM"}, 1),
    ]


def test_what_a_read_waits_as_asked_is_no_part_of_its_duration(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        query = {"after": "$", "wait_ms": "2000"}
        httpx.get(f"{server.base_url}/v1/streams/s/entries", params=query)
        took = figures(server, operation="xrange")
    assert took["tailrace_request_duration_seconds_sum"] < 2


def test_what_is_open_is_counted_while_it_is_open(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        tail = f"{server.base_url}/v1/streams/s/entries:tail"
        socket_url = server.base_url.replace("http", "ws") + "/v1/ws"
        with httpx.stream("GET", tail) as stream, connect(socket_url) as socket:
            assert stream.status_code == 200
            subscribe = {
                "id": 1,
                "op": "subscribe",
                "streams": [{"key": "s", "after": "$"}],
                "credit": {"entries": 1},
            }
            socket.recv()
            socket.send(msgspec.json.encode(subscribe).decode())
            assert "ok" in msgspec.json.decode(socket.recv())
            during = figures(server)
    assert during["tailrace_event_streams"] == during["tailrace_websockets"] == 1
    assert during["tailrace_subscriptions"] == 1
    assert during["tailrace_waiting_readers"] == 2
    assert during["tailrace_connections"] == 3


@pytest.mark.parametrize(("option", "named"), [("2", 2), ("0", 0)])
def test_groups_beyond_the_cap_are_shown_as_one(tmp_path: Path, option: str, named: int) -> None:
    with running_server(tmp_path, "--durability", "none", "--metrics-groups", option) as server:
        for number in range(4):
            body = {"after": "0", "create_stream": True}
            httpx.put(f"{server.base_url}/v1/streams/s{number}/groups/g", json=body)
            for _ in range(number):
                post(server, f"/v1/streams/s{number}/entries", ENTRY)
        shown = labelled(server, "tailrace_group_lag_entries")
    by_name = {(labels["key"], labels["group"]): lag for labels, lag in shown}
    expected = {("s3", "g"): 3, ("s2", "g"): 2} if named else {}
    assert by_name == {**expected, ("", "other"): 6 - sum(expected.values())}


def test_names_that_are_not_utf_8_or_look_alike_are_labels_of_their_own(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        for name in ("%FF", "%5Cxff", "a%0Ab", "a%20b", "%22"):
            body = {"after": "0", "create_stream": True}
            assert httpx.put(f"{server.base_url}/v1/streams/{name}/groups/g", json=body).status_code == 201
        keys = [labels["key"] for labels, _ in labelled(server, "tailrace_group_lag_entries")]
    assert sorted(keys) == sorted(["\\xff", "\\\\xff", "a\nb", "a b", '"'])


def test_a_scraper_that_asks_for_openmetrics_gets_it_with_the_same_figures(server: ServerProcess) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    answer = httpx.get(f"{server.base_url}/metrics", headers={"accept": accept})
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("# EOF\n")
    assert answer.text.count("# EOF") == 1
    modern = {family.name for family in openmetrics_families(answer.text)}  # type: ignore[no-untyped-call] # the library's
    plain = {family.name for family in text_string_to_metric_families(scrape(server))}
    assert {name.removesuffix("_info") for name in plain} == modern


def test_no_figure_is_shown_twice(server: ServerProcess) -> None:
    lines = [line for line in scrape(server).splitlines() if not line.startswith("#")]
    names = [line.rpartition(" ")[0] for line in lines]
    assert len(names) == len(set(names))


def test_a_query_a_header_and_a_body_leave_no_trace_in_the_figures(server: ServerProcess) -> None:
    httpx.post(
        f"{server.base_url}/v1/streams/s/entries",
        params={"token": "c0nfided-query"},
        headers={"authorization": "Bearer c0nfided-header"},
        json={"fields": {"rider": "c0nfided-body"}},
    )
    httpx.get(f"{server.base_url}/c0nfided-path")
    assert "c0nfided" not in scrape(server)
