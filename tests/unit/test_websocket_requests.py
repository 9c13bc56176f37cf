"""Requests and replies of a WebSocket session: order, arrays, errors that leave the connection alive."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from tailrace.api import websocket_limits as limits
from tailrace.api.ports import StoreUnavailable
from tailrace.api.websocket.pushes import greeting
from tailrace.api.websocket_limits import CloseCode, ProtocolViolation
from tailrace.core.commands import Flush
from tests.support.websocket_client import JSON, MSGPACK, Client


def test_the_greeting_tells_version_subprotocol_and_limits() -> None:
    client = Client()
    hello = client.decoded(greeting(client.session.codec, "1.2.3"))["hello"]
    assert hello["version"] == "1.2.3"
    assert hello["subprotocol"] == "tailrace.v1.json"
    assert hello["limits"]["subscriptions_max"] == limits.SUBSCRIPTIONS_MAX


def test_a_reply_carries_the_id_of_its_request_whether_number_or_string() -> None:
    client = Client()
    assert client.say({"id": 7, "op": "ping"}) == {"id": 7, "ok": {}}
    assert client.say({"id": "seven", "op": "ping"}) == {"id": "seven", "ok": {}}


def test_requests_sent_without_waiting_are_answered_in_order() -> None:
    client = Client()
    for number in range(3):
        client.session.receive(
            client.encoded({"id": number, "op": "append", "key": "s", "fields": {"a": "1"}})
        )
    client.session.receive(client.encoded({"id": 3, "op": "command", "command": ["XLEN", "s"]}))
    replies = client.work()
    assert [reply["id"] for reply in replies] == [0, 1, 2, 3]
    assert replies[-1]["ok"] == {"result": 3}


def test_an_array_of_requests_is_answered_as_one_array_in_which_errors_stand_at_their_place() -> None:
    client = Client()
    replies = client.say(
        [
            {"id": 1, "op": "append", "key": "s", "fields": {"a": "1"}},
            {"id": 2, "op": "nonsense"},
            {"id": 3, "op": "command", "command": ["XLEN", "s"]},
        ]
    )
    assert [reply["id"] for reply in replies] == [1, 2, 3]
    assert replies[1]["error"]["code"] == "UNKNOWN_COMMAND"
    assert replies[2]["ok"] == {"result": 1}


def test_more_requests_than_one_turn_takes_are_all_answered_in_one_array() -> None:
    client = Client()
    count = limits.TURN_REQUESTS_MAX + 1
    replies = client.say([{"id": number, "op": "ping"} for number in range(count)])
    assert [reply["id"] for reply in replies] == list(range(count))


@pytest.mark.parametrize("count", [0, limits.REQUESTS_PER_FRAME_MAX + 1])
def test_an_array_without_requests_or_with_too_many_is_one_error_without_id(count: int) -> None:
    reply = Client().say([{"id": 1, "op": "ping"}] * count)
    assert (reply["id"], reply["error"]["code"]) == (None, "LIMIT_EXCEEDED")


@pytest.mark.parametrize("request_", [5, "ping", None, {"op": "ping"}, {"id": True, "op": "ping"}])
def test_a_request_without_a_usable_id_is_an_error_with_a_null_id(request_: Any) -> None:
    reply = Client().say(request_)
    assert (reply["id"], reply["error"]["code"]) == (None, "BODY_MISMATCH")


@pytest.mark.parametrize("op", ["publish", None, 5, ["ping"], ""])
def test_an_unknown_op_is_an_error_that_names_those_there_are(op: Any) -> None:
    problem = Client().refused(op=op)
    assert problem["code"] == "UNKNOWN_COMMAND"
    assert "subscribe" in problem["detail"]


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "ping", "more": 1},
        {"op": "append", "key": "s"},
        {"op": "append", "key": "s", "fields": {}},
        {"op": "append", "key": "s", "fields": {"a": 1}},
        {"op": "append", "key": "s", "fields": {"a": "1"}, "pairs": [["a", "1"]]},
        {"op": "append", "key": "s", "fields": {"a": "1"}, "encoding": "hex"},
        {"op": "append", "key": "cw==", "fields": {"a": "no base64"}, "encoding": "base64"},
        {"op": "append", "fields": {"a": "1"}},
        {"op": "command"},
        {"op": "command", "command": []},
        {"op": "command", "command": ["XLEN", None]},
        {"op": "command", "command": "XLEN s"},
        {"op": "subscribe", "streams": []},
        {"op": "subscribe", "streams": [{"key": "s"}]},
        {"op": "subscribe", "streams": [{"key": "s", "after": "0"}], "filter": {}},
        {"op": "subscribe", "streams": [{"key": "s", "after": "0"}], "credit": -1},
        {"op": "consume", "group": "g", "streams": [{"key": "s"}]},
        {"op": "ack", "key": "s", "group": "g", "ids": []},
        {"op": "ack", "key": "s", "group": "g", "ids": ["1-0"], "references": "keep"},
        {"op": "nack", "key": "s", "group": "g", "ids": ["1-0"], "mode": "loud"},
        {"op": "claim", "key": "s", "group": "g", "ids": ["1-0"]},
    ],
)
def test_a_request_that_does_not_fit_is_an_error_that_names_the_place(request_: dict[str, Any]) -> None:
    problem = Client().refused(**request_)
    assert (problem["status"], problem["code"]) == (422, "BODY_MISMATCH")
    assert problem["errors"]


@pytest.mark.parametrize("subprotocol", [JSON, MSGPACK])
@pytest.mark.parametrize(
    "invalid",
    [
        {"op": "ack", "key": "s", "group": "g", "ids": [1] * 30},
        {"op": "append", "key": "s", "fields": {"a": 1}},
    ],
)
def test_the_replies_to_one_message_list_a_limited_number_of_mistakes(
    invalid: dict[str, Any], subprotocol: str
) -> None:
    client = Client(subprotocol=subprotocol)
    frame = [{"id": number, **invalid} for number in range(limits.FRAME_MISTAKES_LISTED_MAX + 1)]
    problems = [reply["error"] for reply in client.say(frame)]
    assert {problem["code"] for problem in problems} == {"BODY_MISMATCH"}
    listed = [len(problem.get("errors", ())) for problem in problems]
    assert listed[0] > 0
    assert listed[-1] == 0
    assert limits.FRAME_MISTAKES_LISTED_MAX - listed[0] < sum(listed) <= limits.FRAME_MISTAKES_LISTED_MAX
    assert client.say({"id": 1, **invalid})["error"]["errors"] == problems[0]["errors"]


def test_an_error_shows_only_the_beginning_of_a_very_long_name() -> None:
    problem = Client().refused(op="ping", **{"x" * 100_000: 1})
    assert len(json.dumps(problem)) < 10_000
    assert problem["errors"][0]["pointer"].startswith("/xxx")


def test_a_name_that_repeats_in_fields_is_refused_and_the_stream_stays_as_it_was() -> None:
    client = Client()
    [reply] = client.say_frame('{"id":1,"op":"append","key":"s","fields":{"a":"1","a":"2"}}')
    assert "repeats" in reply["error"]["detail"]
    assert client.ok(op="command", command=["EXISTS", "s"]) == {"result": 0}


def test_a_bad_id_an_empty_name_and_a_too_long_one_are_errors() -> None:
    client = Client()
    source = {"key": "s", "after": "yesterday"}
    assert client.refused(op="subscribe", streams=[source])["code"] == "INVALID_ID"
    assert client.refused(op="append", key="", fields={"a": "1"})["code"] == "INVALID_NAME"
    assert client.refused(op="append", key="k" * 513, fields={"a": "1"})["code"] == "INVALID_NAME"


def test_append_takes_ids_conditions_and_trimming() -> None:
    client = Client()
    entry = {"op": "append", "key": "s", "fields": {"a": "1"}}
    assert client.refused(**entry, nomkstream=True)["code"] == "NO_SUCH_STREAM"
    assert client.ok(**entry, entry_id="5-*") == {"id": "5-0"}
    assert client.refused(**entry, entry_id="5-0")["code"] == "ID_NOT_GREATER"
    refusal = client.refused(**entry, if_last_id="4-0")
    assert (refusal["code"], refusal["last_id"]) == ("PRECONDITION_FAILED", "5-0")
    client.ok(**entry, entry_id="6-0", trim={"max_length": 1})
    assert client.ok(op="command", command=["XLEN", "s"]) == {"result": 1}
    assert client.refused(**entry, trim={"max_length": -1})["errors"][0]["pointer"] == "/trim/max_length"


def test_pairs_and_base64_are_stored_as_they_were_given() -> None:
    client = Client()
    client.ok(op="append", key="s", pairs=[["a", "1"], ["a", "2"]], entry_id="1-0")
    binary = b64encode(b"\xff").decode()
    client.ok(
        op="append", key=b64encode(b"s").decode(), fields={binary: binary}, encoding="base64", entry_id="2-0"
    )
    words = client.ok(op="command", command=["XRANGE", "s", "-", "+"])["result"]
    assert words[0] == ["1-0", ["a", "1", "a", "2"]]
    assert words[1] == ["2-0", [{"base64": binary}, {"base64": binary}]]


def test_command_speaks_redis_and_its_error_has_the_exact_line() -> None:
    client = Client()
    assert client.ok(op="command", command=["PING"]) == {"result": "PONG"}
    problem = client.refused(op="command", command=["XADD", "s", "0-0", "a", "1"])
    assert problem["error"] == "ERR The ID specified in XADD must be greater than 0-0"
    assert client.refused(op="command", command=["XFOO"])["error"].startswith("ERR unknown command")


def test_a_command_that_asks_to_block_is_answered_at_once() -> None:
    reply = Client().ok(op="command", command=["XREAD", "BLOCK", "0", "STREAMS", "s", "$"])
    assert reply == {"result": None}


def test_ack_nack_and_claim_work_on_what_any_connection_was_given() -> None:
    client = Client()
    client.create_group("s")
    client.append("s", 1, 2, 3)
    client.ok(op="command", command=["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"])
    where = {"key": "s", "group": "g"}
    assert client.ok(op="ack", **where, ids=["1-0", "9-0"]) == {"acknowledged": 1}
    assert client.ok(op="nack", **where, ids=["2-0"], mode="silent") == {"nacked": 1}
    claimed = client.ok(op="claim", **where, consumer="d", min_idle_ms=0, ids=["2-0"])
    assert claimed == {"entries": [{"id": "2-0", "fields": {"n": "v"}}]}
    just_ids = client.ok(op="claim", **where, consumer="d", min_idle_ms=0, ids=["3-0"], just_id=True)
    assert just_ids == {"ids": ["3-0"]}
    deleted = client.ok(op="ack", **where, ids=["3-0", "8-0"], delete=True)
    assert deleted["acknowledged"] == 1
    assert [item["result"] for item in deleted["results"]] == ["deleted", "not_found"]


def test_a_store_that_takes_nothing_is_told_with_each_request_that_needs_it() -> None:
    client = Client()
    client.store.close(StoreUnavailable("draining", retry_after_s=1))
    problem = client.refused(op="append", key="s", fields={"a": "1"})
    assert (problem["code"], problem["retryable"]) == ("NOT_ACCEPTING", True)


@pytest.mark.parametrize("frame", ["{nope", "", "[1", "{}{}"])
def test_text_that_is_no_document_closes_with_1007(frame: str) -> None:
    with pytest.raises(ProtocolViolation) as violation:
        Client().session.receive(frame)
    assert violation.value.code is CloseCode.INVALID_PAYLOAD


def test_a_frame_of_the_other_kind_closes_with_1003() -> None:
    for client, frame in ((Client(), b"{}"), (Client(subprotocol=MSGPACK), "{}")):
        with pytest.raises(ProtocolViolation) as violation:
            client.session.receive(frame)
        assert violation.value.code is CloseCode.UNSUPPORTED_DATA


def test_a_frame_above_the_limit_closes_with_1009() -> None:
    with pytest.raises(ProtocolViolation) as violation:
        Client().session.receive(" " * (limits.FRAME_BYTES_MAX + 1))
    assert violation.value.code is CloseCode.TOO_BIG


def test_deeply_nested_text_is_refused_and_not_followed() -> None:
    with pytest.raises(ProtocolViolation):
        Client().session.receive("[" * 100_000)


def test_a_connection_that_is_far_behind_says_so() -> None:
    client = Client()
    client.session.receive(client.encoded([{"id": 1, "op": "ping"}] * limits.BACKLOG_MAX))
    assert client.session.is_behind
    client.work()
    assert not client.session.is_behind


def test_after_the_end_nothing_that_waited_is_carried_out() -> None:
    client = Client()
    client.session.receive(client.encoded({"id": 1, "op": "append", "key": "s", "fields": {"a": "1"}}))
    client.session.close()
    assert client.work() == []
    client.store.run(Flush())


# --- MessagePack -------------------------------------------------------------------------------------


def test_messagepack_carries_raw_bytes_in_names_and_values_both_ways() -> None:
    client = Client(subprotocol=MSGPACK)
    client.ok(op="append", key=b"\xff", fields={b"\xfe": b"\x00", "t": "x"}, entry_id="1-0")
    client.ok(op="append", key=b"\xff", pairs=[["a", b"1"], ["a", "2"]], entry_id="2-0")
    client.ok(op="subscribe", streams=[{"key": b"\xff", "after": "0"}], credit=10)
    [push] = client.taken_pushes()
    assert push["key"] == b"\xff"
    assert push["entries"] == [
        {"id": "1-0", "fields": {b"\xfe": b"\x00", b"t": b"x"}},
        {"id": "2-0", "pairs": [["a", "1"], ["a", "2"]]},
    ]


def test_messagepack_commands_take_and_give_bytes() -> None:
    client = Client(subprotocol=MSGPACK)
    client.ok(op="command", command=["XADD", b"\xff", "1-0", b"\xfe", 5])
    reply = client.ok(op="command", command=["XRANGE", b"\xff", "-", "+"])
    assert reply == {"result": [["1-0", [b"\xfe", "5"]]]}


@pytest.mark.parametrize(
    "entry",
    [
        {"fields": {"a": 1}},
        {"fields": {}},
        {"fields": []},
        {"pairs": []},
        {"pairs": [["a"]]},
        {"pairs": "ab"},
        {},
    ],
)
def test_a_messagepack_entry_that_does_not_fit_is_an_error(entry: dict[str, Any]) -> None:
    assert Client(subprotocol=MSGPACK).refused(op="append", key="s", **entry)["code"] == "BODY_MISMATCH"


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1, "int"), (True, "bool"), (1.5, "float"), (None, "nil"), ({"b": "c"}, "map"), (["b"], "array")],
)
def test_a_messagepack_value_of_another_type_is_named_as_in_messagepack(value: Any, kind: str) -> None:
    refused = Client(subprotocol=MSGPACK).refused(op="append", key="s", pairs=[["a", value]])
    assert refused["detail"].endswith(f"must be `str` or `bin`, not `{kind}`")


def test_a_name_that_repeats_in_a_messagepack_map_is_refused() -> None:
    client = Client(subprotocol=MSGPACK)
    fields = b"\x82\xa1a\xa11\xa1a\xa12"
    frame = b"\x84\xa2id\x01\xa2op\xa6append\xa3key\xa1s\xa6fields" + fields
    [reply] = client.say_frame(frame)
    assert "repeats" in reply["error"]["detail"]


def test_a_large_messagepack_map_is_counted_by_its_header() -> None:
    client = Client(subprotocol=MSGPACK)
    client.ok(op="append", key="s", fields={f"f{number}": "v" for number in range(20)}, entry_id="1-0")
    assert client.ok(op="command", command=["XLEN", "s"]) == {"result": 1}


@pytest.mark.parametrize("frame", [b"", b"\xc1", b"\x92\x01"])
def test_bytes_that_are_no_messagepack_close_with_1007(frame: bytes) -> None:
    with pytest.raises(ProtocolViolation) as violation:
        Client(subprotocol=MSGPACK).session.receive(frame)
    assert violation.value.code is CloseCode.INVALID_PAYLOAD


def test_messagepack_names_of_groups_may_be_bytes() -> None:
    client = Client(subprotocol=MSGPACK)
    client.ok(op="command", command=["XGROUP", "CREATE", "s", b"\xfe", "0", "MKSTREAM"])
    client.ok(op="consume", group=b"\xfe", consumer=b"\xfd", streams=[{"key": "s"}], credit=5)
    client.append("s", 1)
    [push] = client.taken_pushes()
    assert push["entries"] == [{"id": "1-0", "fields": {"n": "v"}, "idle_ms": 0, "deliveries": 0}]
    assert client.ok(op="ack", key=b"s", group=b"\xfe", ids=["1-0"]) == {"acknowledged": 1}
