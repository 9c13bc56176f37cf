"""Rules 56 to 65: entries read and lag, idempotency keys, and setting a stream's position."""

from __future__ import annotations

import pytest

from tailrace.core.commands import ExpireIdempotencyKeys
from tests.rules.lines import MAX_ID, NO_SUCH_KEY
from tests.support.redis_like import START_MS, R

NOT_POSITIVE = "ERR value for ENTRIESREAD must be positive or -1"


def filled(r: R, count: int = 5) -> R:
    """A stream `s` of ids 1-0 to `count`."""
    for number in range(1, count + 1):
        r.run("XADD", "s", number, "f", "v")
    return r


def counters(r: R, group: str = "g") -> tuple[int | None, int | None]:
    """Entries read and lag of a group."""
    info = r.group("s", group)
    return info["entries-read"], info["lag"]


def read(r: R, count: int) -> None:
    """Group `g` reads so many new entries."""
    r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", count, "STREAMS", "s", ">")


# --- entries read and lag ----------------------------------------------------------------------------


def test_rule_56_entries_read_is_as_given_capped_to_entries_added_and_unknown_when_omitted(r: R) -> None:
    filled(r)
    for given, expected in ((3, 3), (99, 5), (-1, None)):
        r.run("XGROUP", "CREATE", "s", f"g{given}", "0", "ENTRIESREAD", given)
        assert counters(r, f"g{given}")[0] == expected
    r.line("XGROUP CREATE s g 0 ENTRIESREAD 2")
    r.line("XGROUP SETID s g 3")
    assert counters(r)[0] is None
    r.line("XGROUP SETID s g 3 ENTRIESREAD 99")
    assert counters(r)[0] == 5
    assert r.line("XGROUP SETID s g 3 ENTRIESREAD -2") == NOT_POSITIVE
    assert r.line("XGROUP CREATE s h 0 ENTRIESREAD -2") == NOT_POSITIVE


def test_rule_57_a_known_count_goes_up_with_each_delivery(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 2 ENTRIESREAD 2")
    read(r, 2)
    assert counters(r) == (4, 1)


def test_rule_57_before_the_first_entry_or_a_tombstone_it_is_estimated_anew(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 0 ENTRIESREAD 0")
    r.line("XTRIM s MAXLEN 3")
    read(r, 1)
    assert counters(r) == (3, 2), "the group stood before the first entry: 5 added - 3 left + 1"
    r.line("XDEL s 4")
    read(r, 1)
    assert counters(r) == (5, 0), "a tombstone lay ahead; the estimate at the last id is all entries"


def test_rule_58_the_estimate_is_known_at_both_ends_of_the_stream_only(r: R) -> None:
    filled(r)
    expected = {"0": 5, "1": 4, "2": None, "4": None, "5": 0, "9": None}
    for start, lag in expected.items():
        r.run("XGROUP", "CREATE", "s", f"at{start}", start)
        assert counters(r, f"at{start}") == (None, lag), start


def test_rule_58_a_tombstone_at_or_after_the_first_entry_makes_the_estimate_unknown(r: R) -> None:
    filled(r).line("XDEL s 3")
    r.line("XGROUP CREATE s at1 1")
    r.line("XGROUP CREATE s at2 2-5")
    r.line("XGROUP CREATE s end $")
    assert [counters(r, group)[1] for group in ("at1", "at2", "end")] == [None, None, 0]


def test_rule_59_lag_is_zero_where_nothing_was_added_or_nothing_is_left(r: R) -> None:
    r.line("XGROUP CREATE s g 5 MKSTREAM")
    assert counters(r)[1] == 0
    filled(r, 3).line("XTRIM s MAXLEN 0")
    r.line("XGROUP CREATE s h 1")
    assert counters(r, "h")[1] == 0


def test_rule_59_lag_is_the_length_where_group_and_tombstones_are_behind_the_first_entry(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 1")
    r.lines("XDEL s 1 2")
    assert counters(r) == (None, 3)


def test_rule_59_a_known_count_without_a_tombstone_ahead_gives_the_rest(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 0")
    read(r, 2)
    assert counters(r) == (2, 3)


def test_rule_59_lag_is_nil_with_a_hole_ahead_and_heals_at_the_end_or_when_the_hole_is_trimmed(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 0")
    read(r, 2)
    r.line("XDEL s 4")
    assert counters(r) == (2, None)
    r.line("XTRIM s MINID 5")
    assert counters(r)[1] == 1
    read(r, 5)
    assert counters(r) == (5, 0)


def test_rule_59_lag_is_nil_for_a_group_made_in_the_middle_or_in_the_future(r: R) -> None:
    filled(r).lines("XGROUP CREATE s middle 3\nXGROUP CREATE s future 99")
    assert [counters(r, name)[1] for name in ("middle", "future")] == [None, None]


def test_rule_59_lag_is_nil_where_xsetid_put_the_count_of_the_stream_below_that_of_the_group(r: R) -> None:
    filled(r).line("XGROUP CREATE s g 0")
    read(r, 4)
    r.lines("XTRIM s MAXLEN 2\nXSETID s 5 ENTRIESADDED 2")
    assert counters(r) == (4, None)
    full = r.line("XINFO STREAM s FULL")
    groups = dict(zip(full[::2], full[1::2], strict=True))["groups"]
    assert [dict(zip(each[::2], each[1::2], strict=True))["lag"] for each in groups] == [None]


# --- idempotency keys --------------------------------------------------------------------------------


def test_rule_60_the_same_key_answers_the_first_id_and_adds_nothing_and_trims_nothing(r: R) -> None:
    first = r.line("XADD s IDMP p i * f v")
    r.line("XADD s * f v")
    assert r.line("XADD s IDMP p i MAXLEN 0 * other payload") == first
    assert r.line("XADD s MAXLEN 0 IDMP p i * f v") == first
    assert r.line("XLEN s") == 2
    assert r.info("s")["iids-duplicates"] == 2


def test_rule_60_the_key_is_of_stream_producer_and_key(r: R) -> None:
    r.line("XADD s IDMP p i * f v")
    r.line("XADD s IDMP q i * f v")
    r.line("XADD s IDMP p j * f v")
    r.line("XADD t IDMP p i * f v")
    assert (r.line("XLEN s"), r.line("XLEN t")) == (3, 1)
    info = r.info("s")
    assert (info["pids-tracked"], info["iids-tracked"], info["iids-added"]) == (2, 3, 3)


def test_rule_60_keys_go_with_automatic_ids_only(r: R) -> None:
    refused = "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
    assert r.line("XADD s IDMP p i 1-0 f v") == refused
    assert r.line("XADD s IDMPAUTO p 1-* f v") == refused
    assert r.line("EXISTS s") == 0


@pytest.mark.parametrize("forget", ["XDEL s {}", "XTRIM s MAXLEN 0"])
def test_rule_60_a_key_outlives_its_entry(r: R, forget: str) -> None:
    first = r.line("XADD s IDMP p i * f v")
    assert r.line(forget.format(first)) == 1
    assert r.line("XADD s IDMP p i * f v") == first
    assert r.line("XLEN s") == 0


def test_rule_61_above_the_maximum_a_producers_oldest_key_goes_first(r: R) -> None:
    r.lines("XADD s * f v\nXCFGSET s IDMP-MAXSIZE 2")
    ids = [r.run("XADD", "s", "IDMP", "p", key, "*", "f", "v") for key in ("a", "b", "c")]
    assert r.line("XADD s IDMP p b * f v") == ids[1]
    assert r.line("XADD s IDMP p a * f v") not in ids
    assert r.info("s")["iids-tracked"] == 2


def test_rule_61_keys_expire_by_the_time_of_their_id_in_a_sweep_and_not_when_looked_up(r: R) -> None:
    r.lines("XADD s * f v\nXCFGSET s IDMP-DURATION 1")
    first = r.line("XADD s IDMP p i * f v")
    r.now_ms += 1500
    assert r.line("XADD s IDMP p i * f v") == first
    r.engine.execute(ExpireIdempotencyKeys(), r.now_ms)
    assert r.info("s")["iids-tracked"] == 0
    assert r.line("XADD s IDMP p i * f v") != first


def test_rule_61_the_sweep_takes_what_is_exactly_as_old_as_the_duration(r: R) -> None:
    r.lines("XADD s * f v\nXCFGSET s IDMP-DURATION 1\nXADD s IDMP p i * f v")
    r.engine.execute(ExpireIdempotencyKeys(), START_MS + 999)
    assert r.info("s")["iids-tracked"] == 1
    r.engine.execute(ExpireIdempotencyKeys(), START_MS + 1000)
    assert r.info("s")["iids-tracked"] == 0


def test_rule_61_a_producer_is_tracked_until_its_last_key_expires(r: R) -> None:
    r.lines("XADD s * f v\nXCFGSET s IDMP-DURATION 1\nXADD s IDMP p i * f v")
    r.now_ms += 500
    r.lines("XADD s IDMP p j * f v\nXADD s IDMP q i * f v")
    for later_ms, tracked in ((1000, (2, 2)), (1500, (0, 0))):
        r.engine.execute(ExpireIdempotencyKeys(), START_MS + later_ms)
        info = r.info("s")
        assert (info["pids-tracked"], info["iids-tracked"]) == tracked
    assert info["iids-added"] == 3


def test_rule_61_keys_with_ids_of_the_future_stay(r: R) -> None:
    r.run("XADD", "s", START_MS + 10_000_000, "f", "v")
    r.line("XADD s IDMP p i * f v")
    r.engine.execute(ExpireIdempotencyKeys(), START_MS + 9_000_000)
    assert r.info("s")["iids-tracked"] == 1


def test_rule_62_the_automatic_key_is_the_fields_in_any_order_but_as_often(r: R) -> None:
    first = r.line("XADD s IDMPAUTO p * a 1 b 2")
    assert r.line("XADD s IDMPAUTO p * b 2 a 1") == first
    others = [
        r.run("XADD", "s", "IDMPAUTO", "p", "*", *fields.split())
        for fields in ("a 1 b 2 b 2", "a 1", "a 2 b 1", "a1 b 2 x", "a 1 b 2 a 1")
    ]
    assert len({first, *others}) == 6
    assert r.line("XADD s IDMPAUTO q * a 1 b 2") not in {first, *others}


@pytest.mark.parametrize("words", ["", "WHAT", "IDMP-DURATION x", "IDMP-MAXSIZE 0"])
def test_rule_63_xcfgset_looks_for_the_key_before_it_reads_its_settings(r: R, words: str) -> None:
    assert r.line(f"XCFGSET s {words}") == NO_SUCH_KEY
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    assert r.line(f"XCFGSET s {words}") != NO_SUCH_KEY


def test_rule_63_a_changed_setting_forgets_all_keys_and_the_same_value_none(r: R) -> None:
    first = r.line("XADD s IDMP p i * f v")
    assert r.line("XCFGSET s IDMP-DURATION 100 IDMP-MAXSIZE 100") == "OK"
    assert r.line("XADD s IDMP p i * f v") == first
    r.line("XCFGSET s IDMP-DURATION 99")
    assert r.line("XADD s IDMP p i * f v") != first
    info = r.info("s")
    assert (info["idmp-duration"], info["iids-tracked"], info["iids-added"], info["iids-duplicates"]) == (
        99,
        1,
        2,
        1,
    )


def test_rule_64_a_failed_append_leaves_no_producer_behind(r: R) -> None:
    # Redis 8.6 keeps an empty producer here, an open bug of its own; a refused command changes nothing.
    r.run("XADD", "s", MAX_ID, "f", "v")
    assert r.line("XADD s IDMP p i * f v").startswith("ERR The stream has exhausted")
    assert r.info("s")["pids-tracked"] == 0


# --- XSETID ------------------------------------------------------------------------------------------


def test_rule_65_a_position_is_not_below_what_was_deleted_or_what_is_there(r: R) -> None:
    prefix = "ERR The ID specified in XSETID is smaller than"
    filled(r).line("XDEL s 5")
    assert r.line("XSETID s 9 MAXDELETEDID 10") == f"{prefix} the provided max_deleted_entry_id"
    assert r.line("XSETID s 4") == f"{prefix} current max_deleted_entry_id"
    r.line("XADD s 7 f v")
    assert r.line("XSETID s 6") == f"{prefix} the target stream top item"
    assert r.line("XSETID s 9 ENTRIESADDED -1") == "ERR entries_added must be positive"
    assert r.line("XSETID s 9 ENTRIESADDED 4") == (
        "ERR The entries_added specified in XSETID is smaller than the target stream length"
    )
    assert r.line("XSETID none 9") == "ERR no such key"


def test_rule_65_each_option_is_accepted_alone(r: R) -> None:
    filled(r)
    assert r.line("XSETID s 8 ENTRIESADDED 20") == "OK"
    assert r.line("XSETID s 8 MAXDELETEDID 6") == "OK"
    info = r.info("s")
    assert (info["last-generated-id"], info["entries-added"], info["max-deleted-entry-id"]) == (
        "8-0",
        20,
        "6-0",
    )
    assert r.line("XADD s 8 f v").startswith("ERR The ID specified in XADD is equal or smaller")
