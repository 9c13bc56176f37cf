"""Convert errors of the server to a `SourceError` whose text says what is wrong and what to do."""

from __future__ import annotations

from http import HTTPStatus

from tailrace_client import TailraceError
from tailrace_spark.errors import DataLoss, SourceError, with_status


def data_loss(what: str, where: str) -> DataLoss:
    """Return the error for entries that are gone; `what` says which."""
    return DataLoss(
        f"{where}: {what}. To continue with the entries that are left, set failOnDataLoss to false. To start "
        "again, use a new checkpoint and choose startingOffsets"
    )


def no_such_stream(where: str) -> SourceError:
    """Return the error for a stream that does not exist."""
    return SourceError(
        f"{where}: there is no such stream. Check the name, or create the stream; it may be empty"
    )


def source_error(error: TailraceError, where: str) -> SourceError:
    """Return the `SourceError` for a failed request. `where` names the stream and the server."""
    if error.code == "NO_SUCH_STREAM":
        return no_such_stream(where)
    if error.code == "POSITION_TRIMMED":
        begins = error.problem.get("first_id")
        return data_loss(
            f"entries were trimmed before they were read; the stream begins at {begins} now", where
        )
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SourceError(
            f"{where}: {with_status(error)}: check that the token is valid and may read this stream"
        )
    return SourceError(f"{where}: {with_status(error)}")
