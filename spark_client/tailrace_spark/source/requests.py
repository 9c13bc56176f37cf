"""What the requests of the data source share: the client, retries until the deadline, and the errors that
say what is wrong and what to do.

This module sends nothing by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from tailrace_client import RetryPolicy, Tailrace, TailraceError
from tailrace_spark.errors import DataLoss, SourceError, with_status
from tailrace_spark.source.options import ReadOptions

T = TypeVar("T")


class Requests:
    """Requests to the server of the options. The first request connects to the server."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.where = repr(options)

    def send(self, question: Callable[[Tailrace], T]) -> T:
        """Return the answer. Raises `SourceError` if the server refuses, or at the deadline."""
        try:
            return question(self.client())
        except TailraceError as error:
            raise source_error(error, self.where) from error

    def client(self) -> Tailrace:
        """Return a client on the machine that uses it: the token is read there, and clients cannot be
        serialised."""
        deadline_s = self.options.retry_deadline_s
        return self.options.endpoint.client(
            retry=RetryPolicy(deadline_s=deadline_s, first_connection_s=deadline_s)
        )


# --- errors ----------------------------------------------------------------------------------------------


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
        first_id, last_id = (error.problem.get(name) for name in ("first_id", "last_id"))
        now = f"begins at {first_id}" if first_id else f"ends at {last_id}"
        return data_loss(f"entries were trimmed before they were read; the stream {now} now", where)
    if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return SourceError(
            f"{where}: {with_status(error)}: check that the token is valid and may read this stream"
        )
    return SourceError(f"{where}: {with_status(error)}")
