"""Our side of `bench.engine`: calls a second of the engine in this process, as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import StreamId

PENDING: Final = 20_000
CALLS: Final = 10_000
NOW_MS: Final = 1_700_000_000_000

engine: Final = Engine()


def execute(command: c.Command, now_ms: int = NOW_MS) -> Any:
    """Return the reply to one command."""
    return engine.execute(command, now_ms).reply


def rate(call: Callable[[int], object]) -> float:
    """Calls a second."""
    started = time.process_time()
    for number in range(CALLS):
        call(number)
    return CALLS / (time.process_time() - started)


def xadd(key: bytes, number: int) -> None:
    """Append one entry."""
    assert execute(c.Append(key, (fragment_from_flat((b"field", b"value%d" % number)),))).ids


def read_group(
    consumer: bytes, count: int, now_ms: int = NOW_MS, claim_min_idle_ms: int | None = None
) -> list[StreamId]:
    """Return the ids that a consumer gets."""
    source = c.ReadFrom(b"s", c.Special.NEW)
    limits = c.ReadLimits(count=count)
    read = c.ReadGroup(b"g", consumer, (source,), limits, claim_min_idle_ms=claim_min_idle_ms)
    reply = execute(read, now_ms)
    assert isinstance(reply, ReadReply)
    return list(reply.streams[0].entries.ids)


def main() -> None:
    """Create the stream, measure, and print."""
    for number in range(PENDING):
        xadd(b"s", number)
    execute(c.CreateGroup(b"s", b"g", 0))
    ids = read_group(b"c", PENDING)
    assert len(ids) == PENDING

    def add_one(number: int) -> None:
        xadd(b"added", number)

    def claim_one(number: int) -> None:
        assert read_group(b"d", 1, NOW_MS + 1 + number, claim_min_idle_ms=0) == [ids[number]]

    def ack_one(number: int) -> None:
        assert execute(c.Acknowledge(b"s", b"g", (ids[number],))) == 1

    print(json.dumps({"XADD": rate(add_one), "CLAIM": rate(claim_one), "XACK": rate(ack_one)}))


if __name__ == "__main__":
    main()
