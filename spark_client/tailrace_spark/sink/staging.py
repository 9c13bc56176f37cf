"""Keep the chunks of a batch where no reader of the stream sees them, until the driver has committed the
batch.

Each producer has two streams of its own next to the stream that it writes to (`Places`):

    readings:staged:<digest>          the chunks: an entry contains one chunk, compressed, or a piece of one
    readings:staged:<digest>:commit   the state of the newest batch: one entry, replaced by compare and set

A task attempt stages its chunks and returns where they are (`Chunk`). So an attempt that is retried, runs
twice or never returns leaves chunks that no manifest names. The commit of a batch removes them (`commit`).

This module runs in tasks and on the driver. It decides neither which attempts count nor when chunks go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

import pyarrow as pa

from tailrace_client import Tailrace, TailraceError
from tailrace_client.fields import ExactFields
from tailrace_spark.errors import SinkError, with_status
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.sender import Encoding, Sender

DIGEST_BYTES: Final = 16
PIECE_BYTES: Final = 8 << 20
"""A chunk that is larger after its compression is staged in several entries: an entry has 16 MiB at most."""

STAGED: Final = re.compile(r":staged:[0-9a-f]{32}(:commit)?$")
"""The end of the names of all staging streams."""

_BODY: Final = "chunk"


class Places(NamedTuple):
    """The names of the two streams of a producer: for its chunks, and for the state of its newest batch."""

    chunks: str
    commit: str


def places_of(stream: str | None, producer_id: str) -> Places:
    """Return the names. `stream`: None if each row names its stream."""
    digest = blake2b(producer_id.encode(), digest_size=DIGEST_BYTES).hexdigest()
    chunks = f"{stream or 'tailrace'}:staged:{digest}"
    return Places(chunks, f"{chunks}:commit")


class Chunk(NamedTuple):
    """A staged chunk. `key`: the idempotency key with which it is published. `stream`: the stream to publish
    it to. `ids`: the entries that contain it, in order."""

    key: str
    stream: str
    rows: int
    ids: list[str]


def encoding_of(options: SinkOptions) -> Encoding:
    """Return the compression of staged chunks, which is also the encoding of the request that publishes
    one."""
    return "gzip" if options.compression == "gzip" else "zstd"


@dataclass(slots=True)
class Stager:
    """Stages the chunks of one partition. `staged`: the chunks so far."""

    sender: Sender
    places: Places
    encoding: Encoding
    staged: list[Chunk]

    def write(self, stream: str, key: str, body: bytes, rows: int) -> None:
        """Stage a chunk. Raises `SinkError`. If the response is lost, the chunk is staged twice, and only the
        second one counts."""
        packed = pa.Codec(self.encoding).compress(body, asbytes=True)
        pieces = (packed[start : start + PIECE_BYTES] for start in range(0, len(packed), PIECE_BYTES))
        self.staged.append(Chunk(key, stream, rows, [self._stage(key, piece) for piece in pieces]))

    def _stage(self, key: str, piece: bytes) -> str:
        place = self.places.chunks
        try:
            return self.sender.repeat(
                place, f"chunk {key}", lambda client: client.stream(place).append({_BODY: piece})
            )
        except TailraceError as error:  # The server refuses the entry itself.
            raise SinkError(f"{with_status(error)}: stream {place!r}, chunk {key}") from error


def staged_body(client: Tailrace, place: str, chunk: Chunk) -> bytes | None:
    """Return the compressed body of a chunk; None if it is not there any more."""
    pieces = []
    for entry_id in chunk.ids:
        found = client.stream(place).get(entry_id)
        if found is None:
            return None
        # The last piece of a chunk may be short, and valid UTF-8 by chance.
        pieces.append(found.pairs[0][1] if isinstance(found, ExactFields) else found[_BODY].encode())
    return b"".join(pieces)
