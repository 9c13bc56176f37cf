"""Joins the appends of one turn of the event loop: together they cost a fraction of what they cost apart.

While the joining is open, an append of one entry without options waits. The appends that wait run as soon as
another command comes, or when the joining ends: those to one stream as one command, stream after stream. The
engine treats them as single appends, one after another (`Append.each`), so entries, ids and counters are the
same. An append waits only if nothing can refuse it, and if no reader waits for the stream: it would find
several entries at once instead of the first. This module never decides when the joining is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from tailrace.api.ports import JoinedReceiver
from tailrace.app.store.admission import Admission
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import Recorder
from tailrace.core.commands import Append
from tailrace.core.stream_id import MAX_ID

JOINED_MAX: Final = 256
"""How many appends wait at most, in all streams. More ids in one effect would leave the event loop for their
commit (`commit_place.EFFECTS_MAX`)."""

_LAST_ID_MAX: Final = MAX_ID - JOINED_MAX
"""Appends to a stream above this id run alone: its ids could run out."""


class JoinedAppends:
    """Implements `api.ports.Joining`: the appends of one store that wait for each other.

    `count`: how many wait.
    """

    def __init__(
        self, recorder: Recorder, readers: WaitingReaders, admission: Admission, publisher: Publisher
    ) -> None:
        self._recorder = recorder
        self._readers = readers
        self._admission = admission
        self._publisher = publisher
        self._receiver: JoinedReceiver | None = None
        self._waiting: dict[bytes, tuple[list[bytes], list[object]]] = {}
        """The entries and the requests of the appends that wait, by stream."""
        self.count = 0

    def begin(self, receiver: JoinedReceiver) -> None:
        """Let appends wait: see the port."""
        self._receiver = receiver

    def end(self) -> None:
        """Run the appends that wait."""
        self.run()
        self._receiver = None

    def take(self, key: bytes, fragment: bytes, request: object) -> bool:
        """Let the append wait if it may: see the port. O(1) amortised."""
        if self.count >= JOINED_MAX:
            self.run()
        waiting = self._waiting.get(key)
        if waiting is None:
            if not self._may_wait(key):
                self.run()
                return False
            waiting = self._waiting[key] = ([], [])
        waiting[0].append(fragment)
        waiting[1].append(request)
        self.count += 1
        return True

    def _may_wait(self, key: bytes) -> bool:
        """Return whether appends to `key` succeed and wake no reader, as long as no other command runs."""
        admission = self._admission
        if key in self._readers.waiting_by_key or admission.refusal is not None or admission.refuses_growth:
            return False
        stream = self._recorder.engine.engine.keyspace.streams.get(key)
        return stream is None or stream.last_id <= _LAST_ID_MAX

    def run(self) -> None:
        """Run the appends that wait, if any."""
        if not self.count:
            return
        waiting, self._waiting, self.count = self._waiting, {}, 0
        for key, (fragments, requests) in waiting.items():
            self._run(key, fragments, requests)

    def _run(self, key: bytes, fragments: list[bytes], requests: Sequence[object]) -> None:
        """Run the appends to one stream."""
        receiver = self._receiver
        assert receiver is not None, "appends wait between `begin` and `end`"
        command = Append(key, fragments, each=len(fragments) > 1)
        try:
            outcome = self._recorder.run(command)
        except Exception as error:  # noqa: BLE001 - a defect: every request is answered as if it ran alone
            receiver.receive(requests, error)
            return
        self._recorder.engine.figures.ran_with_others(command)
        self._publisher.log.joined(len(fragments) - 1)
        if self._publisher.log.is_behind:
            receiver.wait_began(requests)
        self._publisher.hand_over(partial(receiver.receive, requests), outcome.reply)
