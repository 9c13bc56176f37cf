"""What the requests of the data source share: the client, retries until the deadline, and plain errors.

This module sends nothing by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tailrace_client import RetryPolicy, Tailrace, TailraceError
from tailrace_spark.source.options import ReadOptions
from tailrace_spark.source.request_errors import source_error

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
