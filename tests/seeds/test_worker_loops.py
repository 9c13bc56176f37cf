"""The consumer program of the guide and the reference, which first processes its own pending entries."""

from __future__ import annotations

from typing import Final

from tests.support.redis_like import R

KEY: Final = "my_stream_key"


class Worker:
    """Reads its pending entries first, then new ones, ten at a time, and acknowledges processed ones."""

    def __init__(self, r: R, name: str) -> None:
        self.r, self.name = r, name
        self.processed: list[str] = []
        self._last_id = "0-0"
        self._in_backlog = True

    def turn(self, *, crash_before_ack: bool = False) -> bool:
        """Run one turn of the loop. Return False if there was no entry."""
        position = self._last_id if self._in_backlog else ">"
        words = f"XREADGROUP GROUP mygroup {self.name} BLOCK 2000 COUNT 10 STREAMS {KEY} {position}"
        reply = self.r.line(words)
        if reply is None:
            return False
        ((_, entries),) = reply
        self._in_backlog = self._in_backlog and bool(entries)
        for value, _ in entries:
            self.processed.append(value)
            if not crash_before_ack:
                assert self.r.run("XACK", KEY, "mygroup", value) == 1
            self._last_id = value
        return True


def stream_of(count: int) -> R:
    r = R()
    r.line(f"XGROUP CREATE {KEY} mygroup 0 MKSTREAM")
    for number in range(1, count + 1):
        r.run("XADD", KEY, number, "n", number)
    return r


def run(worker: Worker) -> list[str]:
    while worker.turn():
        pass
    return worker.processed


def test_a_worker_processes_every_message_once() -> None:
    r = stream_of(25)
    assert run(Worker(r, "one")) == [f"{number}-0" for number in range(1, 26)]
    assert r.line(f"XPENDING {KEY} mygroup")[0] == 0


def test_a_worker_that_crashed_finds_its_messages_again_before_new_ones() -> None:
    r = stream_of(25)
    crashed = Worker(r, "one")
    crashed.turn()
    crashed.turn(crash_before_ack=True)
    assert run(Worker(r, "one")) == [f"{number}-0" for number in range(1, 26)]
    assert r.line(f"XPENDING {KEY} mygroup")[0] == 0


def test_two_workers_share_the_messages_and_see_only_their_own_history() -> None:
    r = stream_of(40)
    workers = Worker(r, "one"), Worker(r, "two")
    while [worker for worker in workers if worker.turn()]:
        pass
    first, second = (set(worker.processed) for worker in workers)
    assert first.isdisjoint(second)
    assert len(first | second) == 40
    assert first
    assert second
