"""What the transaction of a checkpoint writes for many streams: few statements, in order of the tables."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.storage.checkpoint import publish, take
from tailrace.core.storage.publishing import ROWS_PER_STATEMENT
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect
from tests.support.engine_calls import FRAGMENT
from tests.unit.test_many_ids import command

STREAMS: Final = 2 * ROWS_PER_STATEMENT + 50


def test_a_checkpoint_writes_streams_and_groups_in_the_order_of_their_tables(tmp_path: Path) -> None:
    engine = Engine()
    for number in range(STREAMS):
        engine.execute(c.Append(b"%d" % number, [FRAGMENT]), 1)
        for group in (b"h", b"g"):
            engine.execute(command("XGROUP", "CREATE", number, group, "0"), 2)
    keys = list(engine.keyspace.streams)
    Random(1).shuffle(keys)
    written: list[str] = []
    with closing(connect(tmp_path)) as connection:
        for _ in range(2):
            written.clear()
            snapshot = take(engine.keyspace, 0, keys)
            connection.set_trace_callback(written.append)
            publish(connection, snapshot)
            connection.set_trace_callback(None)
        recovered = recover(connection, connection).keyspace
    assert list(recovered.streams) == list(engine.keyspace.streams)
    assert all(list(stream.groups) == [b"g", b"h"] for stream in recovered.streams.values())
    states = [each for each in written if each.startswith("INSERT OR REPLACE INTO streams")]
    serials = [int(number) for each in states for number in re.findall(r"\((\d+), ", each)]
    assert serials == list(range(1, STREAMS + 1))
    assert len(states) == STREAMS // ROWS_PER_STATEMENT + 1
