# `make sdk-python` writes this module from `asynchronous/commands.py`. Do not edit it.

"""Redis commands, reads of several streams and the state of the server, for blocking programs.

`service_calls` contains the requests. `Tailrace` inherits these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tailrace_client import entry_calls, group_calls, replies, service_calls
from tailrace_client.blocking.following import Following
from tailrace_client.entries import Slice
from tailrace_client.entry_calls import Page
from tailrace_client.errors import TailraceError
from tailrace_client.service_calls import Command, Word, first_failure
from tailrace_client.session import Session
from tailrace_client.tail import Gap, StreamEntry, StreamsTail, log_gap, positions_of
from tailrace_client.threads import opened


class Commands:
    """The methods of `Tailrace` that concern several streams or the server."""

    session: Session

    # --- Redis commands ------------------------------------------------------------------------

    def command(self, *words: Word, binary: bool = False) -> Any:
        """Run one Redis command and return its RESP2 reply: str, int, None or a list of replies.

        `binary`: return strings as bytes, which also works for values that are not UTF-8 (the status OK stays
        text). A command with BLOCK waits. Raises `TailraceError`, whose `problem["error"]` is the error line
        of Redis. A command whose response was lost is not repeated.
        """
        return self.session.send(service_calls.command(words, binary=binary))

    def pipeline(
        self, commands: Iterable[Command], *, binary: bool = False, raise_on_error: bool = True
    ) -> list[Any]:
        """Run commands in one request, one after another, and return their replies.

        All commands run, also after a failed one, and other clients' commands may run in between. Then this
        raises the `TailraceError` of the first failed command (code `COMMAND_FAILED`). With
        `raise_on_error=False` the error takes the place of the reply instead. BLOCK does not wait.
        """
        results = self.session.send(service_calls.pipeline(commands, binary=binary))
        return first_failure(results) if raise_on_error else results

    def transaction(
        self, commands: Iterable[Command], *, binary: bool = False, raise_on_error: bool = True
    ) -> list[Any]:
        """Run commands as one transaction (MULTI, EXEC) and return their replies, like `pipeline`.

        Commands of other clients run before or after it. If a command is invalid, no command runs and this
        raises `TailraceError` with the code `TRANSACTION_ABORTED`. A command that fails when it runs does not
        undo the others, as in Redis.
        """
        results = self.session.send(service_calls.transaction(commands, binary=binary))
        return first_failure(results) if raise_on_error else results

    # --- several streams -----------------------------------------------------------------------

    def streams(self, prefix: str = "", *, page: int = 1_000) -> Iterator[replies.StreamItem]:
        """Yield the key, length, last id and number of groups of each stream whose key begins with `prefix`.

        Keys are in byte order. Each request returns `page` streams, in O(log n + page). An item whose
        `encoding` is set has its key in base64, because the key is not UTF-8.
        """
        start_after: str | bytes | None = None
        while True:
            found = self.session.send(service_calls.stream_page(prefix, start_after, page))
            yield from found.streams
            start_after = service_calls.next_of(found)
            if start_after is None:
                return

    def read(
        self,
        positions: Mapping[str, str],
        *,
        count: int | None = None,
        max_count: int | None = None,
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        strict: bool = False,
    ) -> dict[str, Page]:
        """Return the entries after a position in each stream, by key: `{"race:france": "0"}` (XREAD).

        With `wait_ms` (at most 60 000), the server waits until one of the streams has entries. With
        `min_count`, it gathers that many of all streams, or what has arrived `linger_ms` after the first.
        `count`: the most entries of one stream; `max_count` and `max_bytes`: the most of all streams
        together. `strict`: raise `TailraceError` with the status 410 if entries after a position were
        trimmed. A missing stream has no entries. O(log n + entries) for each stream.
        """
        call = entry_calls.read(
            positions,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            strict=strict,
        )
        return self.session.send(call)

    def read_group(  # noqa: PLR0913 - the options of XREADGROUP
        self,
        group: str,
        consumer: str,
        positions: Mapping[str, str] | Iterable[str],
        *,
        count: int | None = None,
        max_count: int | None = None,
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        claim_min_idle_ms: int | None = None,
        noack: bool = False,
    ) -> dict[str, Slice]:
        """Read entries of several streams for a consumer of a group that each of them has (XREADGROUP).

        `positions`: the keys, or the position of each key: `>` for new entries, or an id for the consumer's
        own pending entries after it. The other parameters are those of `read` and `Group.read`.
        """
        wanted = positions_of(positions, ">")
        call = group_calls.read(
            group,
            consumer,
            wanted,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )
        slices = self.session.send(call)
        return dict(zip(wanted, slices, strict=True))

    def tail(
        self,
        streams: str | Iterable[str] | Mapping[str, str],
        after: str = "$",
        *,
        on_gap: Callable[[Gap], None] = log_gap,
        filter: str | None = None,  # noqa: A002 - the name of the parameter of the server
    ) -> Following[StreamEntry]:
        """Yield entries of several streams as they arrive, each as `(key, id, fields)`, without end.

        All streams begin after `after`, or each at its own position if `streams` is a mapping. Entries of one
        stream keep their order. Like `Stream.tail`, the tail resumes after a broken connection, and
        `filter` selects entries.
        """
        tail = StreamsTail(positions_of(streams, after), on_gap, filter)
        return opened(Following(self.session, tail))

    # --- the server ----------------------------------------------------------------------------

    def ping(self) -> None:
        """Return if the server's process answers. Raises `TailraceError` otherwise."""
        self.session.send(service_calls.health())

    def is_ready(self) -> bool:
        """Return whether the server can be reached and accepts reads and writes. Does not retry."""
        try:
            self.session.attempt(service_calls.readiness())
        except TailraceError as error:
            if not error.retryable:
                raise
            return False
        return True

    def limits(self) -> replies.Limits:
        """Return the limits of the server, such as the largest entry."""
        return self.session.send(service_calls.limits())

    def access(self) -> replies.AccessReply:
        """Return the scopes and key patterns of this client's token."""
        return self.session.send(service_calls.access())

    def server(self, limit: int | None = None) -> replies.ServerState:
        """Return the state of the server: memory, storage, connections, largest streams, audit lines.

        `limit`: how many items of each list.
        """
        return self.session.send(service_calls.server_state(limit))

    def create_ticket(self) -> replies.Ticket:
        """Return a ticket with which a web page can open one WebSocket within a minute."""
        return self.session.send(service_calls.ticket())

    def slow_log(self, limit: int | None = None) -> replies.SlowLogPage:
        """Return the slowest operations that the server recorded, the newest first."""
        return self.session.send(service_calls.slow_operations(limit))

    def clear_slow_log(self) -> None:
        """Delete the recorded slow operations."""
        self.session.send(service_calls.clear_slow_operations())

    def explain(self, code: str) -> str:
        """Return the server's page about an error code, such as `error.code`, as HTML."""
        return self.session.send(service_calls.explanation(code))
