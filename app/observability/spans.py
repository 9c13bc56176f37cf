"""Creates a span per request, with child spans for waiting; imported only if tracing is enabled.

A request with a `traceparent` header continues that trace; other requests begin a new one. The server
replaces the header with its own span before a handler reads it, so the trace context stored in an entry
(`api.wire.appends`) refers to the server's span. A span has the name of its operation. Its attributes
never contain keys, values, raw paths or tokens.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
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
from tailrace.app.observability.timing import RequestTiming, TimedPhase

_TRACEPARENT: Final = b"traceparent"
_SERVER_ERROR: Final = 500
_GROUP: Final = "opentelemetry_traces_exporter"
"""The entry point group in which packages register exporters."""

_propagator: Final = TraceContextTextMapPropagator()


class UnknownExporter(Exception):
    """No installed package provides an exporter with that name."""


class Tracing:
    """Creates spans with `provider`, which samples and exports them."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("tailrace", __version__)

    def begin(self, scope: Scope) -> RequestSpan:
        """Start the span of the request in `scope`, and set `traceparent` in `scope` to this span."""
        parent = _parent_in(scope["headers"])
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        given: dict[str, str] = {}
        _propagator.inject(given, set_span_in_context(span, parent))
        others = [header for header in scope["headers"] if header[0] != _TRACEPARENT]
        scope["headers"] = [*others, (_TRACEPARENT, given["traceparent"].encode())]
        return RequestSpan(self, span, scope)

    def note(
        self,
        operation: str,
        status: int,
        method: str,
        request_id: str,
        begin_ns: int,
        headers: Iterable[tuple[bytes, bytes]] = (),
        phases: Sequence[TimedPhase] = (),
    ) -> None:
        """Record the span of a finished request on a hot route.

        `begin_ns`: its start by `time.perf_counter_ns`. `headers`: those of the request, with the trace that
        it continues. `phases`: those in which it waited. The span ends now.
        """
        span = self._tracer.start_span(
            operation, _parent_in(headers), SpanKind.SERVER, start_time=begin_ns + _to_epoch_ns()
        )
        describe(span, operation, status, method, request_id)
        self.note_phases(span, phases)
        span.end()

    def note_phases(self, span: Span, phases: Sequence[TimedPhase]) -> None:
        """Add a child span to `span` for each phase in which the request waited."""
        context = set_span_in_context(span, Context())
        to_epoch_ns = _to_epoch_ns()
        for phase in phases:
            child = self._tracer.start_span(phase.name, context, start_time=phase.begin_ns + to_epoch_ns)
            child.end(phase.end_ns + to_epoch_ns)

    def close(self) -> None:
        """Export the remaining spans. Blocks."""
        self._provider.shutdown()


class RequestSpan:
    """The span of a running request."""

    def __init__(self, tracing: Tracing, span: Span, scope: Scope) -> None:
        self._tracing = tracing
        self._span = span
        self._scope = scope

    def end(self, operation: str, status: int, timing: RequestTiming) -> None:
        """End the span after the response, with its attributes and child spans."""
        span = self._span
        if span.is_recording():
            route = getattr(self._scope.get("route"), "path", None)
            if route is not None:
                span.set_attribute("http.route", route)
            describe(span, operation, status, self._scope["method"], request_id_of(self._scope))
            self._tracing.note_phases(span, timing.phases)
        span.end()


def describe(span: Span, operation: str, status: int, method: str, request_id: str | None) -> None:
    """Set the name, attributes and status of a span."""
    span.update_name(operation)
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.response.status_code", status)
    if request_id is not None:
        span.set_attribute("tailrace.request_id", request_id)
    if status >= _SERVER_ERROR:
        span.set_status(StatusCode.ERROR)


def _parent_in(headers: Iterable[tuple[bytes, bytes]]) -> Context:
    """Return the trace context in the headers of a request, whose names are in lower case."""
    carrier = {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in headers
        if name in {_TRACEPARENT, b"tracestate"}
    }
    return _propagator.extract(carrier, Context())


def _to_epoch_ns() -> int:
    """Return the difference between Unix time and `time.perf_counter_ns`, in nanoseconds."""
    return time.time_ns() - time.perf_counter_ns()


# --- from the environment ----------------------------------------------------------------------------


def tracing_to(exporter: str, environment: Mapping[str, str]) -> Tracing:
    """Return a `Tracing` that sends spans in batches to the exporter `exporter`. Raises `UnknownExporter`."""
    provider = TracerProvider(resource=Resource.create(_own_name(environment)))
    provider.add_span_processor(BatchSpanProcessor(_exporter(exporter, environment)))
    return Tracing(provider)


def _own_name(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the service name and version, or nothing if the environment names the service.

    Attributes passed to `Resource.create` override those of the environment.
    """
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
        raise UnknownExporter(
            f"no installed package provides the exporter {name!r}: install it, or choose another"
        )
    exporter: SpanExporter = found.load()()
    return exporter
