"""Convert errors of the server to a `SinkError` whose text says what is wrong and what to do.

The callers name the request that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from tailrace_client import TailraceError
from tailrace_spark.errors import SinkError, with_status


def sink_error(error: TailraceError, where: str, layout: str) -> SinkError:
    """Return the `SinkError` for a failed request. `where` names the request, `layout` is the layout of the
    batch."""
    if error.code == "LAYOUT_CHANGED":
        return SinkError(
            f"LAYOUT_CHANGED: {where}: this batch was begun as [{error.problem.get('layout')}], and this "
            f"attempt writes it as [{layout}]. This request wrote no rows. Use the settings with which the "
            "batch was begun. If they are the same, the stream that keeps the commits of this query was "
            "deleted, or two writes share one `producer_id`."
        )
    if error.code == "IDEMPOTENCY_MISMATCH":
        return SinkError(
            f"IDEMPOTENCY_MISMATCH: {where}: a chunk of this batch was already written with other rows. This "
            "request wrote no rows, but rows of other chunks may be written twice: with commit='chunk', the "
            "query must return the same rows in the same partitions and in the same order each time. Find "
            "these rows, and use commit='batch'."
        )
    if error.code == "STALE_EPOCH":
        return SinkError(
            f"STALE_EPOCH: {where}: a later batch of this query was already started. This request wrote no "
            "rows. Check whether a second run of the query, or a run from an older checkpoint, writes to "
            "this stream."
        )
    if error.code == "ID_NOT_GREATER":
        return SinkError(
            f"keep_ids: {where}: the stream already ends at {error.problem.get('last_id')}, and the row has "
            f"the id {error.problem.get('given')}. This request wrote no rows. To keep ids, write each "
            "stream from one query only, from its lowest id on, or leave keep_ids out to get new ids."
        )
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SinkError(
            f"{with_status(error)}: {where}: check that the token is valid, and may append to this stream "
            "and read it; docs/spark.md says which streams a sink uses"
        )
    return SinkError(f"{with_status(error)}: {where}")


# --- commits -------------------------------------------------------------------------------------------


def stale_batch(where: str, newest: str) -> SinkError:
    """Return the error of a run whose batch is older than the newest one of the query."""
    return SinkError(
        f"STALE_EPOCH: {where}: a later batch ({newest}) of this query was already started. This run wrote "
        "no rows. Check whether a second run of the query, or a run from an older checkpoint, writes to this "
        "stream."
    )


def batch_of_another_query(where: str, query: str) -> SinkError:
    """Return the error of a run that finds its batch committed by a query that has the same producer."""
    return SinkError(
        f"producer_id: {where}: a batch with this number was already written by another query "
        f"({query or 'outside a streaming query'}). This run wrote no rows. Give each query, and each new "
        "checkpoint, its own producer_id."
    )


def taken_over(where: str) -> SinkError:
    """Return the error of a run that lost its batch to another run before the commit."""
    return SinkError(
        f"TAKEN_OVER: {where}: another run of this query began the same batch. This run wrote no rows to the "
        "stream. Stop the other run, and start this one again."
    )


def chunk_gone(where: str, place: str, rows: int, ids: Sequence[str]) -> SinkError:
    """Return the error of a committed batch that cannot be published, because a staged chunk is missing."""
    return SinkError(
        f"CHUNK_GONE: {where}: the batch is committed, and {rows} of its rows are not published and gone: "
        f"the entries {', '.join(ids)} are missing in the stream {place!r}. Was it deleted or trimmed, or a "
        "backup restored? docs/spark.md says how to continue without these rows."
    )
