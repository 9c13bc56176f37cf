"""A span for each request, and children for the time in which it waited; imported only where traces are on.

A request that brings a `traceparent` continues that trace, any other begins one. The server's own span
takes the header's place before a handler sees it, so that what is put into an entry
(`api.wire.trace_context`) continues from here. A span is named for its operation; keys, values, paths as
sent and tokens are no attributes of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from tailrace.api.problems.table import request_id_of
from tailrace.app import __version__
from tailrace.app.observability.timing import RequestTiming

_TRACEPARENT: Final = b"traceparent"
_SERVER_ERROR: Final = 500
_GROUP: Final = "opentelemetry_traces_exporter"
"""Where packages announce exporters."""

_propagator: Final = TraceContextTextMapPropagator()


class UnknownExporter(Exception):
    """No installed package has an exporter of that name."""


class Tracing:
    """Makes spans with `provider`, which decides what is sampled and where it goes."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("tailrace", __version__)

    def begin(self, scope: Scope) -> RequestSpan:
        """The span of the request in `scope`, whose `traceparent` is this span's from now on."""
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in {_TRACEPARENT, b"tracestate"}
        }
        parent = _propagator.extract(carrier, Context())
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        given: dict[str, str] = {}
        _propagator.inject(given, set_span_in_context(span, parent))
        others = [header for header in scope["headers"] if header[0] != _TRACEPARENT]
        scope["headers"] = [*others, (_TRACEPARENT, given["traceparent"].encode())]
        return RequestSpan(self, span, scope)

    def note(self, operation: str, status: int, request_id: str, begin_ns: int) -> None:
        """A request of the hot routes was answered, now; it had no `traceparent`, or it would not be one.

        `begin_ns` is of `time.perf_counter_ns`.
        """
        span = self._tracer.start_span(
            operation, Context(), SpanKind.SERVER, start_time=begin_ns + _to_epoch_ns()
        )
        describe(span, operation, status, "POST", request_id)
        span.end()

    def note_phases(self, span: Span, timing: RequestTiming) -> None:
        """Children of `span` for the phases in which it waited."""
        context = set_span_in_context(span, Context())
        to_epoch_ns = _to_epoch_ns()
        for phase in timing.phases:
            child = self._tracer.start_span(phase.name, context, start_time=phase.begin_ns + to_epoch_ns)
            child.end(phase.end_ns + to_epoch_ns)

    def close(self) -> None:
        """Send what is left; blocks."""
        self._provider.shutdown()


class RequestSpan:
    """The span of a request that is being answered."""

    def __init__(self, tracing: Tracing, span: Span, scope: Scope) -> None:
        self._tracing = tracing
        self._span = span
        self._scope = scope

    def end(self, operation: str, status: int, timing: RequestTiming) -> None:
        """It was answered."""
        span = self._span
        if span.is_recording():
            route = getattr(self._scope.get("route"), "path", None)
            if route is not None:
                span.set_attribute("http.route", route)
            describe(span, operation, status, self._scope["method"], request_id_of(self._scope))
            self._tracing.note_phases(span, timing)
        span.end()


def describe(span: Span, operation: str, status: int, method: str, request_id: str | None) -> None:
    """Name the span and say what was answered."""
    span.update_name(operation)
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.response.status_code", status)
    if request_id is not None:
        span.set_attribute("tailrace.request_id", request_id)
    if status >= _SERVER_ERROR:
        span.set_status(StatusCode.ERROR)


def _to_epoch_ns() -> int:
    """What to add to a time of `time.perf_counter_ns`."""
    return time.time_ns() - time.perf_counter_ns()


# --- from the environment ----------------------------------------------------------------------------


def tracing_to(exporter: str, environment: Mapping[str, str]) -> Tracing:
    """Spans that go to the exporter of that name, in batches. Raises `UnknownExporter`."""
    provider = TracerProvider(resource=Resource.create(_own_name(environment)))
    provider.add_span_processor(BatchSpanProcessor(_exporter(exporter, environment)))
    return Tracing(provider)


def _own_name(environment: Mapping[str, str]) -> dict[str, str]:
    """What is given here wins over the environment, so it is given only where that is silent."""
    is_named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return {} if is_named else {"service.name": "tailrace", "service.version": __version__}


def _exporter(name: str, environment: Mapping[str, str]) -> SpanExporter:
    if name == "otlp":
        is_grpc = environment.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc"
        name = "otlp_proto_grpc" if is_grpc else "otlp_proto_http"
    found = next(iter(entry_points(group=_GROUP, name=name)), None)
    if found is None:
        raise UnknownExporter(f"no installed package has an exporter {name!r}")
    exporter: SpanExporter = found.load()()
    return exporter
