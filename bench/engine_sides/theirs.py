"""The peer's side of `bench.engine`: calls a second of fakeredis, as JSON. It imports nothing of Tailrace."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import fakeredis

PENDING = 20_000


def rate(call: Callable[[int], object], calls: int) -> float:
    """Calls a second."""
    started = time.process_time()
    for number in range(calls):
        call(number)
    return calls / (time.process_time() - started)


def main() -> None:
    """Create the stream, measure, and print."""
    client = fakeredis.FakeRedis()
    for number in range(PENDING):
        client.xadd("s", {"field": f"value{number}"})
    client.xgroup_create("s", "g", "0")
    [[_, entries]] = client.xreadgroup("g", "c", {"s": ">"}, count=PENDING)
    ids = [entry_id for entry_id, _ in entries]
    assert len(ids) == PENDING
    claim = ["XREADGROUP", "GROUP", "g", "d", "COUNT", "1", "CLAIM", "0", "STREAMS", "s", ">"]

    def claim_one(_: int) -> None:
        [[_, [entry]]] = client.execute_command(*claim)
        assert entry

    def ack_one(number: int) -> None:
        assert client.xack("s", "g", ids[number]) == 1

    def add_one(number: int) -> None:
        assert client.xadd("added", {"field": f"value{number}"})

    rates = {"XADD": rate(add_one, 5000), "CLAIM": rate(claim_one, 50), "XACK": rate(ack_one, 200)}
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
