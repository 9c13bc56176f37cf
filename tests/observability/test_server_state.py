"""`GET /v1/server`: what one response says of the server, its bounds, and who may read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tailrace.api.principals import ANONYMOUS_LOCAL, Act
from tailrace.app.metrics.census import WEIGHED_MAX, Census
from tailrace.app.observability.audit import CAPACITY, KEYS_SHOWN_MAX, AuditLog
from tailrace.app.observability.counters import RECENT_MAX, CommitFigures
from tailrace.core.commands import Append
from tailrace.core.engine import Engine
from tests.support.api_client import the_document
from tests.support.server_process import running_server
from tests.support.tokens import ALL_SCOPES, bearer, make_token

VALUE_WRITTEN = "a-value-that-nobody-may-see"


class Served:
    """A server with tokens: `root` may do everything, `races` everything on `race:*`."""

    def __init__(self, url: str, tokens_file: Path) -> None:
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=60)
        self.root = make_token(tokens_file, *ALL_SCOPES, name="root")
        self.races = make_token(tokens_file, *ALL_SCOPES, keys=["race:*"], name="races")
        while self.http.get("/v1/access", headers=bearer(self.races)).status_code == 401:
            pass  # the server reads the file again within a quarter of a second

    def state(self, **query: int) -> dict[str, Any]:
        answer = self.http.get("/v1/server", params=query, headers=bearer(self.root))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def append(self, key: str, count: int) -> None:
        body = {"entries": [{"fields": {"rider": VALUE_WRITTEN}}] * count}
        answer = self.http.post(f"/v1/streams/{key}/entries:batch", json=body, headers=bearer(self.root))
        assert answer.status_code == 201


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = tmp_path_factory.mktemp("served")
    tokens_file = directory / "tokens.json"
    make_token(tokens_file, "read", name="first")
    options = ("--tokens-file", str(tokens_file), "--slow-log-ms", "0", "--memory-limit-mb", "4096")
    with running_server(directory, *options) as server:
        yield Served(server.base_url, tokens_file)


def test_the_response_fits_the_document_and_counts_what_there_is(served: Served) -> None:
    served.append("race:one", 30)
    served.append("race:two", 20)
    state = served.state()
    ((_, shape),) = the_document().operations["show_server"].responses["200"]["content"].items()
    the_document().assert_fits(state, shape["schema"])
    assert (state["store"], state["durability"], state["nodes"]) == ("disk", "always", [])
    assert state["contents"]["streams"] >= 2
    assert state["contents"]["entries"] >= 50
    assert state["memory"]["resident_bytes"] > 10_000_000
    assert state["memory"]["limit_bytes"] == 4096 << 20
    assert state["connections"]["open"] >= 1
    assert state["storage"]["data_bytes"] > 0
    latency = state["storage"]["commit_latency"]
    assert 0 < latency["p50_ms"] <= latency["p99_ms"] <= latency["max_ms"]
    assert state["limits"]["memory_limit_mb"] == 4096


def test_the_largest_streams_come_first_with_about_their_bytes(served: Served) -> None:
    served.append("race:large", 3_000)
    served.append("race:small", 3)
    large, *others = served.state()["largest_streams"]
    assert (large["key"], large["length"]) == ("race:large", 3_000)
    assert [each["bytes"] for each in others] == sorted((each["bytes"] for each in others), reverse=True)
    head = served.http.head("/v1/streams/race:large", headers=bearer(served.root))
    shown = served.http.get("/v1/streams/race:large", headers=bearer(served.root)).json()
    assert int(head.headers["X-Stream-Bytes"]) == shown["bytes"] == large["bytes"]


def test_audit_lines_and_slow_operations_name_the_act_and_never_a_token_or_a_value(served: Served) -> None:
    served.append("race:gone", 1)
    served.http.delete("/v1/streams/race:gone", headers=bearer(served.root))
    served.http.delete("/v1/streams/other:gone", headers=bearer(served.races))
    answer = served.http.get("/v1/server", params={"limit": 100}, headers=bearer(served.root))
    for secret in (served.root, served.races, served.root.rpartition("_")[2], VALUE_WRITTEN):
        assert secret not in answer.text
    acts = answer.json()["audit"]["acts"]
    assert [(act["token"], act["operation"], act["keys"], act["outcome"]) for act in acts[:2]] == [
        ("races", "delete_stream", ["other:gone"], "denied"),
        ("root", "delete_stream", ["race:gone"], "done"),
    ]
    assert "delete_stream" in [each["operation"] for each in answer.json()["slow_log"]["operations"]]


@pytest.mark.parametrize("limit", [1, 2])
def test_each_list_has_at_most_as_many_items_as_asked(served: Served, limit: int) -> None:
    for name in ("race:a", "race:b", "race:c"):
        served.append(name, 1)
        served.http.delete(f"/v1/streams/{name}/entries/1-1", headers=bearer(served.root))
    state = served.state(limit=limit)
    assert len(state["largest_streams"]) == limit
    assert len(state["slow_log"]["operations"]) == limit
    assert len(state["audit"]["acts"]) == limit


@pytest.mark.parametrize("limit", ["0", "101", "x"])
def test_another_number_of_items_is_refused(served: Served, limit: str) -> None:
    answer = served.http.get("/v1/server", params={"limit": limit}, headers=bearer(served.root))
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")


def test_a_token_that_does_not_reach_all_keys_is_refused(served: Served) -> None:
    answer = served.http.get("/v1/server", headers=bearer(served.races))
    assert (answer.status_code, answer.json()["code"]) == (403, "NOPERM")
    assert "race:" not in answer.text


# --- the bounds in memory ------------------------------------------------------------------------------


def test_the_audit_log_keeps_the_newest_lines_and_few_keys_of_each() -> None:
    log = AuditLog()
    for number in range(CAPACITY + 10):
        keys = [b"\xff%d" % each for each in range(number)]
        log(Act(ANONYMOUS_LOCAL, f"act-{number}", keys, "done", None))
    lines = log.latest(1_000)
    assert len(lines) == CAPACITY
    assert lines[0]["operation"] == f"act-{CAPACITY + 9}"
    assert lines[0]["keys"] == [f"\\xff{each}" for each in range(KEYS_SHOWN_MAX)]
    assert lines[0]["keys_count"] == CAPACITY + 9


def test_the_durations_of_the_last_commits_are_kept() -> None:
    figures = CommitFigures()
    for duration_ns in range(RECENT_MAX + 5):
        figures.note(duration_ns, 1, 1)
    assert list(figures.recent_ns) == list(range(5, RECENT_MAX + 5))


def test_a_census_remembers_the_streams_with_the_most_blocks() -> None:
    engine = Engine()
    for number in range(WEIGHED_MAX + 50):
        engine.execute(Append(b"%03d" % number, [b'{"a":"b"}'] * (number % 40 + 1)), 1)
    for key in (b"007", b"100"):
        engine.execute(Append(key, [b'{"a":"b"}'] * 500), 1)
    census = Census(engine.keyspace, 1, 0)
    for _ in census.steps():
        pass
    assert set(census.heaviest(2)) == {b"007", b"100"}
    assert len(census.heaviest(10_000)) == WEIGHED_MAX
