"""Joins the appends of one turn of the event loop: together they cost a fraction of what they cost apart.

While the joining is open, an append of one entry without options waits. The appends that wait run together
as soon as another command comes, or when the joining ends. The engine treats them as single appends, one
after another (`Append.each`), so entries, ids and counters are the same. An append waits only if nothing can
refuse it, and if no reader waits for the stream: it would find several entries at once instead of the first.
This module never decides when the joining is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from tailrace.api.ports import Answer
from tailrace.app.store.admission import Admission
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import Recorder
from tailrace.core.commands import Append, Command
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import MAX_ID

Receive = Callable[[Any], None]
"""Gets an `Answer`, or the exception of a defect."""

JOINED_MAX: Final = 256
"""How many appends run together at most. More ids in one effect would leave the event loop for their commit
(`commit_place.EFFECTS_MAX`)."""

_LAST_ID_MAX: Final = MAX_ID - JOINED_MAX
"""Appends to a stream above this id run alone: its ids could run out."""


class JoinedAppends:
    """The appends of one store that wait for each other, all to one stream. `is_open`: whether any may
    wait."""

    def __init__(
        self, recorder: Recorder, readers: WaitingReaders, admission: Admission, publisher: Publisher
    ) -> None:
        self._recorder = recorder
        self._readers = readers
        self._admission = admission
        self._publisher = publisher
        self.is_open = False
        self._key = b""
        self._fragments: list[bytes] = []
        self._receivers: list[Receive] = []

    def begin(self) -> None:
        """Let appends wait."""
        self.is_open = True

    def end(self) -> None:
        """Run the appends that wait."""
        self.is_open = False
        self._run()

    def take(self, command: Command, receive: Receive) -> bool:
        """Let the command wait if it may, and return True. Else run the appends that wait, which were before
        it, and return False. O(1) amortised."""
        # An append without options is equal to one of its key and fragments.
        if (
            not isinstance(command, Append)
            or command != Append(command.key, command.fragments)
            or len(command.fragments) != 1
        ):
            self._run()
            return False
        if command.key != self._key or not 0 < len(self._receivers) < JOINED_MAX:
            self._run()
            if not self._may_wait(command.key):
                return False
            self._key = command.key
        self._fragments += command.fragments
        self._receivers.append(receive)
        return True

    def _may_wait(self, key: bytes) -> bool:
        """Return whether appends to `key` succeed and wake no reader, as long as no other command runs."""
        admission = self._admission
        if key in self._readers.waiting_by_key or admission.refusal is not None or admission.refuses_growth:
            return False
        stream = self._recorder.engine.engine.keyspace.streams.get(key)
        return stream is None or stream.last_id <= _LAST_ID_MAX

    def _run(self) -> None:
        fragments, receivers = self._fragments, self._receivers
        if not fragments:
            return
        self._fragments, self._receivers = [], []
        if len(fragments) == 1:
            command, receive = Append(self._key, tuple(fragments)), receivers[0]
        else:
            command, receive = Append(self._key, fragments, each=True), partial(_share, receivers)
        try:
            outcome = self._recorder.run(command)
        except Exception as error:  # noqa: BLE001 - a defect: every request is answered as if it ran alone
            receive(error)
            return
        self._recorder.engine.figures.ran_with_others(command)
        self._publisher.log.joined(len(fragments) - 1)
        self._publisher.hand_over(receive, outcome.reply)


def _share(receivers: Sequence[Receive], answer: Answer | Exception) -> None:
    """Pass on the answer to several appends: to each its id, or to all the error."""
    if isinstance(answer, AppendReply):
        for receive, value in zip(receivers, answer.ids, strict=True):
            receive(AppendReply((value,)))
    else:
        for receive in receivers:
            receive(answer)
