"""What reading raises, in sentences that say what to do."""

from __future__ import annotations

from http import HTTPStatus

from tailrace_client import TailraceError
from tailrace_spark.errors import DataLoss, SourceError


def data_loss(what: str, where: str) -> DataLoss:
    """Entries are gone; `what` says which."""
    return DataLoss(
        f"{where}: {what}. With failOnDataLoss set to false the query goes on with what is left; without it, "
        "begin anew: a new checkpoint, and startingOffsets of your choice"
    )


def source_error(error: TailraceError, where: str) -> SourceError:
    """`error` as the writer of a query needs to read it. `where` names the stream and the server."""
    if error.code == "NO_SUCH_STREAM":
        return SourceError(
            f"{where}: there is no such stream. Is the name right? A stream can be created empty"
        )
    if error.code == "POSITION_TRIMMED":
        return data_loss(f"entries were trimmed away before they were read ({error.detail})", where)
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SourceError(
            f"{where}: {error} (HTTP {error.status}): is the token right, and may it read there?"
        )
    return SourceError(f"{where}: {error} (HTTP {error.status or 'unanswered'})")
