"""The checks, the records and the ends of appends that run together, on several connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tailrace.api.access.security import Security
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal, Unauthenticated
from tailrace.api.server_limits import ServerLimits
from tailrace.app.main import create_hot_routes
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.slow_log import SlowLog, shape_of
from tailrace.app.observability.spans import Tracing
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import HttpProtocol, http_protocol
from tailrace.app.protocols.state import Answering
from tailrace.app.store.service import EngineStore
from tailrace.app.token_buckets import TokenBuckets
from tailrace.core.commands import Append
from tailrace.core.engine import Engine
from tests.support.pipelines import APPEND, ENTRY, PatientStore, answers_in, post, settled
from tests.support.protocol import Transport, connected

Connection = tuple[HttpProtocol, Transport]
RIDER = Principal("r", "rider", frozenset({"append"}), (b"race",))
READER = Principal("s", "reader", frozenset({"read"}), (b"*",))
PATH = b"/v1/streams/race/entries"


class Tokens:
    """An `Authenticator` whose tokens are names. It keeps the headers that it was asked for."""

    def __init__(self) -> None:
        self.principals = {b"rider": RIDER, b"reader": READER}
        self.asked: list[bytes | None] = []

    def authenticate(self, authorization: bytes | None) -> Principal:
        self.asked.append(authorization)
        if authorization in self.principals:
            return self.principals[authorization]
        raise Unauthenticated("unknown", is_given=authorization is not None)

    def require_standing(self, _principal: Principal) -> None:
        raise AssertionError("nothing waits here")

    def watch(self, _principal: Principal, _on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        raise AssertionError("nothing waits here")


class AloneStore:
    """A store that runs no appends together."""

    joining = None

    def __init__(self) -> None:
        self._store = EngineStore(Engine())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def several(
    store: EngineStore, count: int, security: Security | None = None, limits: ServerLimits | None = None
) -> list[Connection]:
    """Connections to one server."""
    first, transport = connected(store)
    protocol_class: Any = type(first)
    if security is not None or limits is not None:
        sources = Sources(store, None, Connections(ServerLimits()))
        rates = TokenBuckets(limits or ServerLimits(), lambda: 1.0)
        hot = create_hot_routes(sources, rates, security or Security(Tokens(), checks_host=False))
        protocol_class = http_protocol(sources.connections, hot)
    made = []
    for _ in range(count):
        protocol = protocol_class(first._asgi._config, first.server_state, {})
        protocol.connection_made(transport := Transport())
        made.append((protocol, transport))
    return made


async def turn(connections: list[Connection], *requests: bytes) -> list[bytes]:
    """Send `requests`, one on each connection, in one turn of the loop. Return the answers."""
    for (protocol, transport), request in zip(connections, requests, strict=True):
        transport.written.clear()
        protocol.data_received(request)
    for protocol, transport in connections:
        await settled(protocol, transport)
    return [answer for _, transport in connections for answer in answers_in(transport)]


async def known(connections: list[Connection], *requests: bytes) -> None:
    """Let each connection know the head of its request."""
    for _ in range(2):
        await turn(connections, *requests)
    connections[0][0].hot.turn._single_turns = 0


def statuses(answers: list[bytes]) -> list[bytes]:
    return [answer[:3] for answer in answers]


def test_the_right_of_a_client_to_a_stream_is_checked_once_in_a_turn() -> None:
    async def story() -> list[bytes | None]:
        tokens = Tokens()
        connections = several(EngineStore(Engine()), 4, Security(tokens))
        one = post(PATH, ENTRY, b"authorization: rider")
        other = post(PATH, ENTRY.replace(b"Castilla", b"Coppi"), b"authorization: rider")
        requests = (one, other, one, other)
        await known(connections, *requests)
        tokens.asked.clear()
        assert statuses(await turn(connections, *requests)) == [b"201"] * 4
        return tokens.asked

    assert asyncio.run(story()) == [b"rider"]


def test_a_token_without_the_right_is_refused_between_others_that_have_it() -> None:
    async def story() -> tuple[list[bytes], int]:
        store = EngineStore(Engine())
        connections = several(store, 4, Security(Tokens(), checks_host=False))
        allowed = post(PATH, ENTRY, b"authorization: rider")
        reader = post(PATH, ENTRY, b"authorization: reader")
        elsewhere = post(b"/v1/streams/other/entries", ENTRY, b"authorization: rider")
        requests = (allowed, reader, elsewhere, allowed)
        await known(connections, *requests)
        before = store.figures.counters.appends
        answers = statuses(await turn(connections, *requests))
        return answers, store.figures.counters.appends - before

    assert asyncio.run(story()) == ([b"201", b"403", b"403", b"201"], 2)


def test_a_token_that_was_revoked_is_refused_in_the_next_turn() -> None:
    async def story() -> list[list[bytes]]:
        tokens = Tokens()
        connections = several(EngineStore(Engine()), 2, Security(tokens))
        requests = [post(PATH, ENTRY, b"authorization: rider")] * 2
        await known(connections, *requests)
        before = statuses(await turn(connections, *requests))
        del tokens.principals[b"rider"]
        # The application echoes what is passed to the documented route.
        return [before, statuses(await turn(connections, *requests))]

    assert asyncio.run(story()) == [[b"201"] * 2, [b"200"] * 2]


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
def test_requests_that_are_counted_run_together_and_each_answer_has_its_quota(store_class: Any) -> None:
    async def story() -> tuple[list[bytes], list[bytes]]:
        store = store_class(Engine())
        tokens = Tokens()
        tokens.principals[b"local"] = ANONYMOUS_LOCAL
        security = Security(tokens, checks_host=False)
        connections = several(store, 4, security, ServerLimits(requests_per_s=11))
        requests = [post(PATH, ENTRY, b"authorization: local")] * 4
        await known(connections, *requests)
        joined: list[int] = []
        store._publisher.log.joined = joined.append
        answers = await turn(connections, *requests)
        assert joined == [2]
        left = [line for answer in answers for line in answer.split(b"\n") if line.startswith(b"ratelimit:")]
        return statuses(answers), left

    answers, left = asyncio.run(story())
    assert answers == [b"201", b"201", b"201", b"200"], "the last one goes to the documented route"
    assert left == [b'ratelimit: "requests";r=%d;t=1' % count for count in (2, 1, 0)]


def test_a_slow_append_of_a_run_is_recorded_with_its_own_command() -> None:
    async def story() -> list[Any]:
        store = EngineStore(Engine(), slow_log=(slow := SlowLog(0)))
        connections = several(store, 2)
        long = post(PATH, ENTRY.replace(b"Castilla", b"Castellano"))
        await known(connections, APPEND, long)
        slow.clear()
        await turn(connections, APPEND, long)
        return [entry.commands for entry in reversed(slow.latest(9))]

    shapes = [
        [shape_of(Append(b"race", (b'{"rider":"%b"}' % name,)))] for name in (b"Castilla", b"Castellano")
    ]
    assert [list(commands) for commands in asyncio.run(story())] == shapes


def test_a_slow_request_that_is_refused_before_it_runs_is_recorded_without_a_command() -> None:
    async def story() -> list[tuple[str, int, float]]:
        store = EngineStore(Engine(), slow_log=(slow := SlowLog(0)))
        connections = several(store, 1, Security(Tokens(), checks_host=False))
        denied = post(PATH, ENTRY, b"authorization: reader")
        await turn(connections, post(PATH, b'{"fields":{"rider":1}}', b"authorization: rider"))
        await turn(connections, denied)
        return [(entry.operation, entry.command_count, entry.engine_ms) for entry in slow.latest(9)]

    assert asyncio.run(story()) == [("xadd", 0, 0), ("xadd", 0, 0)]


def test_each_append_of_a_run_has_a_span_and_a_line_in_the_access_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> tuple[list[Any], list[Any], list[bytes]]:
        exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        connections = several(EngineStore(Engine()), 3)
        connections[0][0].hot.observer._tracing = Tracing(provider)
        await known(connections, *[APPEND] * 3)
        exporter.clear()
        with caplog.at_level(logging.INFO, logger="tailrace.access"):
            caplog.clear()
            await turn(connections, *[APPEND] * 3)
        ids = [transport.written[0].split(b"x-request-id: ")[1][:32] for _, transport in connections]
        return list(exporter.get_finished_spans()), caplog.records[:], ids

    spans, records, ids = asyncio.run(story())
    assert len(set(ids)) == 3
    assert [span.attributes["tailrace.request_id"].encode() for span in spans] == ids
    assert [record.fields["request_id"].encode() for record in records] == ids
    assert {record.fields["status"] for record in records} == {201}


def test_while_a_run_waits_for_the_disk_its_connections_can_end() -> None:
    """One client leaves, one ends its side, and the server ends one connection after its answer."""

    async def story() -> None:
        store = PatientStore(Engine())
        connections = several(store, 4)
        await known(connections, *[APPEND] * 4)
        for protocol, transport in connections:
            transport.written.clear()
            protocol.data_received(APPEND)
        connections[0][0].hot.turn.end()
        assert {protocol.state.answering for protocol, _ in connections} == {Answering.HOT}
        (gone, unread), (half, last), (stopped, closed), (other, kept) = connections
        gone.connection_lost(None)
        assert half.eof_received()
        stopped.shutdown()
        for _ in range(3):
            await asyncio.sleep(0)
        assert unread.written == []
        assert [b"connection: close" in answers_in(each)[0] for each in (last, closed, kept)] == [
            True,
            True,
            False,
        ]
        assert [each.is_closed for each in (last, closed, kept)] == [True, True, False]
        other.data_received(APPEND)
        await settled(other, kept)
        assert statuses(answers_in(kept)) == [b"201"] * 2
        counts = other.hot.observer._requests.answers
        assert counts["xadd", 201].count == 8 + 4 + 1

    asyncio.run(story())


def test_a_store_may_run_every_append_alone() -> None:
    async def story() -> tuple[list[bytes], int]:
        store: Any = AloneStore()
        connections = several(store, 3)
        await known(connections, APPEND, APPEND * 2, APPEND)
        before = store.figures.counters.appends
        answers = statuses(await turn(connections, APPEND, APPEND * 2, APPEND))
        return answers, store.figures.counters.appends - before

    assert asyncio.run(story()) == ([b"201"] * 4, 4)


@pytest.mark.parametrize("size", [1, 3])
def test_after_a_defect_of_the_answers_each_request_of_a_run_is_answered_500(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> tuple[list[bytes], int]:
        store = EngineStore(Engine())
        connections = several(store, 2)
        await known(connections, APPEND, APPEND * size)
        before = store.figures.counters.appends
        answers = connections[0][0].hot._joined._answers
        monkeypatch.setattr(answers, "give", None)
        return statuses(
            await turn(connections, APPEND, APPEND * size)
        ), store.figures.counters.appends - before

    assert asyncio.run(story()) == ([b"500"] * (1 + size), 1 + size)


@pytest.mark.parametrize("raw", [APPEND.replace(b"1.1", b"1.0"), post(PATH, ENTRY, b"connection: close")])
def test_a_request_that_ends_its_connection_ends_no_other(raw: bytes) -> None:
    async def story() -> list[bool]:
        connections = several(EngineStore(Engine()), 3)
        await known(connections, *[APPEND] * 3)
        answers = statuses(await turn(connections, APPEND, raw, APPEND))
        assert answers == [b"201", b"200", b"201"], "the application echoes the one that is not hot"
        return [transport.is_closed for _, transport in connections]

    assert asyncio.run(story()) == [False, True, False]


def test_a_connection_that_ends_in_the_turn_of_its_append_leaves_no_trace_in_the_turn() -> None:
    async def story() -> tuple[list[bytes], int, bool]:
        store = EngineStore(Engine())
        connections = several(store, 3)
        await known(connections, *[APPEND] * 3)
        before = store.figures.counters.appends
        for protocol, transport in connections:
            transport.written.clear()
            protocol.data_received(APPEND)
        connections[1][0].connection_lost(ConnectionResetError())
        left = connections[1][0]
        written = [transport.written for _, transport in connections]
        assert written[1] == []
        hot = left.hot
        is_empty = not (hot.turn._reads or hot._joined._checked or store.joining.count or left._run._due)
        return (
            [each[0][9:12] for each in (written[0], written[2])],
            store.figures.counters.appends - before,
            is_empty,
        )

    assert asyncio.run(story()) == ([b"201", b"201"], 3, True)
