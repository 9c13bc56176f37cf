"""Joins the appends of one turn of the event loop: together they cost a fraction of what they cost apart.

While the joining is open, an append of one entry without options waits. The appends that wait run together
as soon as another command comes, or when the joining ends. The engine treats them as single appends, one
after another (`Append.each`), so entries, ids and counters are the same. An append waits only if nothing can
refuse it, and if no reader waits for the stream: it would find several entries at once instead of the first.
This module never decides when the joining is open.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tailrace.api.hot.store import JoinedReceiver
from tailrace.app.store.admission import Admission
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import Recorder
from tailrace.core.commands import Append
from tailrace.core.stream_id import MAX_ID

JOINED_MAX: Final = 256
"""How many appends run together at most. More ids in one effect would leave the event loop for their commit
(`commit_place.EFFECTS_MAX`)."""

_LAST_ID_MAX: Final = MAX_ID - JOINED_MAX
"""Appends to a stream above this id run alone: its ids could run out."""


class JoinedAppends:
    """Implements `api.hot.store.Joining`: the appends of one store that wait for each other, all to one
    stream. `requests`: the requests whose appends wait."""

    def __init__(
        self, recorder: Recorder, readers: WaitingReaders, admission: Admission, publisher: Publisher
    ) -> None:
        self._recorder = recorder
        self._readers = readers
        self._admission = admission
        self._publisher = publisher
        self._receiver: JoinedReceiver | None = None
        self._key: bytes | None = None
        """The stream of the appends that wait; None if there are none."""
        self._fragments: list[bytes] = []
        self.requests: list[object] = []

    def begin(self, receiver: JoinedReceiver) -> None:
        """Let appends wait: see the port."""
        self._receiver = receiver

    def end(self) -> None:
        """Run the appends that wait."""
        self.run()
        self._receiver = None

    def take(self, key: bytes, fragment: bytes, request: object) -> bool:
        """Let the append wait if it may: see the port. O(1) amortised."""
        if key != self._key or len(self.requests) >= JOINED_MAX:
            self.run()
            if not self._may_wait(key):
                return False
            self._key = key
        self._fragments.append(fragment)
        self.requests.append(request)
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
        key, fragments, requests, receiver = self._key, self._fragments, self.requests, self._receiver
        if key is None:
            return
        assert receiver is not None, "appends wait between `begin` and `end`"
        self._key, self._fragments, self.requests = None, [], []
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
