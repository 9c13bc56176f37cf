"""The rule that an archive belongs to one incarnation of its stream.

The server gives a stream a new incarnation when the stream is deleted and created again, and gives every
stream a new one when a backup is restored. Ids are times, so such a stream looks like a continuation of the
earlier one, but entries are missing between the two. The manifests keep the incarnation, and a change is
`DataLoss`. Manifests of earlier releases have none: for them, a stream that ends below its archive was
created again.

This module owns the rule and its texts. It sends no requests.
"""

from __future__ import annotations

from tailrace_client.replies import StreamState
from tailrace_spark.archive.files import Manifest
from tailrace_spark.entry_ids import later
from tailrace_spark.errors import DataLoss


def incarnation_of(state: StreamState) -> str | None:
    """Return the incarnation of a stream; None from a server that reports none."""
    return state.incarnation or None


def continues(last: Manifest, state: StreamState) -> bool:
    """Return whether the stream is the one that the archive ends with."""
    found = incarnation_of(state)
    if last.incarnation is None or found is None:
        return later(state.last_id, last.end) == state.last_id
    return found == last.incarnation


def recreated(where: str, path: str, done: str) -> DataLoss:
    """Return the error for a stream that is another one than that of the archive at `path`. `done`: what was
    not done, a sentence."""
    return DataLoss(
        f"{where}: the stream was deleted and created again, or restored from a backup, after {path} was "
        f"written. {done} Archive the new stream to another path. To add it to this archive instead, from "
        "its first entry on, set failOnDataLoss to false"
    )
