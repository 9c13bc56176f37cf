"""The tests of `tests/contract/test_leases.py` against each engine: leases, and reads that gather entries."""

from tests.contract.test_dead_letters import client, socket  # noqa: F401 - fixtures
from tests.contract.test_leases import (  # noqa: F401
    test_a_group_read_that_waits_in_vain_says_where_the_group_is,
    test_a_heartbeat_names_what_the_consumer_lost,
    test_a_push_of_a_claimed_entry_says_where_the_group_is,
    test_a_read_gathers_what_arrives_while_it_lingers,
    test_a_read_of_several_streams_returns_when_the_first_one_has_enough,
    test_a_setting_applies_to_readers_that_wait_already,
    test_a_subscription_gets_an_entry_that_comes_due,
    test_a_tail_gets_an_entry_that_comes_due,
    test_a_waiting_read_gets_an_entry_that_comes_due,
    test_bounds_that_do_not_fit_together_are_refused,
)
from tests.remote.contract.addresses import key, server  # noqa: F401 - those of a gateway
