"""The command endpoint: Redis words over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tailrace.core.limits import COMMAND_ARGUMENTS_MAX, PIPELINE_COMMANDS_MAX, WAIT_MS_MAX
from tests.support.api_client import FIRST, JSON, KEY, ApiClient, assert_problem

BASE64 = {"Upstash-Encoding": "base64"}


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def run(api: ApiClient, *words: Any, **options: Any) -> Any:
    return api.post("/v1/command", list(words), **options)


def test_a_reply_comes_as_json(api: ApiClient) -> None:
    assert run(api, "XLEN", "race:france").json() == {"result": 3}
    assert run(api, "PING").json() == {"result": "PONG"}
    assert run(api, "XADD", "s", "1-1", "a", "b").json() == {"result": "1-1"}
    assert run(api, "XRANGE", "s", "-", "+").json() == {"result": [["1-1", ["a", "b"]]]}
    assert run(api, "XREAD", "STREAMS", "s", "$").json() == {"result": None}


def test_integers_are_sent_as_their_decimal_text(api: ApiClient) -> None:
    assert run(api, "XRANGE", "race:france", "-", "+", "COUNT", 1).json()["result"][0][0] == FIRST
    assert run(api, "ECHO", -5).json() == {"result": "-5"}


@pytest.mark.parametrize(
    "text", ["30.2", "1.50", "-0.0", "1e21", "1e-7", "1e400", "0.1000000000000000055", "true"]
)
def test_a_number_or_a_boolean_stands_for_its_text_as_it_was_sent(api: ApiClient, text: str) -> None:
    response = api.post("/v1/command", content=f'["ECHO",{text}]', headers=JSON)
    assert response.json() == {"result": text}


@pytest.mark.parametrize("argument", [None, ["a"], {"base64": 1}, {"base64": "a", "b": 1}, {}])
def test_an_argument_of_another_kind_is_a_422(api: ApiClient, argument: object) -> None:
    assert_problem(run(api, "ECHO", argument), 422, "BODY_MISMATCH")
    assert_problem(api.post("/v1/command/pipeline", [["ECHO", argument]]), 422, "BODY_MISMATCH")


def test_an_argument_that_is_not_base64_is_a_422(api: ApiClient) -> None:
    assert_problem(run(api, "ECHO", {"base64": "?"}), 422, "BODY_MISMATCH")


def test_an_integer_of_any_length_is_refused_or_taken(api: ApiClient) -> None:
    assert run(api, "ECHO", 10**40).json() == {"result": str(10**40)}
    response = api.post("/v1/command", content=b'["ECHO",' + b"9" * 5000 + b"]", headers=JSON)
    assert response.status_code in {400, 422}


@pytest.mark.parametrize("body", ["[]", "{}", '"XLEN"', "3"])
def test_a_command_that_is_no_array_of_words_is_a_422(api: ApiClient, body: str) -> None:
    assert_problem(api.post("/v1/command", content=body, headers=JSON), 422, "BODY_MISMATCH")


def test_bytes_travel_as_base64_both_ways(api: ApiClient) -> None:
    assert run(api, "ECHO", {"base64": "/w=="}).json() == {"result": {"base64": "/w=="}}
    assert run(api, "ECHO", {"base64": "YQ=="}).json() == {"result": "a"}


def test_all_strings_but_ok_are_base64_if_asked(api: ApiClient) -> None:
    assert run(api, "ECHO", "hello", headers=BASE64).json() == {"result": "aGVsbG8="}
    assert run(api, "PING", headers=BASE64).json() == {"result": "UE9ORw=="}
    assert run(api, "XSETID", "race:france", "1700000000000-0", headers=BASE64).json() == {"result": "OK"}
    (entry,) = run(api, "XRANGE", "race:france", "-", "+", "COUNT", "1", headers=BASE64).json()["result"]
    assert entry[1][:2] == ["cmlkZXI=", "Q2FzdGlsbGE="]


@pytest.mark.parametrize(
    ("words", "status", "code", "line"),
    [
        (["NOPE"], 400, "UNKNOWN_COMMAND", "ERR unknown command 'NOPE'"),
        (["XLEN"], 400, "WRONG_ARITY", "ERR wrong number of arguments for 'xlen' command"),
        (
            ["XADD", "race:france", "1-1", "a", "b"],
            409,
            "ID_NOT_GREATER",
            "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        ),
        (
            ["XGROUP", "CREATE", "race:france", "judges", "0"],
            409,
            "BUSYGROUP",
            "BUSYGROUP Consumer Group name already exists",
        ),
        (["XINFO", "STREAM", "none"], 404, "NO_SUCH_STREAM", "ERR no such key"),
    ],
)
def test_an_error_is_a_problem_with_the_exact_line(
    api: ApiClient, words: list[str], status: int, code: str, line: str
) -> None:
    assert assert_problem(run(api, *words), status, code)["error"] == line


def test_block_waits_for_at_most_the_servers_limit(api: ApiClient) -> None:
    run(api, "XREAD", "BLOCK", 250, "STREAMS", "race:france", "$")
    run(api, "XREAD", "BLOCK", 0, "STREAMS", "race:france", "$")
    now_ms = api.store.now_ms
    assert [wait.until_ms for wait in api.store.waits] == [now_ms + 250, now_ms + WAIT_MS_MAX]


# --- pipelines and transactions --------------------------------------------------------------------


def test_a_pipeline_answers_each_command_and_a_failure_stops_none(api: ApiClient) -> None:
    commands = [["XLEN", "race:france"], ["NOPE"], ["XINFO", "STREAM", "none"], ["PING"], ["XLEN", "none"]]
    assert api.post("/v1/command/pipeline", commands).json() == [
        {"result": 3},
        {"error": "ERR unknown command 'NOPE'"},
        {"error": "ERR no such key"},
        {"result": "PONG"},
        {"result": 0},
    ]


def test_a_transaction_carries_out_all_and_tells_each_failure(api: ApiClient) -> None:
    commands = [["XADD", "s", "1-1", "a", "b"], ["XADD", "s", "1-1", "a", "b"], ["XLEN", "s"]]
    answer = api.post("/v1/command/multi-exec", commands).json()
    assert [sorted(outcome) for outcome in answer] == [["result"], ["error"], ["result"]]
    assert answer[2] == {"result": 1}


APPENDED = ["XADD", "s", "1-1", "a", "b"]
LATER = ["XADD", "s", "2-1", "a", "b"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("XTRIM s MAXLEN -1", "ERR The MAXLEN argument must be >= 0."),
        ("XTRIM s WHAT 1", "ERR syntax error"),
        ("XADD s 1-x a b", "ERR Invalid stream ID specified as stream command argument"),
        ("XADD s * a b c", "ERR wrong number of arguments for 'xadd' command"),
        (
            "XADD s 1-1 a b",
            "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        ),
        ("XRANGE s - + COUNT x", "ERR value is not an integer or out of range"),
        (
            "XREADGROUP GROUP g alice STREAMS s >",
            "NOGROUP No such key 's' or consumer group 'g' in XREADGROUP",
        ),
        ("XGROUP CREATE {s}none g 0", "ERR The XGROUP subcommand requires the key to exist."),
        ("XINFO STREAM {s}none", "ERR no such key"),
        ("PING a b", "ERR wrong number of arguments for 'ping' command"),
    ],
)
def test_a_command_that_fails_in_a_transaction_has_its_error_in_its_place(
    api: ApiClient, words: str, line: str
) -> None:
    first, failed, last = api.post("/v1/command/multi-exec", [APPENDED, words.split(), LATER]).json()
    assert (first, last) == ({"result": "1-1"}, {"result": "2-1"})
    assert failed["error"].startswith(line)
    assert run(api, "XLEN", "s").json() == {"result": 2}


@pytest.mark.parametrize("words", ["XLEN", "NOPE", "XGROUP WHAT s", "XGROUP", "XLEN s t", "XTRIM s"])
def test_a_transaction_with_a_command_that_redis_does_not_queue_does_nothing(
    api: ApiClient, words: str
) -> None:
    commands = [APPENDED, words.split(), LATER]
    problem = assert_problem(api.post("/v1/command/multi-exec", commands), 400, "TRANSACTION_ABORTED")
    assert problem["error"] == "EXECABORT Transaction discarded because of previous errors."
    assert problem["errors"][0]["pointer"] == "/1"
    assert run(api, "EXISTS", "s").json() == {"result": 0}


@pytest.mark.parametrize("route", ["pipeline", "multi-exec"])
def test_block_does_not_wait_among_other_commands(api: ApiClient, route: str) -> None:
    commands = [["XREAD", "BLOCK", "0", "STREAMS", "race:france", "$"]]
    assert api.post(f"/v1/command/{route}", commands).json() == [{"result": None}]
    assert api.store.waits == []


def test_replies_of_a_pipeline_are_base64_if_asked(api: ApiClient) -> None:
    answer = api.post("/v1/command/pipeline", [["ECHO", "a"], ["XLEN", "none"]], headers=BASE64)
    assert answer.json() == [{"result": "YQ=="}, {"result": 0}]


def test_an_empty_pipeline_is_answered_with_nothing(api: ApiClient) -> None:
    assert api.post("/v1/command/pipeline", []).json() == []


def test_too_many_commands_or_arguments_are_a_413(api: ApiClient) -> None:
    commands = json.dumps([["PING"]] * (PIPELINE_COMMANDS_MAX + 1))
    response = api.post("/v1/command/pipeline", content=commands, headers=JSON)
    assert_problem(response, 413, "LIMIT_EXCEEDED")
    words = json.dumps(["DEL"] + ["a"] * COMMAND_ARGUMENTS_MAX)
    assert_problem(api.post("/v1/command", content=words, headers=JSON), 413, "LIMIT_EXCEEDED")
    assert api.get(f"{KEY}/length").json() == {"length": 3}
