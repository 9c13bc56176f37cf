"""Group consumption over a WebSocket session: credit and the PEL, claims, what happens at the end."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core.commands import (
    Acknowledge,
    Append,
    Claim,
    ClaimOptions,
    Command,
    DestroyGroup,
    PendingRange,
)
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import PendingEntry
from tests.support.websocket_client import MSGPACK, Client

G = b"g"


def consuming(client: Client, *keys: str, **options: Any) -> None:
    streams = [{"key": key} for key in keys or ("s",)]
    client.ok(op="consume", group="g", consumer="alice", streams=streams, **options)


def pending(client: Client, key: bytes = b"s") -> dict[str, tuple[bytes | None, int]]:
    entries = client.store.run(PendingRange(key, G))
    assert isinstance(entries, list)
    assert all(isinstance(entry, PendingEntry) for entry in entries)
    return {f"{entry.id >> 64}-0": (entry.consumer, entry.deliveries) for entry in entries}


def with_group(*ids: int) -> Client:
    client = Client()
    client.create_group("s")
    client.append("s", *ids)
    return client


def end(client: Client) -> None:
    """Do what the endpoint does at the end of a connection."""
    client.session.close()
    held = client.session.unsettled
    questions = held.questions()
    client.store.run_all(held.releases(client.store.run_all(questions)))


# --- credit and the pending entries list -------------------------------------------------------------


def test_entries_of_a_group_carry_idle_time_and_deliveries() -> None:
    client = with_group(1)
    consuming(client, credit=5)
    [push] = client.taken_pushes()
    assert push["entries"] == [{"id": "1-0", "fields": {"n": "v"}, "idle_ms": 0, "deliveries": 0}]
    assert push["next"] == "1-0"


def test_only_what_credit_covers_becomes_pending() -> None:
    client = with_group(1, 2, 3, 4)
    consuming(client)
    assert client.pushed_ids() == []
    assert pending(client) == {}
    client.ok(op="credit", sub=1, entries=2)
    assert client.pushed_ids() == ["1-0", "2-0"]
    assert list(pending(client)) == ["1-0", "2-0"]
    client.append("s", 5)
    assert list(pending(client)) == ["1-0", "2-0"]


def test_the_credit_is_one_budget_over_all_streams() -> None:
    client = with_group(1, 2)
    client.create_group("t")
    client.append("t", 3, 4)
    consuming(client, "s", "t", credit=3)
    assert client.pushed_ids() == ["1-0", "2-0", "3-0"]
    assert len(pending(client)) + len(pending(client, b"t")) == 3


def test_byte_credit_bounds_what_the_engine_is_asked_for() -> None:
    client = with_group()
    client.append("s", 1, 2, 3, n="v" * 1000)
    consuming(client, credit={"entries": 10, "bytes": 1})
    assert client.pushed_ids() == ["1-0"]
    assert list(pending(client)) == ["1-0"]


def test_a_group_that_is_missing_on_one_stream_is_an_error_and_nothing_is_opened() -> None:
    client = with_group(1)
    streams = [{"key": "s"}, {"key": "t"}]
    problem = client.refused(op="consume", group="g", consumer="c", streams=streams, credit=5)
    assert problem["code"] == "NOGROUP"
    assert client.refused(op="credit", sub=1, entries=1)["code"] == "NOT_FOUND"
    assert pending(client) == {}


@pytest.mark.parametrize(
    "request_of_group",
    [
        {"op": "ack", "ids": ["1-0"]},
        {"op": "ack", "ids": ["1-0"], "delete": True},
        {"op": "nack", "ids": ["1-0"]},
        {"op": "claim", "ids": ["1-0"], "consumer": "c", "min_idle_ms": 0},
        {"op": "consume", "consumer": "c"},
    ],
)
@pytest.mark.parametrize(("key", "missing"), [("s", "group"), ("t", "stream")])
def test_a_request_of_a_missing_group_is_told_which_of_the_two_is_missing(
    request_of_group: dict[str, Any], key: str, missing: str
) -> None:
    where = {"streams": [{"key": key}]} if request_of_group["op"] == "consume" else {"key": key}
    problem = with_group(1).refused(**request_of_group, **where, group="nobody")
    assert (problem["code"], problem["key"], problem["group"]) == ("NOGROUP", key, "nobody")
    assert (problem["missing"], "XREADGROUP" in problem["detail"]) == (missing, False)


def test_a_redis_command_keeps_the_answer_of_redis() -> None:
    client = with_group(1)
    assert client.ok(op="command", command=["XACK", "t", "nobody", "1-0"]) == {"result": 0}
    problem = client.refused(op="command", command=["XPENDING", "t", "nobody"])
    assert problem["error"] == "NOGROUP No such key 't' or consumer group 'nobody'"
    assert (problem["key"], problem["group"], problem["missing"]) == ("t", "nobody", "stream")


def test_two_consumers_share_what_comes_and_each_entry_goes_to_one() -> None:
    client = with_group()
    other = Client(client.store)
    consuming(client, credit=1)
    other.ok(op="consume", group="g", consumer="bob", streams=[{"key": "s"}], credit=1)
    client.append("s", 1)
    client.append("s", 2)
    assert (client.pushed_ids(), other.pushed_ids()) == (["1-0"], ["2-0"])


def test_noack_leaves_nothing_pending() -> None:
    client = with_group(1)
    consuming(client, credit=5, noack=True)
    assert client.pushed_ids() == ["1-0"]
    assert pending(client) == {}


def test_what_becomes_idle_enough_is_claimed_while_waiting() -> None:
    client = with_group(1)
    other = Client(client.store)
    other.ok(op="consume", group="g", consumer="bob", streams=[{"key": "s"}], credit=1)
    consuming(client, credit=5, claim_min_idle_ms=1000)
    client.store.advance(999)
    assert client.taken_pushes() == []
    client.store.advance(1)
    [push] = client.taken_pushes()
    assert push["entries"] == [{"id": "1-0", "fields": {"n": "v"}, "idle_ms": 1000, "deliveries": 1}]
    assert pending(client) == {"1-0": (b"alice", 2)}


def test_what_another_gives_back_is_pushed_at_once_to_a_consumer_that_claims() -> None:
    client = with_group(1)
    other = Client(client.store)
    other.ok(op="consume", group="g", consumer="bob", streams=[{"key": "s"}], credit=1)
    consuming(client, credit=5, claim_min_idle_ms=60_000)
    other.ok(op="nack", key="s", group="g", ids=["1-0"])
    assert client.pushed_ids() == ["1-0"]


def test_when_the_group_is_destroyed_the_subscription_ends_with_nogroup() -> None:
    client = with_group()
    consuming(client, credit=5)
    client.store.run(DestroyGroup(b"s", G))
    [push] = client.taken_pushes()
    assert (push["sub"], push["end"]["code"]) == (1, "NOGROUP")
    assert client.refused(op="credit", sub=1, entries=1)["code"] == "NOT_FOUND"


def test_a_consumer_that_lags_takes_nothing_more_into_the_list() -> None:
    client = with_group()
    consuming(client, credit=5)
    client.is_congested = True
    client.append("s", 1)
    client.append("s", 2)
    assert list(pending(client)) == ["1-0"]
    client.is_congested = False
    client.session.drained()
    assert client.pushed_ids() == ["1-0", "2-0"]


# --- the end -----------------------------------------------------------------------------------------


def test_by_default_what_was_pushed_stays_pending_at_the_end() -> None:
    client = with_group(1)
    consuming(client, credit=5)
    client.taken_pushes()
    end(client)
    assert pending(client) == {"1-0": (b"alice", 1)}


def test_with_nack_on_close_what_is_not_settled_is_given_back_and_the_delivery_does_not_count() -> None:
    client = with_group(1, 2, 3, 4)
    consuming(client, credit=4, on_close="nack")
    client.taken_pushes()
    client.ok(op="ack", key="s", group="g", ids=["1-0"])
    client.store.run(Acknowledge(b"s", G, (2 << 64,)))
    end(client)
    assert pending(client) == {"3-0": (None, 0), "4-0": (None, 0)}


def test_what_others_have_claimed_meanwhile_is_theirs() -> None:
    client = with_group(1, 2)
    consuming(client, credit=4, on_close="nack")
    client.taken_pushes()
    client.store.run(Claim(b"s", G, b"bob", ClaimOptions(0, (1 << 64,))))
    end(client)
    assert pending(client) == {"1-0": (b"bob", 2), "2-0": (None, 0)}


def test_what_was_nacked_or_claimed_here_is_known_at_the_end() -> None:
    client = with_group(1, 2)
    consuming(client, credit=1, on_close="nack")
    client.taken_pushes()
    client.ok(op="nack", key="s", group="g", ids=["1-0"], mode="fail")
    client.ok(op="command", command=["XREADGROUP", "GROUP", "g", "bob", "STREAMS", "s", ">"])
    client.ok(op="claim", key="s", group="g", consumer="alice", min_idle_ms=0, ids=["2-0"])
    end(client)
    assert pending(client) == {"1-0": (None, 1), "2-0": (None, 1)}


def answered_late(client: Client, *requests: dict[str, Any]) -> None:
    """Send requests as an array. Push what they make available before their replies are made."""
    client.session.receive(
        client.encoded([{"id": number, **each} for number, each in enumerate(requests, 10)])
    )
    turn = client.session.next_turn()
    assert turn is not None
    answers = client.store.run_turn(turn.commands_by_request, turn.rooms)
    client.store.settle()
    list(client.session.replies(turn, answers))


GONE_BEFORE = {"key": "s", "group": "g", "ids": ["2-0"]}


@pytest.mark.parametrize("op", ["ack", "nack"])
def test_an_entry_that_is_pushed_while_a_request_names_it_too_early_is_given_back_at_the_end(op: str) -> None:
    client = with_group(1)
    consuming(client, credit=5, on_close="nack")
    settling = {"op": op, **GONE_BEFORE, **({"mode": "fail"} if op == "nack" else {})}
    append = {"op": "append", "key": "s", "entry_id": "2-0", "fields": {"n": "v"}}
    answered_late(client, settling, append)
    assert client.pushed_ids() == ["1-0", "2-0"]
    end(client)
    assert pending(client) == {"1-0": (None, 0), "2-0": (None, 0)}


def test_an_entry_that_is_pushed_again_while_its_nack_runs_is_given_back_at_the_end() -> None:
    client = with_group(1)
    consuming(client, credit=5, on_close="nack", claim_min_idle_ms=1000)
    answered_late(client, {"op": "nack", "key": "s", "group": "g", "ids": ["1-0"], "mode": "fail"})
    assert client.pushed_ids() == ["1-0", "1-0"]
    end(client)
    assert pending(client) == {"1-0": (None, 1)}


def test_an_entry_that_is_pushed_again_while_its_claim_and_nack_run_is_given_back_at_the_end() -> None:
    client = with_group(1)
    consuming(client, credit=5, on_close="nack", claim_min_idle_ms=1000)
    entry = {"key": "s", "group": "g", "ids": ["1-0"]}
    claim = {"op": "claim", "consumer": "alice", "min_idle_ms": 0, **entry}
    answered_late(client, claim, {"op": "nack", "mode": "fail", **entry})
    assert client.pushed_ids() == ["1-0", "1-0"]
    end(client)
    assert {ident: owner for ident, (owner, _) in pending(client).items()} == {"1-0": None}


@pytest.mark.parametrize("op", ["ack", "nack"])
def test_an_entry_that_is_claimed_and_settled_in_one_array_is_not_asked_for_at_the_end(op: str) -> None:
    client = with_group(1)
    consuming(client, credit=5, on_close="nack")
    entry = {"key": "s", "group": "g", "ids": ["1-0"]}
    claim = {"op": "claim", "consumer": "alice", "min_idle_ms": 0, **entry}
    answered_late(client, claim, {"op": op, **entry, **({"mode": "fail"} if op == "nack" else {})})
    assert client.session.unsettled.questions() == []


@pytest.mark.parametrize("options", [{}, {"on_close": "nack"}])
def test_entries_taken_for_a_connection_that_is_closing_are_given_back(options: dict[str, Any]) -> None:
    client = with_group()
    consuming(client, credit=5, **options)
    client.store.run(append("s", 1))
    client.is_closing = True  # the session learns it later, after the requests that it got before
    assert client.taken_pushes() == []
    assert pending(client) == {"1-0": (None, 0)}
    client.append("s", 2)
    assert list(pending(client)) == ["1-0"]


def test_a_group_that_is_gone_at_the_end_has_nothing_to_give_back() -> None:
    client = with_group(1)
    consuming(client, credit=4, on_close="nack")
    client.taken_pushes()
    client.store.run(DestroyGroup(b"s", G))
    end(client)


def test_entries_taken_for_a_connection_that_has_gone_are_given_back_whatever_it_asked_for() -> None:
    client = with_group()
    consuming(client, credit=5)
    client.store.run(append("s", 1))
    client.session.close()
    client.store.settle()
    assert client.taken_pushes() == []
    assert pending(client) == {"1-0": (None, 0)}


def test_entries_taken_for_a_subscription_that_was_ended_are_given_back() -> None:
    client = with_group()
    consuming(client, credit=5)
    client.store.run(append("s", 1))
    client.ok(op="unsubscribe", sub=1)
    assert client.taken_pushes() == []
    assert pending(client) == {"1-0": (None, 0)}


def test_entries_taken_for_a_subscription_that_was_ended_stay_with_a_consumer_that_claimed_them() -> None:
    client = with_group()
    consuming(client, credit=5)
    client.store.run(append("s", 1))
    client.store.run(Claim(b"s", G, b"bob", ClaimOptions(0, (1 << 64,))))
    client.ok(op="unsubscribe", sub=1)
    assert client.taken_pushes() == []
    assert pending(client) == {"1-0": (b"bob", 2)}


def test_a_consumption_that_is_ended_before_it_began_takes_nothing() -> None:
    client = with_group(1)
    consume = {"id": 1, "op": "consume", "group": "g", "consumer": "alice", "streams": [{"key": "s"}]}
    client.say([{**consume, "credit": 5}, {"id": 2, "op": "unsubscribe", "sub": 1}])
    assert client.store.watched == []
    assert pending(client) == {}


def test_what_messagepack_pushes_of_a_group_has_the_same_members() -> None:
    client = Client(subprotocol=MSGPACK)
    client.create_group("s")
    client.append("s", 1)
    consuming(client, credit=1)
    [push] = client.taken_pushes()
    assert push["entries"] == [{"id": "1-0", "fields": {"n": "v"}, "idle_ms": 0, "deliveries": 0}]


def append(key: str, value: int) -> Command:
    return Append(key.encode(), (fragment_from_flat([b"n", b"v"]),), (value << 64,))
