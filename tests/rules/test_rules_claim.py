"""Rules 34 to 40: CLAIM in a group read."""

from __future__ import annotations

from tests.support.redis_like import START_MS, R, ids_of, read_ids

CLAIM = "XREADGROUP GROUP g bob CLAIM"
COUNT_MAX = (1 << 63) - 1


def delivered(r: R, count: int = 4, key: str = "s") -> R:
    """A stream of ids 1-0 to `count`, all pending for alice, one millisecond after another."""
    r.run("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    for number in range(1, count + 1):
        r.run("XADD", key, number, "f", number)
        r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", key, ">")
        r.now_ms += 1
    return r


def rows(reply: object, key: str = "s") -> list[list[object]]:
    """Id, idle time and deliveries of each entry of a read with CLAIM."""
    assert isinstance(reply, list)
    return [[entry[0], *entry[2:]] for name, entries in reply if name == key for entry in entries]


def test_rule_34_idle_entries_come_first_and_new_ones_fill_the_count_of_each_stream(r: R) -> None:
    delivered(r, 2)
    delivered(r, 2, key="t")
    for key in ("s", "t"):
        r.lines(f"XADD {key} 8 f v\nXADD {key} 9 f v")
    reply = r.line(f"{CLAIM} 0 COUNT 3 STREAMS s t > >")
    assert read_ids(reply) == {"s": ["1-0", "2-0", "8-0"], "t": ["1-0", "2-0", "8-0"]}


def test_rule_34_twenty_idle_and_two_hundred_new_give_220_or_20_and_80_under_count_100(r: R) -> None:
    delivered(r, 20)
    for number in range(100, 300):
        r.run("XADD", "s", number, "f", "v")
    reply = r.line(f"{CLAIM} 0 COUNT 100 STREAMS s >")
    assert [row[2] for row in rows(reply)] == [1] * 20 + [0] * 80
    delivered(r, 20, key="t")
    for number in range(100, 300):
        r.run("XADD", "t", number, "f", "v")
    assert len(rows(r.line(f"{CLAIM} 0 STREAMS t >"), "t")) == 220


def test_rule_34_maxcount_is_the_budget_over_both_phases_of_all_streams(r: R) -> None:
    delivered(r, 2)
    delivered(r, 2, key="t")
    r.line("XADD s 8 f v")
    reply = r.line(f"{CLAIM} 0 MAXCOUNT 4 STREAMS s t > >")
    assert read_ids(reply) == {"s": ["1-0", "2-0", "8-0"], "t": ["1-0"]}


def test_rule_34_entries_of_any_consumer_are_claimed_ones_own_too(r: R) -> None:
    delivered(r, 1)
    r.lines("XADD s 5 f v\nXREADGROUP GROUP g bob STREAMS s >")
    assert rows(r.line(f"{CLAIM} 0 STREAMS s >")) == [["1-0", 1, 1], ["5-0", 0, 1]]


def test_rule_35_claims_go_by_delivery_time_nacked_first_and_stop_at_the_first_fresh_one(r: R) -> None:
    delivered(r, 5)
    r.lines("XCLAIM s g alice 0 2 IDLE 500\nXNACK s g FAIL IDS 2 5 3")
    assert ids_of(r.line(f"{CLAIM} 4 STREAMS s >")[0][1]) == ["5-0", "3-0", "2-0", "1-0"]
    assert [row[:2] for row in r.pending("s", "g") if row[1] == "alice"] == [["4-0", "alice"]]


def test_rule_36_min_idle_is_inclusive_and_zero_takes_everything(r: R) -> None:
    delivered(r, 1)
    r.now_ms += 9
    assert r.line(f"{CLAIM} 11 STREAMS s >") is None
    assert rows(r.line(f"{CLAIM} 10 STREAMS s >")) == [["1-0", 10, 1]]
    assert rows(r.line(f"{CLAIM} 0 STREAMS s >")) == [["1-0", 0, 2]]
    assert r.pending("s", "g") == [["1-0", "bob", 0, 3]]


def test_rule_36_idle_of_a_nacked_entry_is_the_unix_time(r: R) -> None:
    delivered(r, 1)
    r.line("XNACK s g FAIL IDS 1 1")
    assert rows(r.line(f"{CLAIM} 1000 STREAMS s >")) == [["1-0", r.now_ms, 1]]


def test_rule_36_the_count_stops_at_its_greatest_value(r: R) -> None:
    delivered(r, 1)
    r.line("XNACK s g FATAL IDS 1 1")
    assert rows(r.line(f"{CLAIM} 0 STREAMS s >")) == [["1-0", START_MS + 1, COUNT_MAX]]
    assert r.pending("s", "g") == [["1-0", "bob", 0, COUNT_MAX]]


def test_rule_37_noack_keeps_claimed_entries_pending_and_adds_no_new_ones(r: R) -> None:
    delivered(r, 1)
    r.line("XADD s 9 f v")
    assert rows(r.line(f"{CLAIM} 0 NOACK STREAMS s >")) == [["1-0", 1, 1], ["9-0", 0, 0]]
    assert r.pending("s", "g") == [["1-0", "bob", 0, 2]]


def test_rule_38_pending_entries_whose_message_is_gone_are_passed_over_and_stay(r: R) -> None:
    delivered(r, 3)
    r.line("XDEL s 1 2")
    assert ids_of(r.line(f"{CLAIM} 0 COUNT 1 STREAMS s >")[0][1]) == ["3-0"]
    assert [row[:2] for row in r.pending("s", "g")] == [["1-0", "alice"], ["2-0", "alice"], ["3-0", "bob"]]


def test_rule_38_an_entry_after_those_passed_over_is_claimed_only_if_it_is_idle(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s 2 f v\nXGROUP CREATE s g 0")
    r.line("XREADGROUP GROUP g alice COUNT 1 STREAMS s >")
    r.now_ms += 1000
    r.line("XREADGROUP GROUP g alice COUNT 1 STREAMS s >")
    r.line("XDEL s 1")
    assert r.line("XREADGROUP GROUP g bob CLAIM 500 STREAMS s >") is None
    r.now_ms += 500
    assert read_ids(r.line("XREADGROUP GROUP g bob CLAIM 500 STREAMS s >")) == {"s": ["2-0"]}


def test_rule_38_entries_passed_over_leave_the_count_to_live_ones(r: R) -> None:
    for value in ("0-1", "2-0", "3-3"):
        r.run("XADD", "s", value, "f", "v")
    r.lines("XGROUP CREATE s g 0\nXREADGROUP GROUP g alice STREAMS s >\nXTRIM s MINID 19")
    r.lines("XADD s 20-1 f v\nXADD s 20-2 f v\nXREADGROUP GROUP g alice STREAMS s >\nXADD s 21 f v")
    claim = "XREADGROUP GROUP g bob COUNT {} CLAIM 0 STREAMS s >"
    assert read_ids(r.line(claim.format(1))) == {"s": ["20-1"]}
    assert read_ids(r.line(claim.format(2))) == {"s": ["20-2", "20-1"]}
    assert read_ids(r.line(claim.format(3))) == {"s": ["20-2", "20-1", "21-0"]}


def test_rule_39_with_a_history_id_claim_is_ignored_there_and_for_all_later_streams(r: R) -> None:
    for key in ("s", "t", "u"):
        delivered(r, 1, key)
    reply = r.line(f"{CLAIM} 0 STREAMS s t u > 0 >")
    assert read_ids(reply) == {"s": ["1-0"], "t": []}
    assert [r.pending(key, "g")[0][1] for key in ("s", "t", "u")] == ["bob", "alice", "alice"]


def test_rule_40_an_id_forced_above_the_last_delivered_one_may_appear_twice(r: R) -> None:
    delivered(r, 1)
    r.lines("XADD s 5 f v\nXCLAIM s g alice 0 5 FORCE JUSTID")
    assert [row[0] for row in rows(r.line(f"{CLAIM} 0 STREAMS s >"))] == ["1-0", "5-0", "5-0"]
    assert r.pending("s", "g")[1] == ["5-0", "bob", 0, 1]
