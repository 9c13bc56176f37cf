"""Rules 22 to 33: reading streams, and reading them as a group."""

from __future__ import annotations

import pytest

from tailrace.core.commands import Read
from tailrace.core.stream_id import MAX_ID, make_id
from tests.rules.lines import INVALID_ID, no_group_to_read
from tests.support.redis_like import R, Word, entry_count, ids_of, read_ids

READ = "XREADGROUP GROUP g alice STREAMS s"


def filled(r: R, count: int = 4, key: str = "s") -> R:
    """A stream of ids 1-0 to `count` with group `g` at its start."""
    for number in range(1, count + 1):
        r.run("XADD", key, number, "f", number)
    r.run("XGROUP", "CREATE", key, "g", "0")
    return r


def test_rule_22_a_dollar_is_the_last_id_made_concrete_before_waiting(r: R) -> None:
    filled(r)
    r.line("XDEL s 4")
    assert r.line("XREAD STREAMS s $") is None
    waiting = r.outcome("XREAD", "BLOCK", 0, "STREAMS", "s", "missing", "$", "$")
    assert isinstance(waiting.retry, Read)
    assert [stream.after for stream in waiting.retry.streams] == [make_id(4, 0), 0]
    r.line("XADD s 5 f v")
    assert entry_count(r.again(waiting)) == 1


def test_rule_22_a_plus_gives_exactly_the_last_live_entry(r: R) -> None:
    filled(r)
    assert read_ids(r.line("XREAD STREAMS s +")) == {"s": ["4-0"]}
    r.line("XDEL s 4")
    assert read_ids(r.line("XREAD COUNT 5 STREAMS s +")) == {"s": ["3-0"]}
    assert r.line("XREAD STREAMS missing +") is None


def test_rule_22_a_plus_on_an_empty_stream_waits_for_the_first_entry(r: R) -> None:
    waiting = r.outcome("XREAD", "BLOCK", 0, "STREAMS", "s", "+")
    assert isinstance(waiting.retry, Read)
    assert waiting.retry.streams[0].after == 0


@pytest.mark.parametrize("sign", ["$", "+"])
def test_rule_22_dollar_and_plus_are_meaningless_to_a_group(r: R, sign: str) -> None:
    filled(r)
    assert r.line(f"{READ} {sign}").startswith(
        f"ERR The {sign} ID is meaningless in the context of XREADGROUP"
    )


def test_rule_23_count_is_for_each_stream_and_no_bound_when_not_positive(r: R) -> None:
    filled(r)
    filled(r, key="t")
    assert read_ids(r.line("XREAD COUNT 2 STREAMS s t 0 2")) == {"s": ["1-0", "2-0"], "t": ["3-0", "4-0"]}
    for count in (0, -1):
        assert len(read_ids(r.run("XREAD", "COUNT", count, "STREAMS", "s", 0))["s"]) == 4
        assert r.run("XRANGE", "s", "-", "+", "COUNT", count) is None


def test_rule_23_of_repeated_options_the_last_one_holds(r: R) -> None:
    filled(r)
    assert read_ids(r.line("XREAD COUNT 3 COUNT 1 STREAMS s 0")) == {"s": ["1-0"]}


def test_rule_23_streams_is_the_last_option(r: R) -> None:
    filled(r)
    assert r.line("XREAD STREAMS s 0 COUNT 1") == INVALID_ID, "s and 0 are keys, COUNT and 1 their ids"


def test_rule_24_a_key_listed_twice_is_answered_twice(r: R) -> None:
    filled(r)
    reply = r.line("XREAD STREAMS s s 0 3")
    assert [[key, ids_of(entries)] for key, entries in reply] == [
        ["s", ["1-0", "2-0", "3-0", "4-0"]],
        ["s", ["4-0"]],
    ]


def test_rule_25_block_zero_waits_for_ever_and_not_at_all_in_a_transaction(r: R) -> None:
    waiting = r.outcome("XREAD", "BLOCK", 0, "STREAMS", "s", "0").wait
    assert waiting is not None
    assert waiting.until_ms is None
    assert r.transaction(["XREAD", "BLOCK", 0, "STREAMS", "s", "0"]) == [None]


def test_rule_26_maxcount_is_one_budget_filled_in_the_order_of_the_streams(r: R) -> None:
    filled(r)
    filled(r, key="t")
    reply = r.line("XREAD MAXCOUNT 5 STREAMS s t 0 0")
    assert read_ids(reply) == {"s": ["1-0", "2-0", "3-0", "4-0"], "t": ["1-0"]}
    reply = r.line("XREAD COUNT 2 MAXCOUNT 3 STREAMS t s 0 0")
    assert read_ids(reply) == {"t": ["1-0", "2-0"], "s": ["1-0"]}


def test_rule_26_maxcount_is_positive_and_not_below_count(r: R) -> None:
    filled(r)
    assert r.line("XREAD MAXCOUNT 0 STREAMS s 0") == "ERR MAXCOUNT must be a positive integer"
    assert r.line("XREAD MAXSIZE 0 STREAMS s 0") == "ERR MAXSIZE must be a positive integer"
    below = "ERR MAXCOUNT must be greater than or equal to COUNT"
    assert r.line("XREAD COUNT 3 MAXCOUNT 2 STREAMS s 0") == below
    assert r.line("XREADGROUP GROUP g alice MAXCOUNT 2 COUNT 3 STREAMS s >") == below


def test_rule_26_maxsize_never_withholds_the_first_entry_and_may_be_overshot_by_one(r: R) -> None:
    for number in range(1, 6):
        r.run("XADD", "s", number, "f", "x" * 100)
    assert read_ids(r.line("XREAD MAXSIZE 1 STREAMS s 0")) == {"s": ["1-0"]}
    assert read_ids(r.line("XREAD MAXSIZE 200 STREAMS s 0")) == {"s": ["1-0", "2-0"]}
    assert len(read_ids(r.line("XREAD MAXSIZE 100000 STREAMS s 0"))["s"]) == 5


def test_rule_26_what_the_budget_withholds_does_not_become_pending(r: R) -> None:
    filled(r)
    filled(r, key="t")
    reply = r.line("XREADGROUP GROUP g alice MAXCOUNT 5 STREAMS s t > >")
    assert {key: len(found) for key, found in read_ids(reply).items()} == {"s": 4, "t": 1}
    assert ids_of(r.pending("t", "g")) == ["1-0"]
    assert r.group("t", "g")["last-delivered-id"] == "1-0"
    r.line("XREADGROUP GROUP g alice MAXSIZE 1 STREAMS t >")
    assert ids_of(r.pending("t", "g")) == ["1-0", "2-0"]


def test_rule_26_the_budgets_hold_for_history_and_claims_too(r: R) -> None:
    filled(r)
    r.line(f"{READ} >")
    assert read_ids(r.line("XREADGROUP GROUP g alice MAXCOUNT 2 STREAMS s 0")) == {"s": ["1-0", "2-0"]}
    assert read_ids(r.line("XREADGROUP GROUP g bob CLAIM 0 MAXCOUNT 1 STREAMS s >")) == {"s": ["3-0"]}
    assert read_ids(r.line("XREADGROUP GROUP g bob CLAIM 0 MAXSIZE 1 STREAMS s >")) == {"s": ["4-0"]}


@pytest.mark.parametrize("limit", ["MAXCOUNT 4", "MAXSIZE 1"])
def test_rule_26_streams_after_a_reached_limit_are_not_scanned(r: R, limit: str) -> None:
    filled(r)
    filled(r, key="t")
    for positions in ("> >", "0 0", "0 >"):
        reply = r.line(f"XREADGROUP GROUP g alice {limit} STREAMS s t {positions}")
        assert [key for key, _ in reply] == ["s"]
    assert r.line("XINFO CONSUMERS t g") == []
    assert r.group("t", "g")["last-delivered-id"] == "0-0"


def test_rule_26_a_stream_whose_key_reaches_maxsize_is_answered_without_entries(r: R) -> None:
    filled(r, count=1)
    filled(r, count=1, key="t")
    one_stream = len("*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n")
    for size, streams in ((one_stream, 1), (one_stream + 1, 2)):
        reply = r.line(f"XREAD MAXSIZE {size} STREAMS s t 0 0")
        assert [[key, len(entries)] for key, entries in reply] == [["s", 1], ["t", 0]][:streams]
    reply = r.line(f"XREADGROUP GROUP g alice MAXSIZE {one_stream + 1} STREAMS s t > >")
    assert read_ids(reply) == {"s": ["1-0"], "t": []}
    reply = r.line(f"XREADGROUP GROUP g bob CLAIM 0 MAXSIZE {one_stream + 10} STREAMS s t > >")
    assert read_ids(reply) == {"s": ["1-0"], "t": []}
    assert r.group("t", "g")["last-delivered-id"] == "0-0"


def test_rule_26_a_stream_whose_key_reaches_maxsize_gives_no_claimed_entries(r: R) -> None:
    filled(r, count=1)
    filled(r, count=1, key="t")
    r.line("XREADGROUP GROUP g alice STREAMS s t > >")
    r.now_ms += 5
    one_stream = len("*2\r\n$1\r\ns\r\n*1\r\n*4\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n:5\r\n:1\r\n")
    reply = r.line(f"XREADGROUP GROUP g bob CLAIM 5 MAXSIZE {one_stream + 1} STREAMS s t > >")
    assert read_ids(reply) == {"s": ["1-0"], "t": []}
    assert r.pending("t", "g") == [["1-0", "alice", 5, 1]]


def test_rule_26_maxsize_counts_what_earlier_streams_took(r: R) -> None:
    filled(r, count=1)
    filled(r, count=9, key="t")
    # 46 bytes for s, 11 for the key of t, 31 for each entry: the eighth begins at 274 bytes, a ninth at 305.
    reply = read_ids(r.line("XREAD MAXSIZE 300 STREAMS s t 0 0"))
    assert [len(ids) for ids in reply.values()] == [1, 8]


def test_rule_26_maxsize_counts_the_digits_of_idle_times_and_deliveries(r: R) -> None:
    filled(r, count=3)
    r.line(f"{READ} >")
    r.now_ms += 1_000_000
    head = len("*2\r\n$1\r\ns\r\n")
    entry = len("*4\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\n1\r\n:1000000\r\n:1\r\n")
    claim = "XREADGROUP GROUP g bob CLAIM 1000 MAXSIZE {} STREAMS s >"
    assert read_ids(r.line(claim.format(head + entry))) == {"s": ["1-0"]}
    assert read_ids(r.line(claim.format(head + entry + 1))) == {"s": ["2-0", "3-0"]}


def test_rule_26_each_command_of_a_transaction_has_its_own_budget(r: R) -> None:
    filled(r)
    read: list[Word] = ["XREAD", "MAXCOUNT", 2, "MAXSIZE", 1, "STREAMS", "s", 0]
    assert [read_ids(reply) for reply in r.transaction(read, read)] == [{"s": ["1-0"]}, {"s": ["1-0"]}]


def test_rule_27_all_keys_must_hold_the_group_before_anything_happens(r: R) -> None:
    filled(r)
    reply = r.line("XREADGROUP GROUP g alice STREAMS s missing > >")
    assert reply == no_group_to_read("missing", "g")
    assert r.line("XINFO CONSUMERS s g") == []
    assert r.group("s", "g")["last-delivered-id"] == "0-0"


def test_rule_27_each_stream_is_checked_for_its_group_before_its_id(r: R) -> None:
    filled(r)
    assert r.line("XREADGROUP GROUP g alice STREAMS missing s x x") == no_group_to_read("missing", "g")
    assert r.line("XREADGROUP GROUP g alice STREAMS s missing x >") == INVALID_ID


def test_rule_28_a_consumer_comes_to_be_on_any_valid_read(r: R) -> None:
    filled(r, count=0)
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    assert r.line(f"{READ} x") == INVALID_ID
    assert r.line("XINFO CONSUMERS s g") == []
    assert r.line(f"{READ} >") is None
    assert r.run("XREADGROUP", "GROUP", "g", "", "STREAMS", "s", "0") == [["s", []]]
    assert r.line("XGROUP CREATECONSUMER s g alice") == 0
    assert r.run("XGROUP", "CREATECONSUMER", "s", "g", "") == 0


def test_rule_28_empty_names_of_groups_are_legal(r: R) -> None:
    filled(r)
    assert r.run("XGROUP", "CREATE", "s", "", "0") == "OK"
    assert len(r.run("XREADGROUP", "GROUP", "", "alice", "STREAMS", "s", ">")[0][1]) == 4


def test_rule_29_new_entries_are_those_after_the_last_delivered_id(r: R) -> None:
    filled(r)
    assert read_ids(r.line(f"{READ[:-9]} COUNT 3 STREAMS s >")) == {"s": ["1-0", "2-0", "3-0"]}
    assert read_ids(r.line(f"{READ} >")) == {"s": ["4-0"]}
    r.line("XADD s 5 f v")
    r.line("XDEL s 5")
    assert r.line(f"{READ} >") is None, "no live entry stands after the last delivered one"


def test_rule_30_history_is_the_consumers_own_and_counts_a_delivery(r: R) -> None:
    filled(r)
    r.lines("XREADGROUP GROUP g alice COUNT 3 STREAMS s >\nXREADGROUP GROUP g bob STREAMS s >\nXDEL s 2")
    r.now_ms += 50
    reply = r.line("XREADGROUP GROUP g alice BLOCK 0 NOACK CLAIM 0 STREAMS s 1-0")
    assert reply == [["s", [["2-0", None], ["3-0", ["f", "3"]]]]]
    rows = {row[0]: row[2:] for row in r.pending("s", "g")}
    assert rows == {"1-0": [50, 1], "2-0": [50, 1], "3-0": [0, 2], "4-0": [50, 1]}


def test_rule_30_reading_history_is_no_activity(r: R) -> None:
    filled(r)
    r.line(f"{READ} >")
    r.now_ms += 70
    r.line(f"{READ} 0")
    consumer = r.consumer("s", "g", "alice")
    assert (consumer["idle"], consumer["inactive"]) == (0, 70)


def test_rule_31_a_first_delivery_counts_one(r: R) -> None:
    filled(r, count=1)
    r.line(f"{READ} >")
    assert r.pending("s", "g") == [["1-0", "alice", 0, 1]]


def test_rule_31_new_again_after_setid_moves_to_the_reader_and_counts_one(r: R) -> None:
    filled(r, count=1)
    r.lines(f"{READ} >\n{READ} 0\n{READ} 0\nXGROUP SETID s g 0")
    r.now_ms += 30
    r.line("XREADGROUP GROUP g bob NOACK STREAMS s >")
    assert r.pending("s", "g") == [["1-0", "alice", 30, 3]], "NOACK leaves it alone"
    r.line("XGROUP SETID s g 0")
    r.line("XREADGROUP GROUP g bob STREAMS s >")
    assert r.pending("s", "g") == [["1-0", "bob", 0, 1]]
    assert r.consumer("s", "g", "alice")["pending"] == 0


def test_rule_32_noack_moves_the_group_and_leaves_nothing_pending(r: R) -> None:
    filled(r)
    r.line("XREADGROUP GROUP g alice NOACK COUNT 3 STREAMS s >")
    group = r.group("s", "g")
    assert (group["pending"], group["last-delivered-id"], group["entries-read"]) == (0, "3-0", 3)
    assert r.consumer("s", "g", "alice")["inactive"] == -1


def test_rule_33_every_attempt_is_seen_and_only_success_is_activity(r: R) -> None:
    filled(r, count=1)
    r.line(f"{READ} >")
    for attempt in (f"{READ} >", "XCLAIM s g alice 999 1-0", "XAUTOCLAIM s g alice 999 0"):
        r.now_ms += 10
        r.line(attempt)
        assert r.consumer("s", "g", "alice")["idle"] == 0
    assert r.consumer("s", "g", "alice")["inactive"] == 30
    for success in (
        "XCLAIM s g alice 0 1-0",
        "XAUTOCLAIM s g alice 0 0",
        "XREADGROUP GROUP g alice CLAIM 0 STREAMS s >",
    ):
        r.now_ms += 10
        r.line(success)
        assert r.consumer("s", "g", "alice")["inactive"] == 0


def test_rule_33_acks_nacks_and_looks_are_neither_attempt_nor_activity(r: R) -> None:
    filled(r, count=2)
    r.line(f"{READ} >")
    r.now_ms += 10
    r.lines("XACK s g 1\nXNACK s g FAIL IDS 1 2\nXPENDING s g - + 10 alice")
    consumer = r.consumer("s", "g", "alice")
    assert (consumer["idle"], consumer["inactive"]) == (10, 10)


def test_the_greatest_id_is_a_position_past_every_entry(r: R) -> None:
    filled(r)
    assert r.run("XREAD", "STREAMS", "s", f"{MAX_ID >> 64}-{MAX_ID >> 64}") is None
