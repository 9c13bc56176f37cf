"""What an operator does with orders that failed: list them, and send them back."""

from __future__ import annotations

from orders.steps import Step
from tailrace_client import Tailrace


def letters(client: Tailrace, step: Step) -> list[dict[str, str]]:
    """Return the fields of all dead letters of the step. `_reason` and `_deliveries` say why they failed."""
    return [fields for _, fields in client.stream(step.dead_letters).read()]


def redrive(client: Tailrace, step: Step) -> int:
    """Send all dead letters of the step back to its stream, each once, and return how many there were.

    Orders that fail again meanwhile are not sent back a second time.
    """
    group = client.stream(step.source).group(step.name)
    count, start = 0, "-"
    while True:
        reply = group.redrive(start=start)
        count += len(reply.redriven)
        if reply.next_ is None:
            return count
        start = reply.next_
