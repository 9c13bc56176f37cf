"""Spans of requests and of their waits, and the cases without spans."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tailrace.api.application import create_api
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.spans import Tracing
from tailrace.app.observability.timing import WAIT
from tailrace.app.observability.tracing import CannotTrace, exporter_named_in, tracing_from
from tailrace.app.request_observer import RequestObserver
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.pipelines import post, settled
from tests.support.protocol import connected
from tests.support.server_process import running_server

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"
CONTEXT = {"traceparent": f"00-{TRACE_ID}-{SPAN_ID}-01"}
ENTRY = {"fields": {"rider": "Castilla"}}
ENTRIES = "/v1/streams/s/entries"
EXPORTED_WITHIN_S = 15


class Traced:
    """The API in process, and the spans that it made."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracing = Tracing(provider)
        store = EngineStore(Engine())
        self._app = RequestObserver(create_api(store), Sources(store), self.tracing)

    def send(self, *requests: httpx.Request) -> list[httpx.Response]:
        """All at once."""
        return asyncio.run(self._send(requests))

    async def _send(self, requests: tuple[httpx.Request, ...]) -> list[httpx.Response]:
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport) as client:
            return await asyncio.gather(*map(client.send, requests))

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        return next(span for span in self.spans if span.name == name)


@pytest.fixture
def traced() -> Traced:
    return Traced()


def request(method: str, path: str, **options: object) -> httpx.Request:
    return httpx.Request(method, f"http://tailrace{path}", **options)  # type: ignore[arg-type]


def span_id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def test_a_request_has_a_span_named_for_its_operation(traced: Traced) -> None:
    traced.send(request("POST", ENTRIES, json=ENTRY, headers={"x-request-id": "r-1"}))
    (span,) = traced.spans
    assert span.name == "xadd"
    assert span.parent is None
    assert dict(span.attributes or {}) == {
        "http.request.method": "POST",
        "http.response.status_code": 201,
        "http.route": "/v1/streams/{key}/entries",
        "tailrace.request_id": "r-1",
    }


def test_a_request_with_a_context_continues_that_trace(traced: Traced) -> None:
    traced.send(request("GET", "/v1/limits", headers=CONTEXT))
    (span,) = traced.spans
    assert span.context is not None
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE_ID, SPAN_ID)


def test_an_entry_carries_the_server_s_span_and_not_the_producer_s(traced: Traced) -> None:
    headers = {**CONTEXT, "Tailrace-Trace": "entry"}
    traced.send(request("POST", ENTRIES, json=ENTRY, headers=headers))
    (answer,) = traced.send(request("GET", ENTRIES))
    carried = answer.json()["entries"][0]["fields"]["traceparent"]
    assert carried == f"00-{TRACE_ID}-{span_id_of(traced.named('xadd')):016x}-01"


def test_an_entry_of_a_producer_without_a_trace_carries_the_one_that_the_server_began(traced: Traced) -> None:
    traced.send(request("POST", ENTRIES, json=ENTRY, headers={"Tailrace-Trace": "entry"}))
    (answer,) = traced.send(request("GET", ENTRIES))
    carried = answer.json()["entries"][0]["fields"]["traceparent"]
    assert f"{span_id_of(traced.named('xadd')):016x}" in carried


def assert_within(wait: ReadableSpan, whole: ReadableSpan) -> None:
    """`wait` is a child of `whole`, and has a duration."""
    assert wait.parent is not None
    assert wait.parent.span_id == span_id_of(whole)
    assert wait.start_time is not None
    assert wait.end_time is not None
    assert wait.end_time > wait.start_time


def test_what_a_read_waits_is_a_span_within_its_own(traced: Traced) -> None:
    read = request("GET", f"{ENTRIES}?after=0&wait_ms=20")
    traced.send(read)
    assert_within(traced.named(WAIT), traced.named("xrange"))


def test_what_a_hot_read_waits_is_a_span_within_its_own(traced: Traced) -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.hot.observer._tracing = traced.tracing
        protocol.data_received(post(b"/v1/read", b'{"streams":[{"key":"s","after":"$"}],"wait_ms":20}'))
        await settled(protocol, transport)

    asyncio.run(story())
    assert_within(traced.named(WAIT), traced.named("xread"))


def test_a_hot_request_continues_the_trace_of_its_client(traced: Traced) -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.hot.observer._tracing = traced.tracing
        line = b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        protocol.data_received(post(b"/v1/streams/s/entries", b'{"fields":{"a":"1"}}', line))
        await settled(protocol, transport)

    asyncio.run(story())
    span = traced.named("xadd")
    assert span.parent is not None
    assert (span.context.trace_id, span.parent.span_id) == (
        0x0AF7651916CD43DD8448EB211C80319C,
        0xB7AD6B7169203331,
    )


def test_a_refusal_is_no_failure_of_the_span_and_a_503_is(traced: Traced) -> None:
    traced.send(request("GET", "/v1/streams/none"))
    assert traced.named("xinfo_stream").status.status_code is StatusCode.UNSET
    traced.tracing.note("xadd", 503, "POST", "r", 0)
    assert traced.named("xadd").status.status_code is StatusCode.ERROR


@pytest.mark.parametrize(
    ("environment", "exporter"),
    [
        ({}, None),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, None),
    ],
)
def test_traces_are_on_where_the_environment_names_an_exporter(
    environment: dict[str, str], exporter: str | None
) -> None:
    assert exporter_named_in(environment) == exporter


def test_nothing_is_made_where_nothing_is_configured() -> None:
    assert tracing_from({}) is None


def test_an_exporter_that_is_not_installed_is_named() -> None:
    with pytest.raises(
        CannotTrace, match="OTEL_TRACES_EXPORTER: no installed package provides the exporter 'smoke'"
    ):
        tracing_from({"OTEL_TRACES_EXPORTER": "smoke"})


# --- as a process ------------------------------------------------------------------------------------


class Collector:
    """Takes spans over OTLP; `arrived` is set when one of the wanted name came."""

    def __init__(self, wanted: str) -> None:
        self.arrived = threading.Event()
        self.names: list[str] = []
        self.services: set[str] = set()
        self._wanted = wanted

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            attributes = {each.key: each.value.string_value for each in resource.resource.attributes}
            self.services.add(attributes["service.name"])
            self.names += [span.name for scope in resource.scope_spans for span in scope.spans]
        if self._wanted in self.names:
            self.arrived.set()


@contextmanager
def collecting(wanted: str) -> Iterator[tuple[Collector, str]]:
    collector = Collector(wanted)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector, f"http://127.0.0.1:{listener.server_port}"
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


def test_a_server_sends_spans_of_hot_and_other_routes_to_where_its_environment_says(tmp_path: Path) -> None:
    with collecting("xlen") as (collector, endpoint):
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_SCHEDULE_DELAY": "50"}
        with running_server(tmp_path, environment=environment) as server:
            httpx.post(f"{server.base_url}{ENTRIES}", json=ENTRY)
            httpx.post(f"{server.base_url}{ENTRIES}", json=ENTRY, headers=CONTEXT)
            httpx.get(f"{server.base_url}/v1/streams/s/length")
            assert collector.arrived.wait(EXPORTED_WITHIN_S)
    assert collector.services == {"tailrace"}
    assert sorted(collector.names) == ["commit", "commit", "xadd", "xadd", "xlen"]


def test_a_server_whose_exporter_is_missing_does_not_start(tmp_path: Path) -> None:
    environment = {"OTEL_TRACES_EXPORTER": "smoke"}
    with (
        pytest.raises(AssertionError, match="OTEL_TRACES_EXPORTER"),
        running_server(tmp_path, environment=environment),
    ):
        pass
