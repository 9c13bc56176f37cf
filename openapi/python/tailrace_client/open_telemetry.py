"""Hooks that report a consumer to OpenTelemetry: spans and metrics, by its conventions for messaging.

The package `opentelemetry-api` is imported when the first hooks are created, and nowhere else. Without an SDK
that the program sets up, the API records nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import Work
from tailrace_client.hooks import ConsumerHooks, HandledItem, Outcome

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Link, TracerProvider

TRACEPARENT: Final = "traceparent"
"""The field with the context of the producer; `append(traceparent=...)` adds it."""

_SCOPE: Final = "tailrace_client"


def current_traceparent() -> str | None:
    """Return the W3C trace context of the current span, for `append(traceparent=...)`; None without one."""
    carrier: dict[str, str] = {}
    _api("trace.propagation.tracecontext").TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(TRACEPARENT)


class OpenTelemetryHooks(ConsumerHooks):
    """A span for each call of the handler, and metrics.

    The span `process <stream>` has the kind CONSUMER and a link to the producer of each entry that has a
    field `traceparent`. It is the current span while the handler runs. If the handler raises, the span has
    the error. Keys of streams, names of groups and ids are attributes; fields never are.

    Metrics: `messaging.client.consumed.messages` (entries read), `messaging.process.duration` (seconds of
    one handler call) and `tailrace.consumer.settled` (entries by `tailrace.outcome`).

    `tracer_provider`, `meter_provider`: the global ones unless given. Raises `ImportError` if the package
    `opentelemetry-api` is missing.
    """

    def __init__(
        self, *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        self._trace = _api("trace")
        self._propagator = _api("trace.propagation.tracecontext").TraceContextTextMapPropagator()
        self._tracer = self._trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = _api("metrics").get_meter(_SCOPE, meter_provider=meter_provider)
        self._consumed = meter.create_counter("messaging.client.consumed.messages", unit="{message}")
        self._duration = meter.create_histogram("messaging.process.duration", unit="s")
        self._settled = meter.create_counter("tailrace.consumer.settled", unit="{message}")

    def received(self, consumer: ConsumerOptions, stream: str, count: int) -> None:
        """Count received entries."""
        self._consumed.add(count, _attributes(consumer, stream))

    def settled(self, consumer: ConsumerOptions, items: Sequence[Work], outcome: Outcome) -> None:
        """Count settled entries."""
        for stream in sorted({item.stream for item in items}):
            count = sum(item.stream == stream for item in items)
            self._settled.add(count, {**_attributes(consumer, stream), "tailrace.outcome": outcome})

    def handling(
        self, consumer: ConsumerOptions, items: Sequence[HandledItem]
    ) -> AbstractContextManager[object]:
        """Return the span of one call of the handler."""
        return self._span(consumer, items)

    @contextmanager
    def _span(self, consumer: ConsumerOptions, items: Sequence[HandledItem]) -> Iterator[None]:
        streams = " ".join(sorted({item.stream for item in items}))
        attributes = _attributes(consumer, streams)
        detail: dict[str, Any] = {"messaging.batch.message_count": len(items)}
        if len(items) == 1:
            detail = {"messaging.message.id": items[0].id, "tailrace.deliveries": items[0].deliveries}
        began = time.perf_counter()
        try:
            with self._tracer.start_as_current_span(
                f"process {streams}",
                kind=self._trace.SpanKind.CONSUMER,
                links=self._links(items),
                attributes={**attributes, **detail, "messaging.consumer.name": consumer.consumer},
            ):
                yield
        finally:
            self._duration.record(time.perf_counter() - began, attributes)

    def _links(self, items: Sequence[HandledItem]) -> list[Link]:
        """Return a link for each producer. A `traceparent` that is not well formed is ignored."""
        links = {}
        for item in items:
            if isinstance(value := item.fields.get(TRACEPARENT), str):
                context = self._trace.get_current_span(self._propagator.extract({TRACEPARENT: value}, _EMPTY))
                if context.get_span_context().is_valid:
                    links[value] = self._trace.Link(context.get_span_context())
        return list(links.values())


_EMPTY: Final[Any] = {}
"""A context without a current span: a field without a valid context must not link to the current span."""


def _attributes(consumer: ConsumerOptions, stream: str) -> dict[str, Any]:
    return {
        "messaging.system": "tailrace",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": stream,
        "messaging.consumer.group.name": consumer.group,
    }


def _api(module: str) -> Any:
    """Return a module of `opentelemetry-api`."""
    try:
        return import_module(f"opentelemetry.{module}")
    except ImportError as error:
        raise ImportError(
            "the package opentelemetry-api is missing; install it with pip install 'tailrace-client[otel]'"
        ) from error
