"""Hooks of a consumer: what they receive, that they change nothing, and spans linked to the producer."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from tailrace_client import (
    AsyncConsumer,
    AsyncTailrace,
    Batch,
    Consumer,
    ConsumerHooks,
    ConsumerOptions,
    CountingHooks,
    Item,
    LoggingHooks,
    OpenTelemetryHooks,
    Stream,
    Tailrace,
    current_traceparent,
)

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
Make = Callable[..., Consumer]


@pytest.fixture
def make(tailrace: Tailrace, key: str) -> Make:
    def consumer(**options: object) -> Consumer:
        return Consumer(tailrace, key, "g", "alice", **{"wait_ms": 100, **options})  # type: ignore[arg-type]

    return consumer


def once(consumer: Consumer, error: BaseException | None = None) -> Callable[[Item], None]:
    """A handler that stops the consumer, and raises the error."""

    def handle(_item: Item) -> None:
        consumer.stop()
        if error is not None:
            raise error

    return handle


def test_each_entry_is_counted_by_its_outcome(stream: Stream, make: Make) -> None:
    stream.append_many({"n": str(n)} for n in range(6))
    counts = CountingHooks()
    consumer = make(hooks=[counts], max_deliveries=1)

    def handle(item: Item) -> None:
        assert counts.in_hand == 1
        if item.fields["n"] == "1":
            item.nack()
        elif item.fields["n"] == "2":
            raise ValueError("poison")
        elif item.fields["n"] == "3":
            consumer.stop()

    consumer.run(handle)
    assert counts.received_count == 6
    assert counts.outcomes == {"acknowledged": 2, "nacked": 1, "dead_letter": 1, "returned": 2}
    assert (counts.handled, counts.in_hand, counts.read_failures) == (4, 0, 0)
    assert counts.handling_s > 0


def test_each_settled_entry_is_logged_with_its_names(
    stream: Stream, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    entry_id = stream.append({"n": "1"})
    consumer = make(hooks=[LoggingHooks()])
    with caplog.at_level(logging.INFO, "tailrace_client.consumer"):
        consumer.run(once(consumer))
    records = [record for record in caplog.records if record.name == "tailrace_client.consumer"]
    assert [record.message for record in records] == [
        f"consumer alice of group g started: {stream.key}",
        f"acknowledged {stream.key} {entry_id}",
        f"consumer alice of group g stopped: {stream.key}",
    ]
    assert vars(records[1]).items() >= {"entry_id": entry_id, "group": "g", "outcome": "acknowledged"}.items()


class Failing(ConsumerHooks):
    """Hooks that raise, also as they leave the context of a handler."""

    def started(self, consumer: ConsumerOptions) -> None:
        raise RuntimeError(f"started {consumer}")

    def received(self, consumer: ConsumerOptions, stream: str, count: int) -> None:
        raise RuntimeError(f"received {stream} {count} {consumer}")

    def handling(self, consumer: ConsumerOptions, items: Sequence[object]) -> AbstractContextManager[object]:
        assert consumer.group == "g"
        assert len(items) == 1
        return Suppressing()


class Suppressing(AbstractContextManager[None]):
    """A context that hides the error of the handler, and then fails."""

    def __exit__(self, *_: object) -> bool:
        if _[0] is None:
            raise RuntimeError("left")
        return True


def test_hooks_that_raise_or_hide_errors_change_nothing(
    stream: Stream, make: Make, tailrace: Tailrace, caplog: pytest.LogCaptureFixture
) -> None:
    stream.append({"n": "1"})
    poison = stream.append({"n": "2"})
    counts = CountingHooks()
    consumer = make(hooks=[Failing(), counts], max_deliveries=1)

    def handle(item: Item) -> None:
        if item.id == poison:
            consumer.stop()
            raise ValueError("poison")

    consumer.run(handle)
    assert counts.outcomes == {"acknowledged": 1, "dead_letter": 1}
    assert stream.group("g").pending() == []
    [(_, letter)] = tailrace.stream(f"{stream.key}:dead").read()
    assert letter["last_error"] == "ValueError: poison"
    assert caplog.text.count("a hook failed") >= 3


class Recorded:
    """Spans and metrics of a program."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.hooks = OpenTelemetryHooks(
            tracer_provider=self.tracers, meter_provider=MeterProvider([self.reader])
        )


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def test_the_span_of_a_handler_links_to_the_producer_of_the_entry(
    stream: Stream, make: Make, recorded: Recorded
) -> None:
    entry_id = stream.append({"n": "1"}, traceparent=PARENT)
    consumer = make(hooks=[recorded.hooks])

    def handle(_item: Item) -> None:
        assert get_current_span().get_span_context().is_valid
        consumer.stop()

    consumer.run(handle)
    [span] = recorded.exporter.get_finished_spans()
    assert (span.name, span.kind) == (f"process {stream.key}", SpanKind.CONSUMER)
    assert span.attributes is not None
    assert span.attributes["messaging.message.id"] == entry_id
    assert span.attributes["messaging.consumer.group.name"] == "g"
    [link] = span.links
    assert f"{link.context.trace_id:032x}" == PARENT.split("-")[1]
    assert "rider" not in str(span.attributes)


def test_the_span_of_a_failed_handler_has_the_error_and_a_bad_context_no_link(
    stream: Stream, make: Make, recorded: Recorded
) -> None:
    stream.append({"n": "1", "traceparent": "nonsense"})
    consumer = make(hooks=[recorded.hooks])
    with recorded.tracers.get_tracer("program").start_as_current_span("around"):
        consumer.run(once(consumer, ValueError("poison")))
    span = recorded.exporter.get_finished_spans()[0]
    assert (span.status.status_code, list(span.links)) == (StatusCode.ERROR, [])
    assert [event.name for event in span.events] == ["exception"]


def test_the_span_of_a_batch_links_to_every_producer_once(
    stream: Stream, make: Make, recorded: Recorded
) -> None:
    for parent in (PARENT, PARENT, PARENT.replace("0af", "1af")):
        stream.append({"n": "1"}, traceparent=parent)
    consumer = make(hooks=[recorded.hooks])

    def handle(_batch: Batch) -> None:
        consumer.stop()

    consumer.run_batches(handle)
    [span] = recorded.exporter.get_finished_spans()
    assert span.attributes is not None
    assert (span.attributes["messaging.batch.message_count"], len(span.links)) == (3, 2)


def test_metrics_count_entries_and_measure_handlers(stream: Stream, make: Make, recorded: Recorded) -> None:
    stream.append({"n": "1"})
    consumer = make(hooks=[recorded.hooks])
    consumer.run(once(consumer))
    data = recorded.reader.get_metrics_data()
    assert data is not None
    metrics = data.resource_metrics[0].scope_metrics[0].metrics
    assert {metric.name for metric in metrics} == {
        "messaging.client.consumed.messages",
        "messaging.process.duration",
        "tailrace.consumer.settled",
    }


def test_an_asyncio_consumer_reports_the_same(base_url: str, stream: Stream, recorded: Recorded) -> None:
    stream.append_many([{"n": "1"}, {"n": "2"}], traceparent=PARENT)
    counts = CountingHooks()

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(
                client, stream.key, "g", "alice", wait_ms=100, hooks=[recorded.hooks, counts]
            )

            async def handle(_item: object) -> None:
                await asyncio.sleep(0)
                assert get_current_span().get_span_context().is_valid
                if counts.handled == 1:
                    consumer.stop()

            await consumer.run(handle)

    asyncio.run(program())
    assert counts.outcomes == {"acknowledged": 2}
    assert [len(span.links) for span in recorded.exporter.get_finished_spans()] == [1, 1]


def test_the_context_of_the_current_span_is_given_to_an_append(stream: Stream, recorded: Recorded) -> None:
    assert current_traceparent() is None
    with recorded.tracers.get_tracer("program").start_as_current_span("order") as span:
        entry_id = stream.append({"n": "1"}, traceparent=current_traceparent())
    fields = stream.get(entry_id)
    assert fields is not None
    assert fields["traceparent"].split("-")[1] == f"{span.get_span_context().trace_id:032x}"


def test_opentelemetry_is_imported_only_if_it_is_used_and_its_absence_is_explained() -> None:
    script = (
        "import sys; from tailrace_client import Consumer, OpenTelemetryHooks;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')]);"
        "sys.modules['opentelemetry'] = None; OpenTelemetryHooks()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n"
    assert "pip install 'tailrace-client[otel]'" in done.stderr
