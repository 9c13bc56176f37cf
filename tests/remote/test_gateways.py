"""Gateways in front of one Redis: several at once, keys of other types, an engine that goes and comes
back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.store import RemoteStore
from tailrace.core.commands import ScanKeys
from tailrace.core.replies import KeyScan, Reply
from tests.observability.test_monitoring_files import GIVEN_BY_PROMETHEUS, PAGE, alerts, figures_in
from tests.support.engines import ENGINE_FIGURES, RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.remote_stores import on_one
from tests.support.server_process import ServerProcess, running_server, tailrace
from tests.support.waiting_readers import Server, until

_numbers = count()
ENTRY = {"fields": {"rider": "Castilla"}}


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisOnPort]:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with RedisOnPort(executable) as server:
        yield server


@pytest.fixture(scope="module")
def gateways(redis: RedisOnPort, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    with ExitStack() as stack:
        directories = [tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")]
        options = ("--store", redis.url, "--slow-log-ms", "0")
        yield [stack.enter_context(running_server(each, *options)) for each in directories]


@pytest.fixture(scope="module")
def one(gateways: list[ServerProcess]) -> Iterator[Server]:
    with Server(gateways[0].base_url) as client:
        yield client


@pytest.fixture(scope="module")
def other(gateways: list[ServerProcess]) -> Iterator[Server]:
    with Server(gateways[1].base_url) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"gateway:{next(_numbers)}"


def problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json", response.text
    return response.status_code, response.json()["code"]


# --- two gateways ------------------------------------------------------------------------------------


def test_a_reader_that_waits_at_one_gateway_receives_what_is_appended_at_another(
    one: Server, other: Server, key: str
) -> None:
    body = {"streams": [{"key": key, "after": "$"}], "wait_ms": 20_000}
    reading = one.waiting("/v1/read", body)
    appended = other.post(f"/v1/streams/{key}/entries", ENTRY).json()["id"]
    (stream,) = reading.result(20).json()["streams"]
    assert [entry["id"] for entry in stream["entries"]] == [appended]


def test_a_group_reader_at_one_gateway_is_told_that_another_deleted_the_group(
    one: Server, other: Server, key: str
) -> None:
    one.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    body = {
        "group": "g",
        "consumer": "alice",
        "streams": [{"key": key, "id": ">"}],
        "wait_ms": 20_000,
    }
    reading = one.waiting("/v1/read-group", body)
    other.command("XGROUP", "DESTROY", key, "g")
    assert problem(reading.result(20)) == (404, "NOGROUP")


def test_an_entry_that_another_gateway_returned_goes_to_a_reader_that_claims(
    one: Server, other: Server, key: str
) -> None:
    one.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    one.command("XADD", key, "1-1", "a", "b")
    one.command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", key, ">")
    body = {
        "group": "g",
        "consumer": "bob",
        "streams": [{"key": key, "id": ">"}],
        "claim_min_idle_ms": 3_600_000,
        "wait_ms": 20_000,
    }
    reading = one.waiting("/v1/read-group", body)
    other.command("XNACK", key, "g", "FAIL", "IDS", "1", "1-1")
    (stream,) = reading.result(20).json()["streams"]
    assert [entry["id"] for entry in stream["entries"]] == ["1-1"]


def test_an_idempotency_key_counts_at_every_gateway(one: Server, other: Server, key: str) -> None:
    headers = {"Producer-Id": "p", "Idempotency-Key": "k"}
    answers = [
        httpx.post(f"{each.base_url}/v1/streams/{key}/entries", json=ENTRY, headers=headers)
        for each in (one, other)
    ]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json()["id"] == answers[1].json()["id"]


# --- keys of other types -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "/entries", ENTRY),
        ("POST", "/entries:batch", {"entries": [ENTRY, ENTRY]}),
        ("GET", "/entries", None),
        ("GET", "/groups", None),
        ("PUT", "/groups/g", {"create_stream": True}),
        ("POST", "/groups/g:ack", {"ids": ["1-1"]}),
        ("POST", "/groups/g:nack", {"ids": ["1-1"], "mode": "fail"}),
        ("GET", "/groups/g/pending", None),
        ("POST", "/entries:trim", {"max_length": 1}),
    ],
)
def test_a_value_of_another_type_is_a_409_and_stays(
    redis: RedisOnPort, one: Server, key: str, method: str, path: str, body: object
) -> None:
    redis.run("HSET", key, "a", "b")
    response = httpx.request(method, f"{one.base_url}/v1/streams/{key}{path}", json=body)
    assert problem(response) == (409, "WRONGTYPE")
    assert response.json()["key"] == key
    assert redis.run("HGET", key, "a") == b"b"


def test_values_of_other_types_are_no_streams_in_lists(redis: RedisOnPort, one: Server, key: str) -> None:
    redis.run("HSET", f"{key}:hash", "a", "b")
    one.command("XADD", f"{key}:stream", "*", "a", "b")
    listed = httpx.get(f"{one.base_url}/v1/streams", params={"prefix": key}).json()["streams"]
    assert [stream["key"] for stream in listed] == [f"{key}:stream"]
    assert one.command("EXISTS", f"{key}:hash", f"{key}:stream") == 1


def test_what_the_gateway_keeps_for_itself_never_shows(one: Server, key: str) -> None:
    headers = {"Producer-Id": "p", "Idempotency-Key": "k"}
    path = f"{one.base_url}/v1/streams/{key}"
    httpx.post(f"{path}/entries", json=ENTRY, headers=headers).raise_for_status()
    assert httpx.get(f"{path}/groups").json() == {"groups": []}
    assert httpx.get(path).json()["groups"] == 0
    assert [name for name in one.command("KEYS", "*") if key in name] == [key]


def test_keys_that_a_token_may_not_see_change_no_step_of_its_scan(redis: RedisOnPort, key: str) -> None:
    async def scenario(store: RemoteStore) -> None:
        async def steps() -> list[Reply]:
            seen = await store.execute(ScanKeys(0, 2, visible=(f"{key}:mine:*".encode(),)))
            found = [seen]
            while isinstance(seen, KeyScan) and seen.cursor:
                seen = await store.execute(ScanKeys(seen.cursor, 2, visible=(f"{key}:mine:*".encode(),)))
                found.append(seen)
            return found

        for number in range(5):
            redis.run("XADD", f"{key}:mine:{number}", "*", "a", "b")
        alone = await steps()
        for number in range(300):
            redis.run("XADD", f"{key}:others:{number}", "*", "a", "b")
        assert await steps() == alone
        keys = [each for step in alone if isinstance(step, KeyScan) for each in step.keys]
        assert sorted(keys) == [f"{key}:mine:{number}".encode() for number in range(5)]
        assert len(alone) == 3

    on_one(redis.url, scenario)


# --- what the engine can do, and options of a request ------------------------------------------------


def test_the_limits_show_what_the_engine_has(one: Server) -> None:
    engine = httpx.get(f"{one.base_url}/v1/limits").json()["engine"]
    assert {"name": "XNACK", "support": "native", "note": "the engine has it"} in engine
    refused = [each["name"] for each in engine if each["support"] == "refused"]
    assert refused == [
        "other settings of groups, such as `filter`, `consumer_expiry_ms`, `max_lag_ms`",
        "retention of streams: `max_bytes`",
        "appends and nacks with a delay, scheduled entries",
    ]


def test_the_metrics_name_the_nodes(redis: RedisOnPort, one: Server) -> None:
    page = httpx.get(f"{one.base_url}/metrics").text
    assert f'tailrace_engine_node_up{{node="127.0.0.1:{redis.port}",role="master"}} 1.0' in page
    assert f'tailrace_engine_may_evict{{node="127.0.0.1:{redis.port}"}} 0.0' in page


def test_the_page_names_the_alerts_that_no_gateway_raises_and_those_that_only_a_gateway_does(
    one: Server,
) -> None:
    text = httpx.get(f"{one.base_url}/metrics").text
    families = {family.name for family in text_string_to_metric_families(text)}
    assert {name for name in families if name.startswith("tailrace_engine_")} == {
        *ENGINE_FIGURES,
        "tailrace_engine_seconds",
    }
    figures = {alert["alert"]: figures_in(alert["expr"]) - GIVEN_BY_PROMETHEUS for alert in alerts()}
    told = re.search(
        r"never raises these alerts: (.*?)\. .*? Only a gateway raises\s(.*?)\.\n", PAGE, re.DOTALL
    )
    assert told is not None
    never, only = (set(re.findall(r"`(\w+)`", part)) for part in told.groups())
    have = families | {f"{name}_{part}" for name in families for part in ("total", "bucket")}
    assert never == {name for name, needed in figures.items() if needed and not needed & have}
    assert only == {name for name, needed in figures.items() if needed & ENGINE_FIGURES}


def test_a_ready_gateway_says_what_its_engine_may_lose(redis: RedisOnPort, one: Server) -> None:
    assert httpx.get(f"{one.base_url}/readyz").json() == {
        "status": "ready",
        "warnings": [f"127.0.0.1:{redis.port} loses entries if it crashes: its appendonly is no"],
    }


def test_the_slow_log_attributes_an_append_to_the_engine_and_not_to_a_disk(one: Server, key: str) -> None:
    httpx.post(f"{one.base_url}/v1/streams/{key}/entries", json=ENTRY, headers={"X-Request-Id": key})
    operations = httpx.get(f"{one.base_url}/v1/slow-log").json()["operations"]
    [noted] = [each for each in operations if each["request_id"] == key]
    assert noted["engine_ms"] > 0
    assert noted["commit_ms"] == 0


def test_a_write_that_asks_for_more_replicas_than_there_are_is_refused_and_not_sent(
    one: Server, key: str
) -> None:
    path = f"{one.base_url}/v1/streams/{key}"
    refused = httpx.post(f"{path}/entries", json=ENTRY, headers={"Min-Replicas": "1"})
    assert problem(refused) == (503, "NOT_ACCEPTING")
    assert refused.json()["side_effects"] == "none"
    assert httpx.get(path).status_code == 404


@pytest.mark.parametrize(
    "header", [{"Min-Replicas": "-1"}, {"Min-Replicas": "17"}, {"Min-Replicas": "x"}, {"Consistency": "weak"}]
)
def test_an_option_of_a_request_with_another_value_is_a_400_that_names_it(
    one: Server, key: str, header: dict[str, str]
) -> None:
    refused = httpx.get(f"{one.base_url}/v1/streams/{key}", headers=header)
    assert problem(refused) == (400, "INVALID_PARAMETER")
    (name, value) = next(iter(header.items()))
    assert name in refused.json()["detail"]
    assert repr(value) in refused.json()["detail"]


def test_an_eventual_read_is_answered_where_no_replica_is_connected(one: Server, key: str) -> None:
    one.command("XADD", key, "1-1", "a", "b")
    answer = httpx.get(f"{one.base_url}/v1/streams/{key}/entries", headers={"Consistency": "eventual"})
    assert [entry["id"] for entry in answer.json()["entries"]] == ["1-1"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("RENAME s t", "RENAME"),
        ("COPY s t", "COPY"),
        ("SCAN 0", "SCAN"),
        ("CONFIG GET stream-node-max-bytes", "CONFIG GET"),
        ("INFO", "INFO"),
        ("FLUSHDB", "FLUSHALL"),
    ],
)
def test_a_command_that_a_transaction_cannot_contain_is_a_501_with_its_name(
    one: Server, key: str, command: str, name: str
) -> None:
    refused = one.post("/v1/command/multi-exec", [["XADD", key, "*", "a", "b"], command.split()])
    assert problem(refused) == (501, "ENGINE_LACKS_FEATURE")
    assert refused.json()["feature"] == f"{name} in a transaction"
    assert one.command("EXISTS", key) == 0


def test_a_failure_of_the_servers_own_function_is_a_500(
    redis: RedisOnPort, one: Server, key: str, gateways: list[ServerProcess]
) -> None:
    one.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    path, keyed = f"{one.base_url}/v1/streams/{key}", {"Producer-Id": "p", "Idempotency-Key": "k"}
    with failing_library(redis):
        failed = httpx.post(f"{path}/entries", json=ENTRY, headers=keyed)
        assert problem(failed) == (500, "INTERNAL")
        assert failed.json()["side_effects"] == "unknown"
        body = {"group": "g", "consumer": "c", "streams": [{"key": key}], "wait_ms": 20_000, "min_count": 2}
        assert problem(httpx.post(f"{one.base_url}/v1/read-group", json=body)) == (500, "INTERNAL")
        [piped] = one.post("/v1/command/pipeline", [["XCLAIM", key, "g", "c", "0", "1-1"]]).json()
        assert piped["error"].startswith("ERR the server failed")
    assert "no such thing" in gateways[0].log_text
    assert httpx.post(f"{path}/entries", json=ENTRY, headers=keyed).status_code == 201


@contextmanager
def failing_library(redis: RedisOnPort) -> Iterator[None]:
    """Replace the functions of the gateways by functions that fail."""
    name = Library("functions").name
    functions = "".join(
        f"redis.register_function('{name}_{access}', "
        "function() return {err = 'ERR the function library failed: no such thing'} end)\n"
        for access in ("read", "change", "grow")
    )
    assert redis.run("FUNCTION", "LOAD", "REPLACE", f"#!lua name={name}\n{functions}") == name.encode()
    yield
    redis.run("FUNCTION", "FLUSH")


# --- an engine that goes and comes back --------------------------------------------------------------


def test_without_its_engine_a_gateway_names_the_node_and_goes_on_when_it_is_back(tmp_path: Path) -> None:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with RedisOnPort(executable) as engine, running_server(tmp_path, "--store", engine.url) as gateway:
        node, ready = f"127.0.0.1:{engine.port}", f"{gateway.base_url}/readyz"
        assert httpx.get(ready).status_code == 200
        engine.kill()
        until(lambda: httpx.get(ready).status_code == 503)
        not_ready = httpx.get(ready)
        assert node in not_ready.json()["detail"]
        assert not_ready.json()["retryable"]
        assert not_ready.headers["retry-after"] == "1"
        refused = httpx.post(f"{gateway.base_url}/v1/streams/s/entries", json=ENTRY, timeout=30)
        assert problem(refused) == (503, "NOT_ACCEPTING")
        assert node in refused.json()["detail"]
        assert refused.json()["side_effects"] == "none"
        tried = 'tailrace_commands_refused_total{code="NOT_ACCEPTING",command="xadd"} 1.0'
        assert tried in httpx.get(f"{gateway.base_url}/metrics").text, (
            "it was tried for the documented time once"
        )
        engine.start()
        until(lambda: httpx.get(ready).status_code == 200)
        assert httpx.post(f"{gateway.base_url}/v1/streams/s/entries", json=ENTRY).status_code == 201
        keyed = {"Producer-Id": "p", "Idempotency-Key": "k"}
        again = httpx.post(f"{gateway.base_url}/v1/streams/s/entries", json=ENTRY, headers=keyed)
        assert again.status_code == 201, "the library is loaded again"
        assert "Traceback" not in gateway.log_text


# --- errors at the start -----------------------------------------------------------------------------


def refused_start(tmp_path: Path, *options: str) -> str:
    """Return what `tailrace serve` prints before it exits with an error."""
    ended = tailrace("serve", "--port", "0", "--data-dir", str(tmp_path / "data"), *options)
    assert ended.returncode in {1, 2}
    assert "Traceback" not in ended.stderr
    return " ".join(ended.stderr.replace("│", " ").split())


def test_an_engine_that_is_not_there_is_named_at_the_start(tmp_path: Path) -> None:
    assert "127.0.0.1:1" in refused_start(tmp_path, "--store", "redis://127.0.0.1:1")


def test_a_wrong_password_is_an_error_at_the_start_that_does_not_show_it(tmp_path: Path) -> None:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with RedisOnPort(executable) as engine:
        engine.run("CONFIG", "SET", "requirepass", "right")
        printed = refused_start(tmp_path, "--store", f"redis://:wrong-one@127.0.0.1:{engine.port}")
    assert "WRONGPASS" in printed or "password" in printed
    assert "wrong-one" not in printed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--store", "http://127.0.0.1"), "--store"),
        (
            ("--store", "redis://127.0.0.1:6379", "--durability", "none"),
            "--durability has an effect only without",
        ),
        (("--store", "redis://127.0.0.1:6379", "--cache-mb", "9"), "--cache-mb has an effect only without"),
        (("--min-replicas", "1"), "--min-replicas has an effect only with --store"),
    ],
)
def test_options_that_do_not_fit_are_refused_at_the_start(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    assert said in refused_start(tmp_path, *options)
