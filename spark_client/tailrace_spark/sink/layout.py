"""The layout of a batch: a text that says how the batch is cut into partitions and chunks.

The sink and the data source send the layout with every chunk (`Producer-Layout`). The server pins it with the
first chunk of a batch and refuses a replay that has another layout. This module asks neither Spark nor the
server.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.sink.options import SinkOptions

DIGEST_BYTES: Final = 6


def layout_of(options: SinkOptions, order: str, schema: T.StructType, partitions: int | None = None) -> str:
    """Return the layout of a batch. `partitions` is None if the writer cannot know the number of
    partitions."""
    columns = ",".join(f"{field.name}:{field.dataType.simpleString()}" for field in schema)
    counted = "" if partitions is None else f"{partitions} partitions; "
    return (
        f"{counted}chunks of {options.chunk_rows} rows, {options.chunk_bytes} bytes; order {_ascii(order)}; "
        f"compression {options.compression}; columns {short_digest(columns)}"
    )


_RUN: Final = "; run "


def with_run(layout: str, run: str) -> str:
    """Return the layout with the run of the query that begins the batch, if a run is given."""
    return f"{layout}{_RUN}{run}" if run else layout


def without_run(pinned: str) -> str:
    """Return the layout without a run: the inverse of `with_run`."""
    return pinned.partition(_RUN)[0]


def short_digest(text: str) -> str:
    """A digest of `text` that is short enough for a header: twelve hexadecimal digits."""
    return blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


def _ascii(text: str) -> str:
    """`text` as a header can carry it: other characters become escapes."""
    return text.encode("ascii", "backslashreplace").decode()
