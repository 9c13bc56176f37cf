"""The steps of the pipeline: which stream each one reads, and which stream it appends to.

The streams and groups are here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from orders.order import Order
from tailrace_client import Tailrace

DELIVERIES_MAX: Final = 3
"""How often an order is tried before it becomes a dead letter."""

LEASE_MS: Final = 60_000
"""After this time, another worker takes over the order of a worker that was killed."""

A_DAY_S: Final = 24 * 60 * 60

Work = Callable[[Order], None]


@dataclass(frozen=True)
class Step:
    """One step. `target` is the stream of its results; None: it is the last step."""

    name: str
    source: str
    target: str | None

    @property
    def dead_letters(self) -> str:
        """The stream of the orders that this step could not process."""
        return f"{self.source}:dead"


PAYMENT: Final = Step("payment", "orders", "orders:paid")
PACKING: Final = Step("packing", "orders:paid", "orders:packed")
MAIL: Final = Step("mail", "orders:packed", None)
STEPS: Final = (PAYMENT, PACKING, MAIL)


def prepare(client: Tailrace) -> None:
    """Create the streams and groups with their settings. Safe to repeat: every process calls it first."""
    for step in STEPS:
        stream = client.stream(step.source)
        group = stream.group(step.name)
        group.create("0", create_stream=True, exist_ok=True)
        group.configure(max_deliveries=DELIVERIES_MAX, dead_letter_stream=step.dead_letters)
        # The server remembers the numbers of the last 10 000 orders for a day: no step appends one twice.
        stream.configure(idmp_duration_s=A_DAY_S, idmp_maxsize=10_000)


def place(client: Tailrace, order: Order) -> str:
    """Append a new order and return the id of its entry. Placing it again appends nothing."""
    return client.stream(PAYMENT.source).append(
        order.to_fields(), idempotency_key=order.number, producer_id="shop"
    )
