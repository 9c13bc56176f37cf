"""The pipeline on a real server, whose clock the tests move: no test sleeps."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from orders.dead_letters import letters, redrive
from orders.order import Order
from orders.steps import DELIVERIES_MAX, LEASE_MS, MAIL, PACKING, PAYMENT, STEPS, Step, Work, place, prepare
from orders.worker import worker
from tailrace.testing import TestServer
from tailrace_client import Tailrace

BICYCLE = Order("1001", "Ann", "bicycle", 49_900)
BELL = Order("1002", "Bob", "bell", 1_200)
A_READ_MS = 1_000
"""How long one read of a worker waits."""


class Desk:
    """The work of one step. It notes the orders, and raises while it is `closed` for a customer."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.tries = 0
        self.closed: set[str] = set()

    def __call__(self, order: Order) -> None:
        self.tries += 1
        if order.customer in self.closed:
            raise RuntimeError("the bank does not answer")
        self.done.append(order.number)


@pytest.fixture
def client(tailrace: TestServer) -> Iterator[Tailrace]:
    with tailrace.client() as opened:
        prepare(opened)
        yield opened


def work_off(tailrace: TestServer, client: Tailrace, step: Step, work: Work, name: str = "alice") -> None:
    """Let one worker process everything that its step can read now."""
    consumer, handle = worker(client, step, name, work)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(consumer.run, handle)
        tailrace.until_waiting()
        consumer.stop()
        tailrace.clock.advance(A_READ_MS)
        running.result(30)


def pending(client: Tailrace, step: Step) -> int:
    return client.stream(step.source).group(step.name).pending_summary().count


def test_an_order_is_paid_packed_and_mailed(tailrace: TestServer, client: Tailrace) -> None:
    place(client, BICYCLE)
    place(client, BELL)
    for step in STEPS:
        desk = Desk()
        work_off(tailrace, client, step, desk)
        assert desk.done == ["1001", "1002"]
        assert pending(client, step) == 0


def test_an_order_that_is_placed_twice_is_one_order(client: Tailrace) -> None:
    assert place(client, BICYCLE) == place(client, BICYCLE)
    assert client.stream(PAYMENT.source).length() == 1


def test_another_worker_takes_over_from_one_that_was_killed(tailrace: TestServer, client: Tailrace) -> None:
    place(client, BICYCLE)
    (taken,) = client.stream(PAYMENT.source).group(PAYMENT.name).read("killed")
    desk = Desk()
    work_off(tailrace, client, PAYMENT, desk, "bob")
    assert desk.done == []
    tailrace.clock.advance(LEASE_MS)
    work_off(tailrace, client, PAYMENT, desk, "bob")
    assert desk.done == ["1001"]
    assert taken.deliveries == 0


def test_a_worker_that_is_killed_before_its_acknowledgment_passes_no_order_on_twice(
    tailrace: TestServer, client: Tailrace
) -> None:
    place(client, BICYCLE)
    client.stream(PAYMENT.source).group(PAYMENT.name).read("killed")
    client.stream("orders:paid").append(
        BICYCLE.to_fields(), idempotency_key=BICYCLE.number, producer_id=PAYMENT.name
    )
    tailrace.clock.advance(LEASE_MS)
    work_off(tailrace, client, PAYMENT, Desk())
    assert client.stream("orders:paid").length() == 1
    assert pending(client, PAYMENT) == 0


def test_an_order_that_fails_three_times_is_a_dead_letter_and_stops_no_other(
    tailrace: TestServer, client: Tailrace
) -> None:
    place(client, BICYCLE)
    place(client, BELL)
    bank = Desk()
    bank.closed.add("Ann")
    for _ in range(DELIVERIES_MAX + 1):
        work_off(tailrace, client, PAYMENT, bank)
        tailrace.clock.advance(LEASE_MS)
    assert (bank.done, bank.tries) == (["1002"], DELIVERIES_MAX + 1)
    (letter,) = letters(client, PAYMENT)
    assert (letter["number"], letter["_reason"]) == ("1001", "max_deliveries")
    assert letter["_deliveries"] == str(DELIVERIES_MAX)
    assert pending(client, PAYMENT) == 0


def test_redriven_orders_go_the_whole_way(tailrace: TestServer, client: Tailrace) -> None:
    place(client, BICYCLE)
    bank = Desk()
    bank.closed.add("Ann")
    for _ in range(DELIVERIES_MAX + 1):
        work_off(tailrace, client, PAYMENT, bank)
        tailrace.clock.advance(LEASE_MS)
    bank.closed.clear()
    assert redrive(client, PAYMENT) == 1
    assert redrive(client, PAYMENT) == 0
    mail = Desk()
    for step, work in ((PAYMENT, bank), (PACKING, Desk()), (MAIL, mail)):
        work_off(tailrace, client, step, work)
    assert mail.done == ["1001"]
    assert letters(client, PAYMENT) == []


@pytest.mark.parametrize("fields", [{"number": "1003"}, {**BELL.to_fields(), "cents": "a few"}])
def test_an_entry_that_is_no_order_is_a_dead_letter_at_once(
    tailrace: TestServer, client: Tailrace, fields: dict[str, str]
) -> None:
    client.stream(PAYMENT.source).append(fields)
    bank = Desk()
    work_off(tailrace, client, PAYMENT, bank)
    (letter,) = letters(client, PAYMENT)
    assert (letter["_reason"], bank.tries) == ("fatal", 0)
