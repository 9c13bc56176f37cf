"""A worker: reads the orders of one step, does the work, and passes each order to the next step."""

from __future__ import annotations

from collections.abc import Callable

from orders.order import BadOrder, Order
from orders.steps import LEASE_MS, Step, Work
from tailrace_client import Consumer, Item, Tailrace


def worker(client: Tailrace, step: Step, name: str, work: Work) -> tuple[Consumer, Callable[[Item], None]]:
    """Return a consumer with the name `name`, and its handler: call `consumer.run(handler)`.

    If `work` raises, the order stays pending. The next worker that reads gets it when it has been idle for
    `LEASE_MS`, until its group has delivered it `DELIVERIES_MAX` times: then the server moves it to the
    dead letters of the step.
    """
    stream = client.stream(step.source)
    consumer = Consumer(client, step.source, step.name, name, claim_min_idle_ms=LEASE_MS, create_group=False)

    def handle(item: Item) -> None:
        try:
            order = Order.from_fields(item.fields)
        except BadOrder:
            # A fatal nack makes the entry a dead letter at once.
            stream.group(step.name).nack(item.id, mode="fatal")
            return
        work(order)
        if step.target is not None:
            # If this worker is killed before it acknowledges the order, another worker does the same again.
            # The number of the order is the idempotency key, so the order is appended once.
            client.stream(step.target).append(
                order.to_fields(), idempotency_key=order.number, producer_id=step.name
            )

    return consumer, handle
