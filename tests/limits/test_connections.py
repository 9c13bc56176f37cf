"""The count of connections, and the sweep over them, without a socket."""

from __future__ import annotations

import pytest

from tailrace.api.server_limits import ServerLimits
from tailrace.app.process_tuning import BACKLOG, OPEN_FILES_MIN, OWN_FILES, REFUSED_MAX, budget_of
from tailrace.app.protocols.connections import (
    PASSED_S_MAX,
    PORTIONS,
    SWEEP_PERIOD_S,
    Connections,
    network_of,
)
from tailrace.core.limits import MIB


class Standing:
    """A connection that counts how often it is checked."""

    def __init__(self) -> None:
        self.looks = 0
        self.passed_s = 0.0

    def check_deadlines(self, passed_s: float) -> None:
        self.looks += 1
        self.passed_s += passed_s


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


def registry(clock: Clock | None = None, **limits: int) -> Connections:
    return Connections(ServerLimits(**limits), clock or Clock())


def go_round(connections: Connections, clock: Clock, rounds: int = 1) -> None:
    for _ in range(rounds * PORTIONS):
        clock.now_s += SWEEP_PERIOD_S
        connections.sweep()


def entered(connections: Connections, host: str = "192.0.2.1") -> Standing:
    connection = Standing()
    assert connections.enter(connection, host) is None
    return connection


def test_a_connection_beyond_the_bound_is_told_so_until_one_leaves() -> None:
    connections = registry(connections_max=2)
    first, _ = entered(connections), entered(connections)
    late = Standing()
    excess = connections.enter(late, "192.0.2.1")
    assert excess is not None
    assert not excess.is_mute
    assert "2 connections" in excess.detail
    assert len(connections) == 2
    connections.leave(late)
    connections.leave(first)
    entered(connections)


@pytest.mark.parametrize("open_files_max", [OPEN_FILES_MIN, 64, 100, 1024, 20_000])
def test_all_connections_together_leave_the_server_its_own_files(open_files_max: int) -> None:
    files = budget_of(open_files_max, 16_384)
    assert min(files) >= 1
    assert sum(files) + OWN_FILES <= open_files_max


def test_the_setting_holds_where_files_are_plenty() -> None:
    assert budget_of(1_048_576, 16_384) == (16_384, REFUSED_MAX, BACKLOG)
    assert budget_of(OPEN_FILES_MIN, 1).connections_max == 1


def test_fewer_are_told_where_files_are_few() -> None:
    connections = Connections(ServerLimits(connections_max=1), Clock(), refused_max=2)
    entered(connections)
    found = [connections.enter(Standing(), "192.0.2.1") for _ in range(3)]
    assert [excess and excess.is_mute for excess in found] == [False, False, True]


def test_an_address_has_a_bound_of_its_own() -> None:
    connections = registry(connections_per_peer_max=1)
    entered(connections)
    assert connections.enter(Standing(), "192.0.2.1") is not None
    entered(connections, "192.0.2.2")


def test_an_address_that_left_counts_no_more() -> None:
    connections = registry(connections_per_peer_max=1)
    connections.leave(entered(connections))
    entered(connections)


def test_who_is_refused_takes_no_place_and_only_some_of_them_are_told() -> None:
    connections = registry(connections_max=1)
    staying = entered(connections)
    told = [connections.enter(Standing(), "192.0.2.9") for _ in range(REFUSED_MAX)]
    assert all(excess and not excess.is_mute for excess in told)
    mute = connections.enter(Standing(), "192.0.2.9")
    assert mute is not None
    assert mute.is_mute
    connections.leave(staying)
    assert len(connections) == 0
    entered(connections)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1:2:3", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "", True),
    ],
)
def test_an_address_counts_as_itself_or_as_its_network(one: str, other: str, *, is_same: bool) -> None:
    assert (network_of(one) == network_of(other)) is is_same


def test_a_round_of_the_sweep_looks_at_each_connection_once() -> None:
    clock = Clock()
    connections = registry(clock)
    standing = [entered(connections) for _ in range(3 * PORTIONS + 1)]
    go_round(connections, clock, rounds=3)
    assert {connection.looks for connection in standing} <= {2, 3}
    assert all(connection.passed_s == pytest.approx(connection.looks, abs=0.2) for connection in standing)


def test_a_sweep_looks_at_no_more_than_its_portion() -> None:
    clock = Clock()
    connections = registry(clock)
    standing = [entered(connections) for _ in range(10 * PORTIONS)]
    go_round(connections, clock, rounds=2)
    before = sum(connection.looks for connection in standing)
    clock.now_s += SWEEP_PERIOD_S
    connections.sweep()
    assert 0 <= sum(connection.looks for connection in standing) - before <= 20


def test_a_server_that_stood_still_looks_at_all_and_counts_only_some_of_the_time() -> None:
    clock = Clock()
    connections = registry(clock)
    standing = [entered(connections) for _ in range(PORTIONS)]
    clock.now_s += 60
    connections.sweep()
    assert {(connection.looks, connection.passed_s) for connection in standing} == {(1, PASSED_S_MAX)}


def test_one_that_leaves_while_it_is_looked_at_disturbs_nobody() -> None:
    clock = Clock()
    connections = registry(clock)

    class Leaving(Standing):
        def check_deadlines(self, passed_s: float) -> None:
            super().check_deadlines(passed_s)
            connections.leave(self)

    leaving = [Leaving() for _ in range(3 * PORTIONS)]
    for connection in leaving:
        connections.enter(connection, "192.0.2.1")
    go_round(connections, clock, rounds=3)
    assert {connection.looks for connection in leaving} == {1}
    assert len(connections) == 0


def test_a_successor_is_looked_at_and_counted_in_the_place_of_what_it_follows() -> None:
    clock = Clock()
    connections = registry(clock, connections_max=1)
    before, after = entered(connections), Standing()
    connections.replace(before, after)
    go_round(connections, clock, rounds=2)
    assert (before.looks, len(connections)) == (0, 1)
    assert after.looks >= 1
    connections.leave(after)
    assert len(connections) == 0


def test_what_is_held_together_has_a_bound() -> None:
    connections = registry(bodies_mb=64)
    assert connections.hold(64 * MIB)
    assert not connections.hold(1)
    connections.release(2)
    assert connections.hold(2)
    assert connections.held_bytes == 64 * MIB
