"""What the sink raises, in sentences that say what to do. Which request failed, and when, its callers
know."""

from __future__ import annotations

from http import HTTPStatus

from tailrace_client import TailraceError
from tailrace_spark.errors import SinkError


def sink_error(error: TailraceError, where: str, layout: str) -> SinkError:
    """`error` as the writer of a query needs to read it. `where` names the request, `layout` says how the
    batch is cut up."""
    if error.code == "LAYOUT_CHANGED":
        return SinkError(
            f"LAYOUT_CHANGED: {where}: this batch was begun cut up as [{error.problem.get('layout')}] and is "
            f"now cut up as [{layout}], so that rows which are written already could not be told from those "
            "which are not. Nothing was written twice. Start the query as it was, with the same number of "
            "partitions, the same chunks and columns; the option `partitions` fixes them on every cluster."
        )
    if error.code == "IDEMPOTENCY_MISMATCH":
        return SinkError(
            f"IDEMPOTENCY_MISMATCH: {where}: a chunk of this batch was written with other rows before. The "
            "query does not give the same rows in the same order each time: rand(), uuid(), or a source or a "
            "join whose rows come in another order (see `order` and `partitions`). Nothing was written twice."
        )
    if error.code == "STALE_EPOCH":
        return SinkError(
            f"STALE_EPOCH: {where}: a later batch of this query was begun already. Does a second run of it, "
            "or one that was started from an older checkpoint, write here too? Nothing was written."
        )
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SinkError(
            f"{error} (HTTP {error.status}): {where}: is the token right, and may it append there?"
        )
    return SinkError(f"{error} (HTTP {error.status or 'unanswered'}): {where}")
