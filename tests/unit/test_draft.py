"""What the next checkpoint stores, if a stream is gathered more than once before it."""

from __future__ import annotations

from tailrace.core.engine import Engine
from tailrace.core.parser import parse_request
from tailrace.core.storage.draft import Draft, stream_rows

NOW_MS = 1_700_000_000_000


def run(engine: Engine, line: str) -> None:
    command = parse_request([word.encode() for word in line.split()]).command
    assert command is not None
    engine.execute(command, NOW_MS)


def test_a_block_that_changes_after_it_was_gathered_keeps_its_payload() -> None:
    engine, draft = Engine(), Draft()
    for number in range(1, 1_001):
        run(engine, f"XADD s {number}-1 field {'value' * 20}")
    draft.add(engine.keyspace, b"s")
    before = {row.first_id: row for row in draft.snapshot(engine.keyspace, 1, ()).blocks}
    assert len(before) > 1
    run(engine, "XDEL s 2-1")
    draft.add(engine.keyspace, b"s")
    after = draft.snapshot(engine.keyspace, 2, stream_rows(engine.keyspace, [b"s"])).blocks
    assert {row.first_id for row in after} == set(before)
    assert all(row.payload == before[row.first_id].payload for row in after)
    assert [row.first_id for row in after if row.head != before[row.first_id].head] == [after[0].first_id]


def test_a_block_of_a_copy_that_changes_keeps_the_places_of_its_payload() -> None:
    engine, draft = Engine(), Draft()
    for number in range(1, 1_001):
        run(engine, f"XADD s {number}-1 field {'value' * 20}")
    draft.add(engine.keyspace, b"s")
    stream = engine.keyspace.streams[b"s"]
    stored = {block.first_id: block.payload() for block in stream.log.blocks[:-1]}
    for block in stream.log.blocks[:-1]:
        block.release(lambda block: stored[block.first_id], (stream.serial,))
    run(engine, "COPY s t")
    draft.add(engine.keyspace, b"t")
    run(engine, "XDEL t 2-1")
    before = draft.snapshot(engine.keyspace, 1, ()).blocks
    draft.add(engine.keyspace, b"t")
    after = draft.snapshot(engine.keyspace, 2, ()).blocks
    assert [row.elsewhere for row in after] == [row.elsewhere for row in before]
