"""What happens to the server of a chaos run: kills, producers that append, and deletions and trims.

The producers send each chunk with an idempotency key until it is acknowledged. Only decoys are deleted: those
of the input where the copy has been, or will be only later. The input is trimmed up to what is copied. So
what a batch in progress reads does not change; the sink would refuse its replay if it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Final

from tailrace_client import NO_RETRIES, RetryPolicy, Tailrace, TailraceError
from tailrace_spark.entry_ids import LAST_POSSIBLE_ID, parsed
from tests.spark.chaos_plan import COPY, DECOYS_FROM, GROUP, INPUT, SUNK, Plan, with_decoys
from tests.support.server_process import ServerProcess

PRODUCERS: Final = 2
CHUNK: Final = 100
FAR_AHEAD_BATCHES: Final = 4
DELETED_AT_ONCE: Final = 20
PATIENT: Final = RetryPolicy(deadline_s=90)
"""Shorter than the time for which the server remembers the key of an append."""
WAITS_S: Final = 1


class KilledServer:
    """A server that is killed and started again on the same port and data. `kills` counts. `store`: the URL
    of an engine; then the server is a gateway."""

    def __init__(self, directory: Path, store: str | None = None) -> None:
        self._directory = directory
        self._data = ("--data-dir", str(directory / "data")) if store is None else ("--store", store)
        self._process = self._started(0, 0)
        self.url = self._process.base_url
        self.kills = 0

    def kill(self) -> None:
        """`kill -9`, and start it again."""
        self._process.kill()
        self.kills += 1
        self._process = self._started(self._process.port, self.kills)

    def end(self) -> None:
        self._process.kill()

    def _started(self, port: int, number: int) -> ServerProcess:
        options = ("--port", str(port), *self._data, "--log-level", "warning")
        return ServerProcess(options, self._directory / f"server-{number}.log")


class Load:
    """The clients of a run. `added`: how many entries the streams have ever got. `deleted`: how many the
    deleters deleted."""

    def __init__(self, url: str, plan: Plan) -> None:
        self._url = url
        self._plan = plan
        self._hasty = Tailrace(url, retry=NO_RETRIES)
        self._may_append = Condition()
        self._ends = Event()
        self.added = dict.fromkeys((INPUT, SUNK, COPY), 0)
        self.deleted = 0
        self.trimmed = 0
        self._producers = [Thread(target=self._produce, args=(n,)) for n in range(PRODUCERS)]
        self._deleters = [Thread(target=self._delete, args=(stream,)) for stream in self.added]
        self.failures: list[BaseException] = []

    @property
    def is_produced(self) -> bool:
        """Whether all rows are acknowledged."""
        return not any(thread.is_alive() for thread in self._producers)

    def look(self) -> int:
        """Update `added` and return its sum. Streams of a server that is starting keep their numbers."""
        for stream in self.added:
            try:
                self.added[stream] = self._hasty.stream(stream).info().entries_added
            except TailraceError:
                break
        with self._may_append:
            self._may_append.notify_all()
        return sum(self.added.values())

    def trim(self) -> bool:
        """Trim the input up to the position of the group, which follows the copy; False if it has none."""
        with Tailrace(self._url, retry=PATIENT) as tailrace:
            stream = tailrace.stream(INPUT)
            try:
                copied = stream.group(GROUP).info().last_delivered_id
            except TailraceError as error:
                if error.code != "NOGROUP":
                    raise
                return False
            self.trimmed += stream.trim(min_id=copied, approximate=False)
        return True

    @contextmanager
    def running(self) -> Iterator[None]:
        with Tailrace(self._url) as tailrace:
            for stream in self.added:
                tailrace.stream(stream).create()
        threads = [*self._producers, *self._deleters]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ends.set()
            for thread in threads:
                thread.join()
            self._hasty.close()

    def _produce(self, number: int) -> None:
        rows = self._plan.rows
        try:
            with Tailrace(self._url, retry=PATIENT) as tailrace:
                stream = tailrace.stream(INPUT)
                for start in range(number * CHUNK, rows, PRODUCERS * CHUNK):
                    if not self._waited():
                        return
                    numbers = with_decoys(start, min(start + CHUNK, rows))
                    lines = [json.dumps({"n": str(n), "rider": f"rider-{n % 97}"}) for n in numbers]
                    body = "\n".join(lines).encode()
                    stream.import_lines(body, producer_id=f"producer-{number}", idempotency_key=str(start))
        except BaseException as error:  # noqa: BLE001 - the run reports it
            self.failures.append(error)

    def _waited(self) -> bool:
        """Wait until the copy is near enough; False once the run ends."""
        with self._may_append:
            while self.added[INPUT] - self.added[COPY] > self._plan.ahead_max and not self._ends.is_set():
                self._may_append.wait(WAITS_S)
        return not self._ends.is_set()

    def _delete(self, stream: str) -> None:
        """Follow the stream and delete half of its decoys, without retries: no deletion comes late."""
        after, doomed = "0-0", list[str]()
        with Tailrace(self._url, retry=NO_RETRIES) as tailrace:
            while not self._ends.wait(WAITS_S):
                try:
                    end = tailrace.stream(stream).seek(self._plan.batch_rows, f"({after}").end or after
                    doomed += decoys_between(tailrace, stream, after, end)
                    after = end
                    doomed = self._without_deletable(tailrace, stream, doomed)
                except TailraceError:
                    continue

    def _without_deletable(self, tailrace: Tailrace, stream: str, doomed: list[str]) -> list[str]:
        """Delete those that no batch in progress reads, and return the others."""
        deletable = doomed
        if stream == INPUT:
            copied = tailrace.stream(INPUT).group(GROUP).info().last_delivered_id
            ahead = self._plan.batch_rows * FAR_AHEAD_BATCHES
            far = tailrace.stream(INPUT).seek(ahead, f"({copied}").end or LAST_POSSIBLE_ID
            deletable = [each for each in doomed if not parsed(copied) < parsed(each) <= parsed(far)]
        chosen = deletable[:DELETED_AT_ONCE]
        if chosen:
            tailrace.stream(stream).delete_entries(*chosen)
            self.deleted += len(chosen)
        return [each for each in doomed if each not in chosen]


def decoys_between(tailrace: Tailrace, stream: str, after: str, end: str) -> list[str]:
    """Half of the decoys in a range."""
    if after == end:
        return []
    numbers = {
        entry_id: int(fields["n"]) for entry_id, fields in tailrace.stream(stream).read(f"({after}", end)
    }
    return [entry_id for entry_id, number in numbers.items() if number >= DECOYS_FROM and number % 2]
