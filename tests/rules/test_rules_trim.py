"""Rules 11 to 21: trimming and deleting, and references to removed entries."""

from __future__ import annotations

import pytest

from tests.rules.lines import INVALID_ID, LIMIT_WITHOUT_STRATEGY, LIMIT_WITHOUT_TILDE
from tests.support.redis_like import R, ids_of


def filled(r: R, count: int, node_entries: int = 3) -> R:
    """A stream `s` of ids 1-0, 2-0, ... in macro nodes of `node_entries`."""
    r.run("CONFIG", "SET", "stream-node-max-bytes", 0, "stream-node-max-entries", node_entries)
    for number in range(1, count + 1):
        r.run("XADD", "s", number, "f", "v")
    return r


def two_groups(r: R, count: int = 5) -> R:
    """A stream of which group `g` has read all, acknowledged 1-0 and 3-0, and `h` read and acked 1 and 2."""
    filled(r, count)
    r.lines("XGROUP CREATE s g 0\nXGROUP CREATE s h 0")
    r.line("XREADGROUP GROUP g alice STREAMS s >")
    r.line("XREADGROUP GROUP h bob COUNT 2 STREAMS s >")
    r.lines("XACK s g 1 3\nXACK s h 1 2")
    return r


def test_rule_11_exact_trimming_is_the_default(r: R) -> None:
    filled(r, 10)
    assert r.line("XTRIM s MAXLEN 8") == 2
    assert r.line("XTRIM s MAXLEN = 7") == 1
    assert r.line("XTRIM s MINID 6") == 2
    assert r.ids("s") == ["6-0", "7-0", "8-0", "9-0", "10-0"]


def test_rule_11_approximate_trimming_removes_whole_nodes_only(r: R) -> None:
    filled(r, 10)
    assert r.line("XTRIM s MAXLEN ~ 8") == 0
    assert r.line("XTRIM s MAXLEN ~ 5") == 3
    assert r.line("XTRIM s MINID ~ 6") == 0
    assert r.line("XTRIM s MINID ~ 7") == 3
    assert r.ids("s") == ["7-0", "8-0", "9-0", "10-0"]


def test_rule_12_limit_is_tested_before_each_node_and_zero_is_no_limit(r: R) -> None:
    filled(r, 12)
    assert r.line("XTRIM s MAXLEN ~ 0 LIMIT 2") == 0
    assert r.line("XTRIM s MAXLEN ~ 0 LIMIT 5") == 3
    assert r.line("XTRIM s MAXLEN ~ 0 LIMIT 6") == 6
    assert r.line("XTRIM s MAXLEN ~ 0 LIMIT 0") == 3


def test_rule_12_a_thousand_entries_in_nodes_of_a_hundred_lose_nine_hundred(r: R) -> None:
    assert filled(r, 1000, node_entries=100).line("XTRIM s MAXLEN ~ 5") == 900


def test_rule_12_without_limit_a_hundred_nodes_are_the_bound(r: R) -> None:
    filled(r, 310, node_entries=3)
    assert r.line("XTRIM s MAXLEN ~ 0") == 300


def test_rule_12_the_default_limit_is_ten_thousand_where_nodes_have_no_size(r: R) -> None:
    filled(r, 1, node_entries=0)
    assert r.line("XTRIM s MAXLEN ~ 0") == 1


def test_rule_13_a_limit_without_strategy_has_two_errors_one_for_zero(r: R) -> None:
    assert r.line("XADD s LIMIT 0 * f v") == LIMIT_WITHOUT_TILDE
    assert r.line("XADD s LIMIT 5 * f v") == LIMIT_WITHOUT_STRATEGY
    assert r.line("XADD s MAXLEN 5 LIMIT 5 * f v") == LIMIT_WITHOUT_TILDE
    assert r.line("XTRIM s MAXLEN = 5 LIMIT 5") == LIMIT_WITHOUT_TILDE


@pytest.mark.parametrize("policy", ["DELREF", "ACKED"])
def test_rule_14_approximate_trimming_under_a_reference_policy_is_exact(r: R, policy: str) -> None:
    filled(r, 10)
    assert r.line(f"XTRIM s MAXLEN ~ 8 {policy}") == 2
    assert r.line(f"XTRIM s MINID ~ 5 {policy}") == 2
    assert r.ids("s") == ["5-0", "6-0", "7-0", "8-0", "9-0", "10-0"]


def test_rule_15_acked_removes_only_what_every_group_has_read_and_acknowledged(r: R) -> None:
    two_groups(r)
    assert r.line("XTRIM s MAXLEN 0 ACKED") == 1
    assert r.ids("s") == ["2-0", "3-0", "4-0", "5-0"]
    r.lines("XACK s g 2 4\nXREADGROUP GROUP h bob STREAMS s >\nXACK s h 4")
    assert r.line("XTRIM s MAXLEN 0 ACKED") == 2
    assert r.ids("s") == ["3-0", "5-0"], "referenced entries are skipped, so a gap appears"


def test_rule_15_acked_stops_after_the_first_node_that_may_not_go_as_a_whole(r: R) -> None:
    filled(r, 7)
    r.lines("XGROUP CREATE s g 0\nXREADGROUP GROUP g alice STREAMS s >\nXACK s g 2 4 5")
    assert r.line("XTRIM s MAXLEN 5 ACKED") == 1, "4-0 is in the next node"
    assert [entry[0] for entry in r.line("XRANGE s - +")] == ["1-0", "3-0", "4-0", "5-0", "6-0", "7-0"]


def test_rule_15_the_limit_counts_removed_entries_and_not_those_passed_over(r: R) -> None:
    filled(r, 7)
    r.lines("XGROUP CREATE s g 0\nXREADGROUP GROUP g alice STREAMS s >\nXACK s g 4")
    assert r.line("XTRIM s MINID ~ 9 LIMIT 2 ACKED") == 0, "the first node has three entries"
    assert r.line("XTRIM s MINID ~ 9 LIMIT 3 ACKED") == 1


def test_rule_15_without_groups_acked_keeps_nothing_back(r: R) -> None:
    filled(r, 5)
    assert r.line("XTRIM s MAXLEN 2 ACKED") == 3
    assert r.line("XADD s ACKED MAXLEN 0 9 f v") == "9-0"
    assert r.line("XLEN s") == 0


def test_rule_15_acked_with_an_append_spares_what_is_still_to_be_read(r: R) -> None:
    two_groups(r)
    assert r.line("XADD s ACKED MAXLEN 1 6 f v") == "6-0"
    assert r.ids("s") == ["2-0", "3-0", "4-0", "5-0", "6-0"]


def test_rule_16_delref_takes_the_id_out_of_every_pending_list(r: R) -> None:
    two_groups(r)
    assert r.line("XTRIM s MINID 3 DELREF") == 2
    assert ids_of(r.pending("s", "g")) == ["4-0", "5-0"]
    assert r.consumer("s", "g", "alice")["pending"] == 2


def test_rule_16_keepref_leaves_pending_entries_dangling(r: R) -> None:
    two_groups(r)
    assert r.line("XTRIM s MINID 3 KEEPREF") == 2
    assert ids_of(r.pending("s", "g")) == ["2-0", "4-0", "5-0"]
    assert r.line("XREADGROUP GROUP g alice STREAMS s 0")[0][1][0] == ["2-0", None]


def test_rule_17_trimming_moves_the_first_id_but_not_the_greatest_deleted_id(r: R) -> None:
    filled(r, 5)
    r.line("XTRIM s MAXLEN 3")
    info = r.info("s")
    assert (info["max-deleted-entry-id"], info["recorded-first-entry-id"]) == ("0-0", "3-0")
    for command, greatest, first in (
        ("XDEL s 3", "3-0", "4-0"),
        ("XDELEX s IDS 1 4", "4-0", "5-0"),
    ):
        r.line(command)
        info = r.info("s")
        assert (info["max-deleted-entry-id"], info["recorded-first-entry-id"]) == (greatest, first)


def test_rule_17_acknowledging_with_deletion_moves_the_greatest_deleted_id(r: R) -> None:
    two_groups(r)
    assert r.line("XACKDEL s g IDS 1 4") == [1]
    assert r.info("s")["max-deleted-entry-id"] == "4-0"


@pytest.mark.parametrize("command", ["XDEL s 1 2 3", "XTRIM s MAXLEN 0"])
def test_rule_18_an_emptied_stream_stays_with_its_groups_and_its_total(r: R, command: str) -> None:
    filled(r, 3)
    r.line("XGROUP CREATE s g 0")
    assert r.line(command) == 3
    assert r.line("EXISTS s") == 1
    info = r.info("s")
    assert (info["length"], info["entries-added"], info["groups"]) == (0, 3, 1)
    assert (info["first-entry"], info["last-entry"], info["last-generated-id"]) == (None, None, "3-0")


def test_rule_19_deleting_parses_all_ids_first_and_counts_a_repeated_one_once(r: R) -> None:
    filled(r, 3)
    assert r.line("XDEL s 1 2 x") == INVALID_ID
    assert r.line("XLEN s") == 3
    assert r.line("XDEL s 1 1 1-0 7") == 1


def test_rule_19_a_missing_key_answers_before_any_id_is_parsed(r: R) -> None:
    assert r.line("XDEL none x") == 0
    assert r.line("XACK none g x") == 0
    assert r.line("XDELEX none IDS 2 x y") == [-1, -1]
    assert r.line("XACKDEL none g IDS 2 x y") == [-1, -1]
    filled(r, 1)
    assert r.line("XACK s nogroup x") == 0
    assert r.line("XACKDEL s nogroup IDS 1 x") == [-1]
    assert r.line("XDELEX s IDS 1 x") == INVALID_ID


def test_rule_20_xdelex_answers_for_each_id(r: R) -> None:
    two_groups(r)
    assert r.line("XDELEX s ACKED IDS 3 1 2 3") == [1, 2, 2]
    assert r.line("XDELEX s KEEPREF IDS 2 2 7") == [1, -1]
    assert r.line("XDELEX s IDS 1 3 KEEPREF") == [1], "the ids may stand anywhere after the key"


def test_rule_20_acked_on_a_missing_id_says_whether_a_group_may_still_meet_it(r: R) -> None:
    two_groups(r)
    r.line("XDEL s 1 2")
    assert r.line("XDELEX s ACKED IDS 1 1") == [-1], "every group is past it, none holds it"
    assert r.line("XDELEX s ACKED IDS 1 2") == [2], "still pending in g"
    assert r.line("XDELEX s ACKED IDS 1 9") == [2], "above what a group has read"
    r.lines("XGROUP DESTROY s g\nXGROUP DESTROY s h")
    assert r.line("XDELEX s ACKED IDS 2 2 9") == [-1, -1]


def test_rule_20_delref_on_a_missing_id_still_purges_pending_entries(r: R) -> None:
    two_groups(r)
    r.line("XDEL s 2")
    assert r.line("XDELEX s DELREF IDS 1 2") == [-1]
    assert ids_of(r.pending("s", "g")) == ["4-0", "5-0"]


def test_rule_21_xackdel_touches_only_what_is_pending_in_its_group(r: R) -> None:
    two_groups(r)
    assert r.line("XACKDEL s g IDS 2 1 9") == [-1, -1]
    assert r.line("XACKDEL s g IDS 1 2") == [1]
    assert r.ids("s") == ["1-0", "3-0", "4-0", "5-0"]


def test_rule_21_a_pending_id_whose_entry_is_gone_is_acknowledged(r: R) -> None:
    two_groups(r)
    r.line("XDEL s 2")
    assert r.line("XACKDEL s g IDS 1 2") == [1]
    assert ids_of(r.pending("s", "g")) == ["4-0", "5-0"]


def test_rule_21_acked_waits_for_the_other_groups_but_acknowledges_at_once(r: R) -> None:
    two_groups(r)
    assert r.line("XACKDEL s g ACKED IDS 2 2 4") == [1, 2]
    assert ids_of(r.pending("s", "g")) == ["5-0"]
    assert r.ids("s") == ["1-0", "3-0", "4-0", "5-0"]


def test_rule_21_acked_waits_for_a_group_that_has_not_read_even_where_the_entry_is_gone(r: R) -> None:
    filled(r, 1)
    r.lines(
        "XGROUP CREATE s g 0\nXGROUP CREATE s h 0\nXREADGROUP GROUP g alice STREAMS s >\nXTRIM s MAXLEN 0"
    )
    assert r.line("XACKDEL s g ACKED IDS 1 1") == [2]
    assert r.line("XACKDEL s g ACKED IDS 1 1") == [-1], "it was acknowledged"


def test_rule_21_keepref_leaves_the_other_groups_pending_entries(r: R) -> None:
    two_groups(r)
    r.line("XREADGROUP GROUP h bob STREAMS s >")
    assert r.line("XACKDEL s g KEEPREF IDS 1 4") == [1]
    assert ids_of(r.pending("s", "h")) == ["3-0", "4-0", "5-0"]
    assert r.line("XACKDEL s g DELREF IDS 1 5") == [1]
    assert ids_of(r.pending("s", "h")) == ["3-0", "4-0"]
