"""What rightly differs between the stores, with the tests that show it.

`python -m tests.remote.contract.differences` writes the table of `docs/gateway.md`.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Difference(NamedTuple):
    """A test of the contract that fails on some stores. `test`: its name; `stores`: parts of their names."""

    test: str
    stores: tuple[str, ...]
    reason: str

    def concerns(self, item_name: str) -> bool:
        name, _, parameters = item_name.partition("[")
        return name == self.test and any(store in parameters for store in self.stores)


ENGINES: Final = ("redis", "valkey", "cluster")
"""All stores but the embedded one."""

DIFFERENCES: Final[tuple[Difference, ...]] = (
    Difference(
        "test_entries_trimmed_out_of_the_middle_are_one_gap_and_the_rest_follows",
        ENGINES,
        "an engine does not record which entries were trimmed; only a missing beginning of the stream shows",
    ),
    *(
        Difference(
            test,
            ENGINES,
            "an engine does not tell a stream that was created again from one that lost its newest entries",
        )
        for test in (
            "test_a_tail_of_a_stream_that_is_created_again_with_lower_ids_sends_all_of_it",
            "test_a_position_beyond_the_last_id_belongs_to_an_earlier_stream",
            "test_an_incarnation_distinguishes_a_position_from_one_of_a_longer_later_stream",
            "test_the_ids_of_a_tail_of_several_streams_say_which_streams_they_were",
            "test_a_read_with_an_incarnation_refuses_a_position_of_an_earlier_stream",
        )
    ),
    Difference(
        "test_a_tail_that_opened_before_its_stream_existed_tells_the_incarnation_once",
        ENGINES,
        "a read is one command of the engine, which does not tell the incarnation",
    ),
    Difference(
        "test_only_a_read_that_asks_for_it_is_answered_with_the_incarnation",
        ENGINES,
        "a read is one command of the engine, which does not tell the incarnation",
    ),
    Difference(
        "test_a_dead_letter_stream_may_have_any_name",
        ("cluster",),
        "an entry moves in one step only within a slot; the error says how to name the dead-letter stream",
    ),
)

OWN_SERVER: Final = frozenset(
    {
        "test_at_shutdown_a_thousand_waiting_readers_are_each_told_and_it_ends_before_the_grace_does",
        "test_clients_that_do_not_read_hold_up_no_other_and_grow_no_memory",
        "test_at_shutdown_every_tail_is_told_and_its_answer_is_whole",
        "test_a_thousand_tails_are_told_at_shutdown_and_it_ends_before_the_grace_does",
    }
)
"""Tests that start a server of their own, with its own storage: nothing of a gateway is in them."""

TIMED: Final = frozenset({"test_a_hundred_clients_that_never_read_are_cut_while_others_are_served"})
"""Tests that need 600 MB within a time in which an engine on a busy machine may not send them."""

NEEDS_THE_DOUBLE: Final = frozenset(
    {
        "test_an_append_answers_201_and_the_id",
        "test_bytes_travel_as_base64",
        "test_an_id_may_be_chosen_in_part_or_in_whole",
        "test_a_batch_answers_the_first_and_the_last_id_and_all_if_asked",
        "test_an_import_with_whole_entries_takes_ids_pairs_and_base64",
        "test_block_waits_for_at_most_the_servers_limit",
        "test_block_does_not_wait_among_other_commands",
        "test_consumers_are_made_once_and_listed",
        "test_a_history_read_gives_the_consumers_own_with_what_was_deleted",
        "test_a_read_with_claim_takes_over_what_is_idle_and_then_what_is_new",
        "test_a_group_read_waits",
        "test_a_read_prefers_to_wait_as_the_header_says",
        "test_pending_entries_are_listed_page_by_page",
        "test_entries_are_taken_over_by_id",
        "test_a_wait_ends_with_the_first_entry",
        "test_a_preference_to_wait_is_followed_and_told",
        "test_without_a_time_to_wait_nothing_waits",
        "test_wait_ms_beats_the_preference",
        "test_a_strict_read_refuses_a_position_that_was_trimmed_away",
    }
)
"""Tests that set the clock of the store in the process, or look inside of it."""

WITHOUT_THE_STORE: Final = frozenset(
    {
        "test_a_bad_request_is_refused_and_changes_nothing",
        "test_a_bound_that_is_no_id_is_a_400",
        "test_a_client_that_takes_no_event_stream_is_a_406",
        "test_a_command_that_is_no_array_of_words_is_a_422",
        "test_a_last_event_id_that_no_event_had_is_a_400",
        "test_a_line_that_does_not_fit_is_a_422_and_imports_nothing",
        "test_a_line_that_is_no_json_is_refused",
        "test_a_line_that_is_too_large_is_a_413",
        "test_a_malformed_id_is_a_400",
        "test_a_name_that_repeats_in_fields_is_refused_and_taken_as_pairs",
        "test_a_number_as_a_value_is_a_422_that_names_the_field",
        "test_a_number_or_a_boolean_stands_for_its_text_as_it_was_sent",
        "test_a_plus_in_a_query_is_a_space_as_everywhere_and_refused",
        "test_a_request_id_is_kept_or_replaced_alike",
        "test_a_request_may_come_in_pieces",
        "test_a_tail_of_a_group_takes_no_filter",
        "test_a_tail_that_makes_no_sense_is_a_400_before_it_begins",
        "test_an_append_that_does_not_fit_is_a_422_and_appends_nothing",
        "test_an_argument_of_another_kind_is_a_422",
        "test_an_argument_that_is_not_base64_is_a_422",
        "test_an_empty_key_is_a_400_and_so_is_a_key_with_an_explicit_id",
        "test_an_empty_pipeline_is_answered_with_nothing",
        "test_an_encoding_or_type_that_is_not_known_is_a_415",
        "test_an_entry_above_the_limit_is_a_413",
        "test_an_integer_of_any_length_is_refused_or_taken",
        "test_an_unacceptable_answer_is_refused",
        "test_bounds_that_do_not_fit_together_are_refused",
        "test_configuring_nothing_is_refused",
        "test_incomplete_or_bad_producer_headers_are_a_400",
        "test_names_are_decoded_alike",
        "test_names_that_are_too_long_are_refused_alike",
        "test_settings_out_of_range_are_a_422",
        "test_the_first_known_subprotocol_offered_is_spoken",
        "test_too_many_commands_or_arguments_are_a_413",
        "test_too_many_entries_at_once_are_a_413",
        "test_unknown_subprotocols_and_pages_of_other_origins_are_refused_with_a_problem",
        "test_waiting_needs_a_position_and_a_position_excludes_bounds",
        "test_what_cannot_be_answered_closes_with_the_right_code",
        "test_what_decompresses_without_bound_is_a_413",
        "test_what_does_not_decompress_is_a_400",
    }
)
"""Tests whose responses the gateway decides before it asks the store: with one store in `make test`."""
