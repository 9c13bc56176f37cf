"""Subscriptions of a WebSocket session: positions, credit, filters, gaps, sharing, slow clients."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.api import websocket_limits as limits
from tailrace.api.follow.followers import SharedReads
from tailrace.api.ports import StoreUnavailable
from tailrace.core.commands import Command, DeleteKeys, References, Trim, TrimStream
from tests.support.watching_store import WatchingStore
from tests.support.websocket_client import MSGPACK, Client


def subscribed(client: Client, *keys: str, after: str = "0", **options: Any) -> None:
    streams = [{"key": key, "after": after} for key in keys or ("s",)]
    client.ok(op="subscribe", streams=streams, **options)


# --- positions ---------------------------------------------------------------------------------------


def test_what_stands_after_the_position_is_pushed_and_then_what_comes() -> None:
    client = Client()
    client.append("s", 1, 2)
    subscribed(client, after="1-0", credit=10)
    assert client.taken_pushes() == [
        {"sub": 1, "key": "s", "entries": [{"id": "2-0", "fields": {"n": "v"}}], "next": "2-0"}
    ]
    client.append("s", 3)
    assert client.pushed_ids() == ["3-0"]


def test_the_reply_tells_positions_as_ids_so_that_a_client_can_come_back_to_them() -> None:
    client = Client()
    client.append("s", 1, 2)
    streams = [{"key": "s", "after": "$"}, {"key": "s", "after": "+"}, {"key": "s", "after": "1"}]
    told = client.ok(op="subscribe", streams=[*streams, {"key": "t", "after": "+"}])["streams"]
    just_before_the_last = f"1-{(1 << 64) - 1}"
    assert [place["after"] for place in told] == ["2-0", just_before_the_last, "1-0", "0-0"]


def test_dollar_is_resolved_when_its_turn_comes_between_the_requests_around_it() -> None:
    client = Client()
    client.say(
        [
            {"id": 1, "op": "append", "key": "s", "fields": {"n": "v"}, "entry_id": "1-0"},
            {"id": 2, "op": "subscribe", "streams": [{"key": "s", "after": "$"}], "credit": 9},
            {"id": 3, "op": "append", "key": "s", "fields": {"n": "v"}, "entry_id": "2-0"},
        ]
    )
    assert client.pushed_ids() == ["2-0"]


def test_several_streams_are_pushed_each_with_its_own_next() -> None:
    client = Client()
    client.append("s", 1)
    client.append("t", 2)
    subscribed(client, "s", "t", credit=10)
    assert {(push["key"], push["next"]) for push in client.taken_pushes()} == {("s", "1-0"), ("t", "2-0")}


def test_a_subscription_whose_stream_is_created_again_is_told_a_gap_and_gets_every_entry() -> None:
    client = Client()
    client.append("s", 5)
    subscribed(client, after="$", credit=10)
    for number in (6, 1, 3):
        client.store.run(DeleteKeys((b"s",)))
        client.append("s", number)
        gap, push = client.taken_pushes()
        assert gap["gap"]["to"] == f"{number}-0"
        assert [entry["id"] for entry in push["entries"]] == [f"{number}-0"]


def test_a_client_that_comes_back_with_its_incarnation_gets_every_entry_of_a_later_stream() -> None:
    client = Client()
    client.append("s", 5)
    place = client.ok(op="subscribe", streams=[{"key": "s", "after": "5-0"}])["streams"][0]
    assert client.ok(id=2, op="subscribe", streams=[place])["streams"] == [place]
    client.store.run(DeleteKeys((b"s",)))
    client.append("s", 1, 9)
    client.ok(id=3, op="subscribe", streams=[place], credit=9)
    gap, push = client.taken_pushes()
    later = gap["gap"].pop("incarnation")
    assert gap["gap"] == {"from": "5-0", "to": "1-0"}
    assert [entry["id"] for entry in push["entries"]] == ["1-0", "9-0"]
    place = {"key": "s", "after": push["next"], "incarnation": later}
    assert client.ok(id=4, op="subscribe", streams=[place], credit=9)["streams"] == [place]
    assert client.taken_pushes() == []


def test_the_first_push_of_a_stream_that_did_not_exist_tells_its_incarnation() -> None:
    client = Client()
    assert client.ok(op="subscribe", streams=[{"key": "s", "after": "$"}], credit=9)["streams"] == [
        {"key": "s", "after": "0-0"}
    ]
    client.append("s", 1)
    [first] = client.taken_pushes()
    client.append("s", 2)
    [second] = client.taken_pushes()
    assert first["incarnation"]
    assert "incarnation" not in second


def test_a_position_whose_incarnation_was_not_learned_is_compared_with_the_last_id() -> None:
    client = Client()
    client.append("s", 5)
    for after, gaps in ((5, 0), (6, 1)):
        place = {"key": "s", "after": f"{after}-0", "incarnation": ""}
        client.ok(id=after, op="subscribe", streams=[place], credit=9)
        assert sum("gap" in push for push in client.taken_pushes()) == gaps


# --- credit ------------------------------------------------------------------------------------------


def test_nothing_is_asked_for_and_nothing_is_pushed_before_credit() -> None:
    client = Client()
    client.append("s", 1)
    subscribed(client)
    assert client.taken_pushes() == []
    assert client.store.watched == []
    assert client.ok(op="credit", sub=1, entries=1) == {"entries": 1, "bytes": None}
    assert client.pushed_ids() == ["1-0"]


def test_no_more_entries_are_pushed_than_the_credit_and_none_is_lost() -> None:
    client = Client()
    client.append("s", *range(1, 8))
    subscribed(client, credit=3)
    assert client.pushed_ids() == ["1-0", "2-0", "3-0"]
    client.append("s", 8)
    assert client.pushed_ids() == []
    client.ok(op="credit", sub=1, entries=2)
    client.ok(op="credit", sub=1, entries=9)
    assert client.pushed_ids() == ["4-0", "5-0", "6-0", "7-0", "8-0"]


def test_one_credit_serves_all_streams_of_a_subscription() -> None:
    client = Client()
    client.append("s", 1, 2)
    client.append("t", 3, 4)
    subscribed(client, "s", "t", credit=3)
    assert len(client.pushed_ids()) == 3
    client.ok(op="credit", sub=1, entries=5)
    assert client.pushed_ids() == ["4-0"]


def test_byte_credit_ends_pushing_once_it_is_used_up_and_the_last_entry_may_overshoot() -> None:
    client = Client()
    client.append("s", 1, 2, 3, 4, n="v" * 100)
    subscribed(client, credit={"entries": 10, "bytes": 150})
    assert client.pushed_ids() == ["1-0", "2-0"]
    assert client.ok(op="credit", sub=1, entries=0, bytes=1)["bytes"] < 0
    assert client.pushed_ids() == []
    client.ok(op="credit", sub=1, entries=0, bytes=1000)
    assert client.pushed_ids() == ["3-0", "4-0"]


def test_a_negative_credit_is_an_error_and_changes_no_balance() -> None:
    client = Client()
    subscribed(client, credit=5)
    for wrong in ({"entries": -1}, {"entries": 1, "bytes": -1}, {"entries": limits.CREDIT_MAX + 1}, {}):
        assert client.refused(op="credit", sub=1, **wrong)["code"] == "BODY_MISMATCH"
    assert client.ok(op="credit", sub=1, entries=0) == {"entries": 5, "bytes": None}


def test_no_push_overtakes_the_reply_that_opened_its_subscription() -> None:
    client = Client()
    client.append("s", 1)
    request = {"id": 1, "op": "subscribe", "streams": [{"key": "s", "after": "0"}], "credit": 1}
    client.session.receive(client.encoded(request))
    turn = client.session.next_turn()
    assert turn is not None
    replies = client.session.replies(turn, client.store.run_all(turn.commands))
    next(replies)
    client.store.settle()
    assert client.taken_pushes() == []
    assert list(replies) == []
    assert client.pushed_ids() == ["1-0"]


@pytest.mark.parametrize("end", ["", " x"])
def test_one_turn_compiles_few_long_filters(end: str) -> None:
    client = Client()
    wanted = f"{'(' * 2_000}true{')' * 2_000}{end}"
    subscribe = {"op": "subscribe", "streams": [{"key": "s", "after": "0"}], "filter": wanted}
    client.session.receive(client.encoded([{"id": number, **subscribe} for number in range(20)]))
    turns = 0
    while turn := client.session.next_turn():
        assert len(turn.requests) == 1
        turns += 1
        for frame in client.session.replies(turn, client.store.run_all(turn.commands)):
            assert len(client.decoded(frame)) == 20
    assert turns == 20


def test_a_push_holds_no_more_than_the_limit_however_much_credit_there_is() -> None:
    client = Client()
    client.append("s", *range(1, limits.PUSH_ENTRIES_MAX + 2))
    subscribed(client, credit=limits.CREDIT_MAX)
    assert [len(push["entries"]) for push in client.taken_pushes()] == [limits.PUSH_ENTRIES_MAX, 1]


# --- the book ----------------------------------------------------------------------------------------


def test_unknown_subscriptions_are_errors() -> None:
    client = Client()
    assert client.refused(op="credit", sub=9, entries=1)["code"] == "NOT_FOUND"
    assert client.refused(op="unsubscribe", sub="1")["code"] == "NOT_FOUND"


def test_a_subscription_id_in_use_is_refused_and_free_again_after_unsubscribe() -> None:
    client = Client()
    subscribed(client)
    source = {"key": "s", "after": "0"}
    assert client.refused(op="subscribe", streams=[source])["code"] == "BAD_REQUEST"
    client.ok(op="unsubscribe", sub=1)
    subscribed(client)


def test_a_subscription_too_many_and_a_stream_too_many_are_errors() -> None:
    client = Client()
    for number in range(limits.SUBSCRIPTIONS_MAX):
        source = {"key": f"s{number}", "after": "0"}
        assert "ok" in client.say({"id": number, "op": "subscribe", "streams": [source]})
    reply = client.say({"id": "more", "op": "subscribe", "streams": [{"key": "s", "after": "0"}]})
    assert reply["error"]["code"] == "LIMIT_EXCEEDED"
    other = Client()
    many = [{"key": f"s{number}", "after": "0"} for number in range(limits.WATCHED_STREAMS_MAX)]
    assert "ok" in other.say({"id": 1, "op": "subscribe", "streams": many})
    assert "error" in other.say({"id": 2, "op": "subscribe", "streams": many[:1]})


def test_after_unsubscribe_nothing_is_pushed_and_nobody_waits() -> None:
    client = Client()
    subscribed(client, "s", "t", credit=10)
    client.ok(op="unsubscribe", sub=1)
    client.append("s", 1)
    assert client.taken_pushes() == []
    assert len(client.store.queue) == 0


def test_when_the_connection_ends_nobody_waits_for_it() -> None:
    client = Client()
    subscribed(client, "s", "t", credit=10)
    client.session.close()
    client.session.drained()
    assert len(client.store.queue) == 0
    client.append("s", 1)
    assert client.taken_pushes() == []


# --- filters -----------------------------------------------------------------------------------------


def test_entries_that_a_filter_stops_take_no_credit_and_the_position_moves_past_them() -> None:
    client = Client()
    subscribed(client, credit=2, filter={"rider": ["Castilla", "Norem"], "lap": "1"})
    for value, rider, lap in (
        (1, "Prickett", "1"),
        (2, "Castilla", "1"),
        (3, "Norem", "2"),
        (4, "Norem", "1"),
    ):
        client.append("s", value, rider=rider, lap=lap)
    assert client.pushed_ids() == ["2-0", "4-0"]
    client.append("s", 5, rider="Castilla", lap="1")
    assert client.pushed_ids() == []
    client.ok(op="credit", sub=1, entries=1)
    assert client.pushed_ids() == ["5-0"]


def test_next_of_a_filtered_push_lies_behind_all_that_was_looked_at_unless_credit_ran_out() -> None:
    client = Client()
    for value, kind in ((1, "a"), (2, "a"), (3, "b")):
        client.append("s", value, kind=kind)
    subscribed(client, credit=2, filter={"kind": "a"})
    assert [push["next"] for push in client.taken_pushes()] == ["3-0"]
    other = Client(client.store)
    subscribed(other, credit=1, filter={"kind": "a"})
    assert [push["next"] for push in other.taken_pushes()] == ["1-0"]


def test_a_filter_knows_bytes_and_any_value_of_a_name_that_repeats() -> None:
    client = Client(subprotocol=MSGPACK)
    client.ok(op="append", key="s", pairs=[["k", "1"], ["k", b"\xff"]], entry_id="1-0")
    client.ok(op="append", key="s", pairs=[["k", "1"], ["j", b"\xff"]], entry_id="2-0")
    subscribed(client, credit=9, filter={"k": b"\xff"})
    assert client.pushed_ids() == ["1-0"]


def test_a_filter_in_base64_is_read_as_such_and_refused_where_it_is_none() -> None:
    client = Client()
    client.append("s", 1, k="v")
    source = {"key": "s", "after": "0"}
    wanted = {"op": "subscribe", "streams": [source], "credit": 9, "encoding": "base64"}
    assert client.refused(**wanted, filter={"aw==": "no base64"})["code"] == "BODY_MISMATCH"
    client.ok(**wanted, filter={"aw==": "dg=="})
    assert client.pushed_ids() == ["1-0"]


# --- gaps --------------------------------------------------------------------------------------------


def trim(key: str, length: int) -> Command:
    return TrimStream(key.encode(), Trim(max_length=length))


def test_a_position_that_was_trimmed_away_is_told_as_a_gap_and_pushing_goes_on_behind_it() -> None:
    client = Client()
    client.append("s", 1, 2, 3, 4)
    client.store.run(trim("s", 1))
    subscribed(client, after="1-0", credit=10)
    gap, push = client.taken_pushes()
    assert gap == {"sub": 1, "key": "s", "gap": {"from": "1-0", "to": "4-0"}}
    assert [entry["id"] for entry in push["entries"]] == ["4-0"]


def test_a_gap_is_told_of_the_stream_it_is_in_and_not_before_credit() -> None:
    client = Client()
    client.append("s", 1, 2)
    client.append("t", 1, 2)
    client.store.run(trim("t", 1))
    subscribed(client, "s", "t")
    assert client.taken_pushes() == []
    client.ok(op="credit", sub=1, entries=10)
    pushes = client.taken_pushes()
    assert [push["key"] for push in pushes if "gap" in push] == ["t"]
    assert sum(len(push.get("entries", ())) for push in pushes) == 3


def test_a_client_that_lags_behind_a_trim_is_told_of_the_gap() -> None:
    client = Client()
    client.append("s", 1, 2, 3, 4)
    subscribed(client, credit=1)
    assert client.pushed_ids() == ["1-0"]
    client.store.run(trim("s", 1))
    client.ok(op="credit", sub=1, entries=5)
    gap, push = client.taken_pushes()
    assert gap["gap"] == {"from": "1-0", "to": "4-0"}
    assert push["entries"][0]["id"] == "4-0"


def test_a_stream_that_was_emptied_by_a_trim_leaves_a_gap_up_to_what_comes_next() -> None:
    client = Client()
    client.append("s", 1, 2)
    client.store.run(trim("s", 0))
    subscribed(client, after="1-0", credit=5)
    assert client.taken_pushes() == [{"sub": 1, "key": "s", "gap": {"from": "1-0", "to": "2-1"}}]
    client.append("s", 3)
    assert client.pushed_ids() == ["3-0"]


def test_holes_that_a_trim_left_ahead_are_told_once_as_all_that_may_be_missing() -> None:
    client = Client()
    client.append("s", 1, 2, 3, 4)
    client.create_group("s")
    words = ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"]
    client.ok(op="command", command=words)
    client.ok(op="command", command=["XACK", "s", "g", "2-0", "4-0"])
    policy = Trim(max_length=0, references=References.ACKNOWLEDGED)
    client.store.run(TrimStream(b"s", policy))
    subscribed(client, after="1-0", credit=10)
    pushes = client.taken_pushes()
    assert [push["gap"] for push in pushes if "gap" in push] == [{"from": "1-0", "to": "4-1"}]
    assert [entry["id"] for push in pushes for entry in push.get("entries", ())] == ["3-0"]
    client.append("s", 5)
    assert client.pushed_ids() == ["5-0"]


# --- many, and slow ----------------------------------------------------------------------------------


def test_subscribers_at_the_same_place_share_one_read_and_one_encoding() -> None:
    store = WatchingStore()
    reads = SharedReads(store)
    clients = [Client(store, reads) for _ in range(50)]
    for client in clients:
        subscribed(client, after="$", credit=100)
    assert len(store.watched) == 1
    clients[0].append("s", 1)
    assert len(store.watched) == 2
    assert len({id(client.frames[-1]) for client in clients}) == 1
    assert all(client.pushed_ids() == ["1-0"] for client in clients)


def test_those_who_share_a_read_take_each_what_their_credit_and_filter_allow() -> None:
    store = WatchingStore()
    reads = SharedReads(store)
    rich, poor, choosy = (Client(store, reads) for _ in range(3))
    subscribed(rich, credit=9)
    subscribed(poor, credit=1)
    subscribed(choosy, credit=9, filter={"n": "other"})
    rich.append("s", 1)
    assert [len(client.pushed_ids()) for client in (rich, poor, choosy)] == [1, 1, 0]
    rich.append("s", 2, n="other")
    assert [len(client.pushed_ids()) for client in (rich, poor, choosy)] == [1, 0, 1]


def test_a_shared_read_ends_with_the_last_who_waits_for_it() -> None:
    store = WatchingStore()
    reads = SharedReads(store)
    one, two = Client(store, reads), Client(store, reads)
    subscribed(one, credit=1)
    subscribed(two, credit=1)
    one.session.close()
    assert (len(reads), len(store.queue)) == (1, 1)
    two.session.close()
    assert (len(reads), len(store.queue)) == (0, 0)


def test_one_who_leaves_while_others_are_served_is_not_served() -> None:
    store = WatchingStore()
    reads = SharedReads(store)
    leaver, leaving = Client(store, reads), Client(store, reads)
    subscribed(leaver, credit=1)
    subscribed(leaving, credit=1)
    leaver.on_send = leaving.session.close
    leaver.append("s", 1)
    assert leaver.pushed_ids() == ["1-0"]
    assert leaving.pushed_ids() == []


def test_a_subscriber_that_fails_keeps_nothing_from_the_others(caplog: pytest.LogCaptureFixture) -> None:
    store = WatchingStore()
    reads = SharedReads(store)
    failing, other = Client(store, reads), Client(store, reads)
    subscribed(failing, credit=1)
    subscribed(other, credit=1)

    def fail() -> None:
        raise RuntimeError("a defect")

    failing.on_send = fail
    failing.append("s", 1)
    assert other.pushed_ids() == ["1-0"]
    assert "a defect" in caplog.text


def test_a_client_that_lags_is_pushed_nothing_more_and_loses_nothing() -> None:
    client = Client()
    subscribed(client, credit=10)
    client.is_congested = True
    client.append("s", 1)
    assert client.pushed_ids() == []
    assert len(client.store.queue) == 0
    client.append("s", 2)
    client.is_congested = False
    client.session.drained()
    assert client.pushed_ids() == ["1-0", "2-0"]


def test_a_client_that_catches_up_in_the_middle_of_an_array_gets_the_reply_before_the_pushes() -> None:
    client = Client()
    client.append("s", 1)
    opening = {"id": "new", "op": "subscribe", "streams": [{"key": "s", "after": "0"}], "credit": 9}
    pings = [{"id": number, "op": "ping"} for number in range(limits.TURN_REQUESTS_MAX)]
    client.session.receive(client.encoded([opening, *pings]))
    turn = client.session.next_turn()
    assert turn is not None
    assert (
        list(client.session.replies(turn, client.store.run_turn(turn.commands_by_request, turn.rooms))) == []
    )
    client.session.drained()
    assert client.taken_pushes() == []
    [replies] = client.work()
    assert replies[0]["id"] == "new"
    assert client.pushed_ids() == ["1-0"]


def test_when_the_store_closes_every_subscription_is_told_why_and_the_connection_restarts() -> None:
    client = Client()
    subscribed(client, "s", "t", credit=10)
    client.store.close(StoreUnavailable("the server is shutting down", retry_after_s=1))
    [push] = client.taken_pushes()
    assert (push["sub"], push["end"]["code"], push["end"]["retryable"]) == (1, "NOT_ACCEPTING", True)
    assert client.is_restarting


@pytest.mark.parametrize("subprotocol", ["tailrace.v1.json", "tailrace.v1.msgpack"])
def test_gaps_and_ends_are_told_in_both_subprotocols(subprotocol: str) -> None:
    client = Client(subprotocol=subprotocol)
    client.append("s", 1, 2)
    client.store.run(trim("s", 1))
    subscribed(client, credit=1)
    client.ok(op="credit", sub=1, entries=1)
    client.store.close(StoreUnavailable("over"))
    kinds = [next(iter(push.keys() - {"sub", "key", "next"})) for push in client.taken_pushes()]
    assert kinds == ["gap", "entries", "end"]
