"""Checks and answers the hot appends of one turn of the event loop that the store runs together.

All requests of a client to a stream have the same permission, so it is checked once in a turn. The answers to
a run differ in two places only, the ids of request and entry. This module owns these two shortcuts. A request
that they do not fit is submitted and answered alone (`hot_routes`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

from tailrace.api.operations.headers import HotClient
from tailrace.api.ports import Answer, Joining
from tailrace.app.protocols.append_answers import AppendAnswers
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.core.commands import Append, Command
from tailrace.core.replies import AppendReply


class JoinedRequests:
    """Implements `api.ports.JoinedReceiver` for one server.

    `joining`: None if the store runs no appends together. `may_append`: whether the client of a request may
    append to a stream; None if each request is counted, so that each is checked alone. `submitted`: notes
    that the answer to a request waits for the disk.
    """

    def __init__(
        self,
        joining: Joining | None,
        may_append: Callable[[HotRequest, bytes], bool] | None,
        submitted: Callable[[HotRequest], None],
        answers: AppendAnswers,
    ) -> None:
        self._joining = joining
        self._may_append = may_append
        self._submitted = submitted
        self._answers = answers
        self.is_open = False
        """Whether appends wait for each other."""
        self.takes_unchecked = joining is not None and may_append is not None
        """Whether `take` may be called while `is_open`."""
        self._checked: set[tuple[HotClient, bytes]] = set()
        """The clients that may append, with the stream: they were checked in this turn."""

    def begin(self) -> None:
        """Let appends wait for each other."""
        if self._joining is not None:
            self.is_open = True
            self._joining.begin(self)

    def end(self) -> None:
        """Run the appends that wait. Unless they wait for the disk, their requests then have answers."""
        if self._joining is not None:
            self._joining.end()
            self.is_open = False
            self._checked.clear()

    def take(self, request: HotRequest) -> bool:
        """Check an append, let it wait for others, and return True. Return False if it must be submitted
        alone."""
        key, joining, may_append = request.route.joins, self._joining, self._may_append
        if key is None or joining is None or may_append is None:
            return False
        checked = request.client, key
        if checked not in self._checked:
            if not may_append(request, key):
                return False
            self._checked.add(checked)
        fragment = request.connection.bodies.fragment_of(request.body)
        return fragment is not None and joining.take(key, fragment, request)

    def take_checked(self, request: HotRequest, command: Command) -> bool:
        """Do the same with the command of a request that was checked because each one is counted."""
        # An append without options is equal to one of its key and fragments.
        return (
            self._joining is not None
            and self._may_append is None
            and request.route.joins is not None
            and isinstance(command, Append)
            and command == Append(command.key, command.fragments)
            and self._joining.take(command.key, command.fragments[0], request)
        )

    def receive(self, requests: Sequence[HotRequest], answer: Answer | Exception) -> None:
        """Answer the requests of one run: see the port."""
        if not self.is_open or not self.takes_unchecked:
            for request, single in zip(requests, _of_each(answer, len(requests)), strict=True):
                request.receive(single)
        elif isinstance(answer, AppendReply):
            try:
                self._answers.give(requests, answer.ids)
            except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
                self._receive_later(requests, error)
        else:
            self._receive_later(requests, answer)

    def _receive_later(self, requests: Sequence[HotRequest], answer: Answer | Exception) -> None:
        """Answer the requests when they wait for their answers, as for a disk: the turn has ended then."""
        asyncio.get_running_loop().call_soon(self.receive, requests, answer)

    def wait_began(self, requests: Sequence[HotRequest]) -> None:
        """Note that the answers wait for the disk: see the port."""
        for request in requests:
            self._submitted(request)


def _of_each(answer: Answer | Exception, count: int) -> Iterable[Answer | Exception]:
    """Return the answer of each request of a run."""
    if isinstance(answer, AppendReply):
        return (AppendReply((value,)) for value in answer.ids)
    return repeat(answer, count)
