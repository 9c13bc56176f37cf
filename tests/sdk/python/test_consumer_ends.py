"""How a consumer ends: stops, signals, interrupts, cancellation, and handlers that end the program."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tailrace_client import AsyncConsumer, AsyncItem, AsyncTailrace, Consumer, Item, Stream, Tailrace

Make = Callable[..., Consumer]


@pytest.fixture
def make(tailrace: Tailrace, key: str) -> Make:
    def consumer(**options: object) -> Consumer:
        return Consumer(tailrace, key, "g", "alice", **{"wait_ms": 100, **options})  # type: ignore[arg-type]

    return consumer


def fill(stream: Stream, count: int) -> list[str]:
    stream.append_many({"n": str(number)} for number in range(count))
    return [entry_id for entry_id, _ in stream.read()]


def pending(stream: Stream) -> list[tuple[str, str | None, int]]:
    return [(each.id, each.consumer, each.deliveries) for each in stream.group("g").pending(count=1_000)]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_an_exception_that_ends_the_program_ends_the_run_and_its_entry_stays_pending(
    stream: Stream, make: Make, concurrency: int, error: type[BaseException]
) -> None:
    ids = fill(stream, 10)

    def handle(item: Item) -> None:
        if item.id == ids[0]:
            raise error

    with pytest.raises(error):
        make().run(handle, concurrency=concurrency)
    left = pending(stream)
    assert left[0] == (ids[0], "alice", 1)
    assert {(owner, deliveries) for _, owner, deliveries in left[1:]} <= {(None, 0)}


def test_ctrl_c_ends_a_run_with_threads_when_their_handlers_are_done(stream: Stream, make: Make) -> None:
    ids = fill(stream, 3)
    consumer = make(batch=1)
    begun = threading.Event()

    def handle(_item: Item) -> None:
        if not begun.is_set():
            begun.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        consumer.run(handle, concurrency=2)
    assert {owner for _, owner, _ in pending(stream)} <= {None}
    assert len(ids) == 3


def test_ctrl_c_while_the_threads_are_started_ends_the_run(
    stream: Stream, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(stream, 3)
    consumer = make(batch=1)
    submit, begun = ThreadPoolExecutor.submit, threading.Event()

    def interrupted(workers: ThreadPoolExecutor, *work: Any) -> Any:
        if begun.is_set():
            raise KeyboardInterrupt
        submitted = submit(workers, *work)
        assert begun.wait(30)
        return submitted

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        consumer.run(lambda _item: begun.set(), concurrency=2)
    assert {owner for _, owner, _ in pending(stream)} <= {None}


def test_a_consumer_whose_end_was_interrupted_can_run_again(
    stream: Stream, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(stream, 2)
    consumer = make(batch=1)
    flush, seen = consumer._settling.flush, []

    def interrupted() -> None:
        if sys._getframe(1).f_code.co_name != "_end":
            flush()
            return
        monkeypatch.setattr(consumer._settling, "flush", flush)
        raise KeyboardInterrupt

    def handle(item: Item) -> None:
        seen.append(item.fields["n"])
        consumer.stop()
        if len(seen) == 1:
            monkeypatch.setattr(consumer._settling, "flush", interrupted)

    with pytest.raises(KeyboardInterrupt):
        consumer.run(handle)
    consumer.run(handle)
    assert len(seen) >= 2


def test_stops_can_be_repeated_and_a_stopped_consumer_can_run_again(stream: Stream, make: Make) -> None:
    fill(stream, 4)
    consumer = make(batch=1)
    seen = []

    def handle(item: Item) -> None:
        seen.append(item.fields["n"])
        consumer.stop()
        consumer.stop()

    consumer.run(handle)
    consumer.run(handle)
    assert seen == ["0", "1"]


def test_a_consumer_that_runs_cannot_be_run_again_at_the_same_time(stream: Stream, make: Make) -> None:
    fill(stream, 1)
    consumer = make()

    def handle(_item: Item) -> None:
        consumer.stop()
        with pytest.raises(RuntimeError, match="is running already"):
            consumer.run(print)

    consumer.run(handle)
    assert pending(stream) == []


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_concurrency_below_one_is_refused(make: Make, concurrency: int) -> None:
    with pytest.raises(ValueError, match=f"concurrency={concurrency} is out of range; it must be at least 1"):
        make().run(print, concurrency=concurrency)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"wait_ms": -1}, ValueError, "wait_ms=-1 is out of range; it must be from 0 to 60000"),
        ({"wait_ms": 60_001}, ValueError, "wait_ms=60001"),
        ({"claim_min_idle_ms": -1}, ValueError, "claim_min_idle_ms=-1"),
        ({"batch": 2.5}, TypeError, "batch=2.5 is of type float"),
        ({"on_failure": "drop"}, ValueError, "on_failure='drop' is unknown; use 'wait' or 'nack'"),
        ({"dead_letter_stream": "s"}, ValueError, "is one of the streams that are consumed"),
        ({"streams": ["s", "s"]}, ValueError, "names a stream twice"),
        ({"streams": b"s"}, TypeError, "the key b's' is of type bytes"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tailrace: Tailrace, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Consumer(tailrace, **{"streams": "s", "group": "g", "consumer": "a", **options})  # type: ignore[arg-type]


def test_an_async_function_is_refused_by_a_blocking_consumer(make: Make) -> None:
    async def handle(_item: Item) -> None: ...

    with pytest.raises(TypeError, match="use AsyncConsumer"):
        make().run(handle)
    with pytest.raises(TypeError, match="use AsyncConsumer"):
        make().run_batches(handle)  # type: ignore[arg-type]


def test_a_blocking_function_ends_the_run_of_an_asyncio_consumer_and_acknowledges_nothing(
    base_url: str, stream: Stream
) -> None:
    [entry_id] = fill(stream, 1)

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, stream.key, "g", "alice", wait_ms=100)
            await consumer.run(lambda _item: None)  # type: ignore[arg-type, return-value]

    with pytest.raises(TypeError, match="needs an async function"):
        asyncio.run(program())
    assert pending(stream) == [(entry_id, "alice", 1)]


def test_a_cancelled_run_leaves_the_entry_in_hand_pending_and_returns_the_others(
    base_url: str, stream: Stream
) -> None:
    ids = fill(stream, 5)

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, stream.key, "g", "alice", wait_ms=100)
            begun = asyncio.Event()

            async def handle(item: AsyncItem) -> None:
                if item.id != ids[0]:
                    begun.set()
                    await asyncio.Event().wait()

            running = asyncio.create_task(consumer.run(handle))
            await begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

    asyncio.run(program())
    assert pending(stream) == [(ids[1], "alice", 1), *((entry_id, None, 0) for entry_id in ids[2:])]


ASYNC_WORKER = """
import asyncio, sys
from tailrace_client import AsyncConsumer, AsyncTailrace

async def main():
    async with AsyncTailrace(sys.argv[1]) as client:
        consumer = AsyncConsumer(client, sys.argv[2], "g", "alice", wait_ms=100)
        consumer.stop_on_signals()
        async def handle(item):
            print(item.id, flush=True)
            await asyncio.to_thread(sys.stdin.readline)
        await consumer.run(handle, concurrency=2)
        print("stopped", flush=True)

asyncio.run(main())
"""

WORKER = """
import signal, sys
from tailrace_client import Consumer, Tailrace

consumer = Consumer(Tailrace(sys.argv[1]), sys.argv[2], "g", "alice", wait_ms=100)
former = signal.getsignal(signal.SIGINT)
consumer.stop_on_signals()
def handle(item):
    print(item.id, flush=True)
    sys.stdin.readline()
consumer.run(handle)
assert signal.getsignal(signal.SIGINT) is former
print("stopped", flush=True)
"""


@contextmanager
def worker(script: str, url: str, key: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, url, key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("script", [WORKER, ASYNC_WORKER])
def test_a_signal_lets_the_handler_finish_and_returns_the_rest(
    stream: Stream, base_url: str, script: str
) -> None:
    ids = fill(stream, 10)
    with worker(script, base_url, stream.key) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        begun = {process.stdout.readline().strip()}
        if script is ASYNC_WORKER:
            begun.add(process.stdout.readline().strip())
        for _ in range(2):  # A supervisor may send it twice.
            process.send_signal(signal.SIGTERM)
        process.stdin.close()  # Lets the handlers return.
        rest = process.stdout.read()
        assert rest.endswith("stopped\n"), process.stderr and process.stderr.read()
        assert process.wait(30) == 0
    done = begun | set(rest.split()[:-1])
    left = pending(stream)
    assert {entry_id for entry_id, _, _ in left} == set(ids) - done
    assert {(owner, deliveries) for _, owner, deliveries in left} <= {(None, 0)}


def test_a_second_interrupt_ends_a_handler_that_does_not_return(stream: Stream, base_url: str) -> None:
    fill(stream, 1)
    with worker(WORKER, base_url, stream.key) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        while process.poll() is None:  # Two signals at the same moment are one.
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        assert "KeyboardInterrupt" in process.stderr.read()
    assert [owner for _, owner, _ in pending(stream)] == ["alice"]
