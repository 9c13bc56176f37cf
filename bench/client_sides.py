"""The two Python clients that `bench.clients` compares, each with the same four operations.

Owns how each client does an operation with its ordinary methods; never measures anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import redis

from tailrace_client import Tailrace

CHUNK: Final = 1_000
"""How many entries one request appends, reads or acknowledges."""

GROUP: Final = "judges"

Fields = dict[str, str]


class RedisSide:
    """redis-py with hiredis."""

    def __init__(self, port: int, entries: Sequence[Fields]) -> None:
        # `Any`, because redis-py's types do not cover decoded replies.
        self._client: Any = redis.Redis(port=port, decode_responses=True)
        self.append(entries, "range")

    def append(self, entries: Sequence[Fields], key: str = "bulk") -> int:
        """Append all entries in requests of `CHUNK`, and return how many the server acknowledged."""
        count = 0
        for start in range(0, len(entries), CHUNK):
            pipeline = self._client.pipeline(transaction=False)
            for each in entries[start : start + CHUNK]:
                pipeline.xadd(key, each)
            count += len(pipeline.execute())
        return count

    def read(self, key: str) -> list[tuple[str, Fields]]:
        """Return all entries of a stream."""
        return list(self._client.xrange(key))

    def consume(self, rounds: int) -> int:
        """Read and acknowledge `CHUNK` entries a round, and return how many were acknowledged."""
        count = 0
        for _ in range(rounds):
            count += self._client.xack("range", GROUP, *[entry_id for entry_id, _fields in self._given()])
        return count

    def given(self, rounds: int) -> list[Fields]:
        """Return the fields that the group reads, `CHUNK` entries a round."""
        return [fields for _ in range(rounds) for _id, fields in self._given()]

    def _given(self) -> list[tuple[str, Fields]]:
        [(_key, entries)] = self._client.xreadgroup(GROUP, "alice", {"range": ">"}, count=CHUNK)
        found: list[tuple[str, Fields]] = entries
        return found

    def drop(self) -> None:
        """Delete the stream of the appends."""
        self._client.delete("bulk")

    def rewind(self) -> None:
        """Move the group to the beginning of its stream."""
        self._client.xgroup_destroy("range", GROUP)
        self._client.xgroup_create("range", GROUP, "0")


class TailraceSide:
    """The Python client of Tailrace."""

    def __init__(self, url: str, entries: Sequence[Fields]) -> None:
        self._client = Tailrace(url)
        self._bulk = self._client.stream("bulk")
        self._range = self._client.stream("range")
        self._group = self._range.group(GROUP)
        self._range.append_many(entries)
        self._group.create("0")

    def append(self, entries: Sequence[Fields]) -> int:
        """Append all entries in requests of `CHUNK`, and return how many the server acknowledged."""
        return self._bulk.append_many(entries, chunk=CHUNK)

    def read(self, key: str) -> list[tuple[str, Fields]]:
        """Return all entries of a stream."""
        return list(self._client.stream(key).read())

    def consume(self, rounds: int) -> int:
        """Read and acknowledge `CHUNK` entries a round, and return how many were acknowledged."""
        count = 0
        for _ in range(rounds):
            entries = self._group.read("alice", CHUNK)
            count += self._group.ack(*[entry.id for entry in entries])
        return count

    def given(self, rounds: int) -> list[Fields | None]:
        """Return the fields that the group reads, `CHUNK` entries a round."""
        return [entry.fields for _ in range(rounds) for entry in self._group.read("alice", CHUNK)]

    def drop(self) -> None:
        """Delete the stream of the appends."""
        self._bulk.create()
        self._bulk.delete()

    def rewind(self) -> None:
        """Move the group to the beginning of its stream."""
        self._group.destroy()
        self._group.create("0")


Side: TypeAlias = RedisSide | TailraceSide
