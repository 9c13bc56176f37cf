"""Follows streams as a consumer of a group: one read for all streams, again and again.

An output says what to read next, and takes the entries that it gets. This module never writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tailrace.api.follow.streams import Reading
from tailrace.api.ports import Answer, StoreUnavailable, SubmitStore
from tailrace.api.problems.table import Refusal
from tailrace.core.commands import ReadGroup
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply, StreamRead


class GroupOutput(Protocol):
    """Where the entries of one consumer go."""

    def next_read(self) -> ReadGroup | None:
        """Return the next read: it asks for no more than may be sent. None: nothing may be sent now."""
        ...

    def take(self, reads: Sequence[StreamRead]) -> None:
        """Send the entries of a read, or return them to the group if that is no longer possible."""
        ...

    def end(self, failure: Refusal) -> None:
        """End the output, and send the reason."""
        ...

    def failed(self, error: Exception) -> None:
        """Handle a defect."""
        ...


class GroupFollower(Reading):
    """The reads of one consumer."""

    __slots__ = ("_is_closed", "_is_reading", "_output", "_store")

    def __init__(self, store: SubmitStore, output: GroupOutput) -> None:
        self._store = store
        self._output = output
        self._is_reading = False
        self._is_closed = False
        self._watch = None

    def arm(self) -> None:
        """Wait for entries, if they may be sent."""
        if self._is_reading or self._is_closed:
            return
        command = self._output.next_read()
        if command is not None:
            self._is_reading = True
            self.begin(self._store, command)

    def close(self) -> None:
        """Stop reading. The output still takes the entries of a read that has an answer already."""
        self._is_closed = True
        if self._is_reading:
            self.stop()

    def take(self, answer: Answer) -> None:
        """Pass the answer to the output, and read on."""
        self._is_reading = False
        try:
            if isinstance(answer, ReadReply):
                self._output.take(answer.streams)
                self.arm()
            elif not self._is_closed:
                assert isinstance(answer, StreamError | StoreUnavailable)
                self._output.end(answer)
        except Exception as error:  # noqa: BLE001 - the output owns what a defect ends
            self._output.failed(error)
