"""Joins the appends of one turn of the event loop: together they cost a fraction of what they cost apart.

While the joining is open, an append of one entry without options waits. The appends that wait run as soon as
another command comes, or when the joining ends: stream after stream, those to one stream as one command, at
one instant. The engine treats them as single appends, one after another (`Append.each`), so entries, ids and
counters are the same. An append with an idempotency key is a command of its own, between those that came
before it and after it. No append waits while a reader waits for its stream: it would find several entries at
once instead of the first. This module never decides when the joining is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final

from msgspec import Struct

from tailrace.api.ports import JoinedReceiver, StoreUnavailable
from tailrace.app.store.admission import Admission
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import Recorder
from tailrace.core.commands import Append, Idempotency
from tailrace.core.stream_id import MAX_ID

JOINED_MAX: Final = 256
"""How many appends wait at most, in all streams. More ids in one effect would leave the event loop for their
commit (`commit_place.EFFECTS_MAX`)."""

_LAST_ID_MAX: Final = MAX_ID - JOINED_MAX
"""Appends to a stream above this id run alone: its ids could run out."""


class _Run(Struct, gc=False):
    """Appends to one stream that run as one command. `requests`: of each entry."""

    key: bytes
    fragments: list[bytes]
    requests: list[object]
    idempotency: Idempotency | None = None

    @property
    def command(self) -> Append:
        """The command."""
        each = len(self.fragments) > 1
        return Append(self.key, self.fragments, each=each, idempotency=self.idempotency)


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
        self._runs: list[_Run] = []
        self._growing: dict[bytes, _Run] = {}
        """The run of each stream that the next append without a key joins."""
        self.count = 0

    def begin(self, receiver: JoinedReceiver) -> None:
        """Let appends wait: see the port."""
        self._receiver = receiver

    def end(self) -> None:
        """Run the appends that wait."""
        self.run()
        self._receiver = None

    def take(
        self, key: bytes, fragment: bytes, request: object, idempotency: Idempotency | None = None
    ) -> bool:
        """Let the append wait if it may: see the port. O(1) amortised."""
        if self.count >= JOINED_MAX:
            self.run()
        run = self._growing.get(key)
        if run is not None and idempotency is None:
            run.fragments.append(fragment)
            run.requests.append(request)
        elif run is not None or self._may_wait(key):
            run = _Run(key, [fragment], [request], idempotency)
            self._runs.append(run)
            if idempotency is None:
                self._growing[key] = run
            else:
                self._growing.pop(key, None)
        else:
            self.run()
            return False
        self.count += 1
        return True

    def _may_wait(self, key: bytes) -> bool:
        """Return whether appends to `key` wake no reader and are not refused, as long as no other command
        runs, unless by an idempotency key."""
        admission = self._admission
        if key in self._readers.waiting_by_key or admission.refusal is not None or admission.refuses_growth:
            return False
        stream = self._recorder.engine.engine.keyspace.streams.get(key)
        return stream is None or stream.last_id <= _LAST_ID_MAX

    def run(self) -> None:
        """Run the appends that wait, if any."""
        if not self.count:
            return
        runs, self._runs, count, self.count = self._runs, [], self.count, 0
        self._growing.clear()
        receiver, recorder, log = self._receiver, self._recorder, self._publisher.log
        assert receiver is not None, "appends wait between `begin` and `end`"
        commands = [run.command for run in runs]
        recorder.ran_at_ms = now_ms = recorder.clock()
        answers: Any
        try:
            answers, _ = recorder.run_together(
                commands, partial(recorder.engine.execute_joined, commands, now_ms)
            )
        except Exception as error:  # noqa: BLE001 - a defect: every request is answered as if it ran alone
            for run in runs:
                receiver.receive(run.requests, error)
            return
        log.joined(count - 1)
        if log.is_behind:
            for run in runs:
                receiver.wait_began(run.requests)
        self._publisher.hand_over(partial(_give, receiver, runs), answers)


def _give(receiver: JoinedReceiver, runs: Sequence[_Run], answers: Any) -> None:
    """Give the answers to the runs, or the error of the storage to all of them."""
    each = repeat(answers) if isinstance(answers, StoreUnavailable) else answers
    for run, answer in zip(runs, each, strict=False):
        receiver.receive(run.requests, answer)
