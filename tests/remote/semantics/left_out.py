"""Which tests of rules and texts a gateway cannot be given, and what differs, each with its reason."""

from __future__ import annotations

import re
from typing import Final

NEEDS_THE_ENGINE: Final = frozenset(
    {
        "test_a_recorded_key_expires_by_its_entrys_id_behind_those_that_came_before_it",
        "test_copy_leaves_a_reader_waiting_who_has_read_further_than_the_copy_goes",
        "test_copy_serves_a_reader_of_the_new_name",
        "test_copy_serves_group_readers_where_the_copy_has_their_group",
        "test_copy_tells_group_readers_that_their_group_is_gone",
        "test_rule_26_streams_after_a_reached_limit_are_not_scanned",
        "test_copy_works_in_a_transaction_on_what_came_before_it",
        "test_rule_05_now_is_frozen_for_a_whole_transaction",
        "test_rule_22_a_dollar_is_the_last_id_made_concrete_before_waiting",
        "test_rule_22_a_plus_on_an_empty_stream_waits_for_the_first_entry",
        "test_rule_25_block_zero_waits_for_ever_and_not_at_all_in_a_transaction",
        "test_rule_26_each_command_of_a_transaction_has_its_own_budget",
        "test_rule_61_a_producer_is_tracked_until_its_last_key_expires",
        "test_rule_61_keys_expire_by_the_time_of_their_id_in_a_sweep_and_not_when_looked_up",
        "test_rule_61_keys_with_ids_of_the_future_stay",
        "test_rule_61_the_sweep_takes_what_is_exactly_as_old_as_the_duration",
        "test_xidmprecord_repeated_changes_nothing_and_with_another_id_is_refused",
    }
)
"""Tests that look at effects, wake-ups or transactions inside of the engine."""

NEEDS_THE_CLOCK: Final = frozenset(
    {
        "test_rule_05_an_automatic_id_is_the_greater_of_now_and_last_and_carries",
        "test_rule_26_a_stream_whose_key_reaches_maxsize_gives_no_claimed_entries",
        "test_rule_26_a_stream_whose_key_reaches_maxsize_is_answered_without_entries",
        "test_rule_26_maxsize_counts_the_digits_of_idle_times_and_deliveries",
        "test_rule_30_history_is_the_consumers_own_and_counts_a_delivery",
        "test_rule_30_reading_history_is_no_activity",
        "test_rule_31_a_first_delivery_counts_one",
        "test_rule_31_new_again_after_setid_moves_to_the_reader_and_counts_one",
        "test_rule_33_acks_nacks_and_looks_are_neither_attempt_nor_activity",
        "test_rule_33_every_attempt_is_seen_and_only_success_is_activity",
        "test_rule_34_entries_of_any_consumer_are_claimed_ones_own_too",
        "test_rule_35_claims_go_by_delivery_time_nacked_first_and_stop_at_the_first_fresh_one",
        "test_rule_36_idle_of_a_nacked_entry_is_the_unix_time",
        "test_rule_36_min_idle_is_inclusive_and_zero_takes_everything",
        "test_rule_36_the_count_stops_at_its_greatest_value",
        "test_rule_37_noack_keeps_claimed_entries_pending_and_adds_no_new_ones",
        "test_rule_38_an_entry_after_those_passed_over_is_claimed_only_if_it_is_idle",
        "test_rule_40_an_id_forced_above_the_last_delivered_one_may_appear_twice",
        "test_rule_47_an_entry_is_idle_enough_from_the_very_millisecond",
        "test_rule_49_a_claim_counts_one_more_unless_justid_or_retrycount",
        "test_rule_49_a_retrycount_with_justid_is_set_all_the_same",
        "test_rule_50_claiming_ones_own_entry_resets_its_idle_time_and_counts",
        "test_rule_50_idle_and_time_set_the_delivery_time_and_become_now_out_of_range",
        "test_rule_54_force_adds_what_is_absent_but_exists_with_count_zero",
        "test_xidmprecord_makes_a_key_that_xadd_finds",
    }
)
"""Tests of exact idle times, or of what expires: they set the clock, which is the engine's here."""

PREPARED_INSIDE: Final = re.compile(
    r"INTERNAL|NOT_ACCEPTING|BODY_TOO_LARGE|POSITION_TRIMMED|xadd-LIMIT_EXCEEDED|xpending-LIMIT_EXCEEDED"
    r"|redrive-ID_EXHAUSTED|(check_import|take_over_epoch)-(IDEMPOTENCY_MISMATCH|LAYOUT_CHANGED|STALE_EPOCH)"
)
"""Problems whose preparation changes the store of the process, or whose request no HTTP client sends."""

REFUSED: Final = re.compile(
    r"configure_group-INVALID_FILTER|xnack-INVALID_ARGUMENT|(list|cancel)_scheduled-NO_SUCH_(STREAM|ENTRY)"
)
"""Problems of settings of groups, and of delays, that a gateway refuses with 501."""

DIFFERENT: Final = {
    "test_rule_64_a_failed_append_leaves_no_producer_behind": (
        "an engine with IDMP keeps the producer of a refused XADD; docs/gateway.md has the difference"
    ),
}
"""Known differences, by test."""
