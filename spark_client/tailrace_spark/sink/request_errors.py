"""Convert errors of the server to a `SinkError` whose text says what is wrong and what to do.

The callers name the request that failed.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from tailrace_client import TailraceError
from tailrace_spark.errors import SinkError, with_status

TWO_WRITES: Final = "If two writes of one batch go to this stream, give each of them its own `producer_id`."


def sink_error(error: TailraceError, where: str, layout: str) -> SinkError:
    """Return the `SinkError` for a failed request. `where` names the request, `layout` is the layout of the
    batch."""
    if error.code == "LAYOUT_CHANGED":
        return SinkError(
            f"LAYOUT_CHANGED: {where}: the first attempt of this batch was cut as "
            f"[{error.problem.get('layout')}], this attempt is cut as [{layout}]. The server cannot "
            f"tell which of these rows are written already. Nothing was written twice. {TWO_WRITES} "
            "Otherwise start the query as it was, with the same number of partitions, the same chunk sizes "
            "and columns; the option `partitions` fixes the partitions on every cluster."
        )
    if error.code == "IDEMPOTENCY_MISMATCH":
        return SinkError(
            f"IDEMPOTENCY_MISMATCH: {where}: a chunk of this batch was already written with other rows. "
            f"Nothing was written twice. {TWO_WRITES} Otherwise the query must return the same rows in the "
            "same order each time. Look for rand(), uuid(), or a source or join whose rows arrive in another "
            "order (see the options `order` and `partitions`)."
        )
    if error.code == "STALE_EPOCH":
        return SinkError(
            f"STALE_EPOCH: {where}: a later batch of this query was already started. Nothing was "
            "written. Check "
            "whether a second run of the query, or a run from an older checkpoint, writes to this stream."
        )
    if error.code == "ID_NOT_GREATER":
        return SinkError(
            f"keep_ids: {where}: the stream already ends at {error.problem.get('last_id')}, and the row has "
            f"the id {error.problem.get('given')}. Nothing was written twice. To keep ids, write each stream "
            "from one query only, from its lowest id on, or leave keep_ids out to get new ids."
        )
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SinkError(
            f"{with_status(error)}: {where}: check that the token is valid and may append to this stream"
        )
    return SinkError(f"{with_status(error)}: {where}")
