"""Consumers as processes: another consumer replaces a killed one; SIGTERM makes one release its entries."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tailrace_client import Consumer, Stream, Tailrace

WORKER = """
import sys
from tailrace_client import Consumer, Tailrace

url, key, how = sys.argv[1:]
consumer = Consumer(Tailrace(url), key, "g", "alice", claim_min_idle_ms=400, wait_ms=100)
consumer.stop_on_signals()
for item in consumer:
    print(item.id, flush=True)
    if how == "wait":
        sys.stdin.read()   # until it is killed
    item.ack()
"""


@contextmanager
def worker(url: str, key: str, how: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, url, key, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_what_a_killed_consumer_held_is_worked_on_by_another(
    stream: Stream, tailrace: Tailrace, base_url: str
) -> None:
    stream.append_many({"n": str(n)} for n in range(20))
    with worker(base_url, stream.key, "wait") as killed:
        assert killed.stdout is not None
        first = killed.stdout.readline().strip()
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
    consumer = Consumer(tailrace, stream.key, "g", "bob", claim_min_idle_ms=400, wait_ms=100)
    deliveries = {}
    for item in consumer:
        item.ack()
        deliveries[item.id] = item.deliveries
        if len(deliveries) == 20:
            consumer.stop()
    assert deliveries[first] == 1
    assert set(deliveries.values()) == {1}  # all had been read ahead by the one that was killed
    assert stream.group("g").pending_summary().count == 0


def test_sigterm_ends_a_consumer_with_nothing_left_in_its_name(stream: Stream, base_url: str) -> None:
    stream.append_many({"n": str(n)} for n in range(1_000))
    with worker(base_url, stream.key, "work") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0
    left = stream.group("g").pending(count=1_000)
    assert {(each.consumer, each.deliveries) for each in left} <= {(None, 0)}
    assert stream.group("g").info().pending == len(left)
