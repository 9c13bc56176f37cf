"""The appends of one turn of the loop run together, and are answered and counted as if each ran alone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tailrace.api.operations import appends
from tailrace.app.observability.counters import MEANINGS
from tailrace.app.protocols.hot_turn import KEPT_BYTES_MAX, READS_AT_ONCE, SINGLE_TURNS_MAX
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.protocols.state import Answering
from tailrace.app.store.joined_appends import JOINED_MAX
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Append, Command, CreateStream, Range, Read, ReadFrom, SetStreamPosition
from tailrace.core.effects import Effect, EntriesAppended
from tailrace.core.engine import Engine
from tailrace.core.replies import AppendReply, RangeReply
from tailrace.core.stream_id import MAX_ID
from tests.support.engine_store import START_MS
from tests.support.pipelines import APPEND, HOT_GET, LATE_REFUSED, REFUSED, answers_in, post, settled
from tests.support.protocol import Transport, connected
from tests.support.seeds import seeds

OTHER = post(b"/v1/streams/other/entries", b'{"fields":{"rider":"Binda"}}')
ALONE = post(b"/v1/streams/race/entries", b'{"fields":{"a":"1"},"nomkstream":true}')
ODD = (
    *(
        post(b"/v1/streams/race/entries", body)
        for body in (
            '{"fields":{"rider":"Émile 🚲"}}'.encode(),
            b'{"fields":{"rider":"\\u0041\\n\\""}}',
            b'{"fields": {"rider": "Castilla"}}',
            b'{"fields":{"rider":"a","rider":"b"}}',
            b'{"fields":{"rider":"\xff"}}',
            b'{"fields":{"rider":"Castilla"}',
            b'{"fields":{"rider":"a"}\n{"rider":"b"}}',
            b'{"pairs":[["rider","a"],["rider","b"]]}',
            b'{"fields":{"rider":"Castilla"},"trim":{"max_length":9000,"references":"keep"}}',
        )
    ),
    post(b"/v1/streams/race/entries", b'{"fields":{"rider":"once"}}', b"idempotency-key: k"),
    post(b"/v1/streams/race/entries", b'{"fields":{"rider":"named"}}', b"x-request-id: r"),
)
"""Appends that run alone, or whose entry is decoded, and bodies that are refused."""


def keyed(key: bytes, rider: bytes = b"Castilla", stream: bytes = b"race") -> bytes:
    """Return an append with an idempotency key."""
    headers = (b"idempotency-key: " + key, b"producer-id: gate")
    return post(b"/v1/streams/%b/entries" % stream, b'{"fields":{"rider":"%b"}}' % rider, *headers)


KEYED = (
    *(keyed(b"%d" % number) for number in range(6)),
    keyed(b"1", b"another"),
    keyed(b"1", stream=b"other"),
    keyed(b"7") + APPEND + keyed(b"8") + keyed(b"7"),
    keyed(b""),
)
"""Appends with keys, some of which repeat, also with another body or to another stream."""

Connection = tuple[HttpProtocol, Transport]


class Store(EngineStore):
    """A store that notes its effects, and answers when `release` is called if it `waits`."""

    def __init__(self, *, waits: bool = False) -> None:
        super().__init__(Engine(), clock=lambda: START_MS)
        self.effects: list[Sequence[Effect]] = []
        self.is_behind = waits
        self.joined_count = 0
        self.waiting: list[Callable[[], None]] = []
        self._publisher.log = self

    def record(self, effects: Sequence[Effect]) -> None:
        self.effects.append(effects)

    def joined(self, count: int) -> None:
        self.joined_count += count

    def when_durable(self, release: Callable[[], None]) -> None:
        self.waiting.append(release)

    def fail(self, error: Any) -> None:
        raise AssertionError(error)

    @property
    def runs(self) -> list[int]:
        """How many entries each command appended."""
        return [len(e.ids) for each in self.effects for e in each if isinstance(e, EntriesAppended)]


class Receiver:
    """Keeps the answers of joined appends."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    def receive(self, requests: Sequence[Any], answer: Any) -> None:
        self.answers.append((requests, answer))

    def wait_began(self, requests: Sequence[Any]) -> None:
        raise AssertionError(requests)


async def joined(store: EngineStore, count: int, request: bytes = APPEND) -> list[Connection]:
    """Connections to one server that know the head of `request`."""
    first, transport = connected(store)
    connections: list[Connection] = [(first, transport)]
    for _ in range(count - 1):
        protocol = type(first)(first._asgi._config, first.server_state, {})
        protocol.connection_made(transport := Transport())
        connections.append((protocol, transport))
    for protocol, transport in connections:
        for _ in range(2):
            protocol.data_received(request)
            await settled(protocol, transport)
        transport.written.clear()
    first.hot.turn._single_turns = 0
    return connections


async def rest(connections: Sequence[Connection]) -> None:
    for protocol, transport in connections:
        await settled(protocol, transport)


def counts_of(store: EngineStore, protocol: HttpProtocol) -> Any:
    figures = store.figures
    requests = protocol.hot.observer._requests.answers
    return (
        {kind.name: kind.count for kind in figures.kinds if kind.count},
        {name: getattr(figures.counters, name) for name in MEANINGS},
        {kind: histogram.count for kind, histogram in requests.items()},
        protocol.server_state.total_requests,
    )


@pytest.mark.parametrize("seed", seeds(12))
def test_requests_of_one_turn_are_answered_and_counted_like_requests_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    kinds = (
        APPEND,
        APPEND * 3,
        OTHER,
        ALONE,
        REFUSED,
        LATE_REFUSED,
        APPEND + ALONE + OTHER + APPEND,
        *ODD,
        *KEYED,
    )
    weights = (9, 2, 3, 1, 1, 1, 2, *[1] * len(ODD + KEYED))
    turns = [chance.choices(kinds, weights=weights, k=5) for _ in range(12)]
    monkeypatch.setattr(appends, "UNLIKE_MAX", 2)

    async def story(*, is_together: bool) -> Any:
        store = Store()
        connections = await joined(store, 5)
        for reads in turns:
            for (protocol, transport), data in zip(connections, reads, strict=True):
                protocol.data_received(data)
                if not is_together:
                    await settled(protocol, transport)
            await rest(connections)
        reply = await store.execute(Range(b"race"))
        assert isinstance(reply, RangeReply)
        kinds, moved, requests, total = counts_of(store, connections[0][0])
        # The order of the connections decides the ids, and the length of an id.
        answers = [(a[:3], a.rpartition(b"\n")[2]) for _, t in connections for a in answers_in(t)]
        return (
            answers,
            kinds,
            moved,
            requests,
            total,
            sorted(map(bytes, filter(None, reply.entries.fragments))),
        )

    assert asyncio.run(story(is_together=True)) == asyncio.run(story(is_together=False))


def test_the_appends_of_one_turn_are_one_command_of_the_engine() -> None:
    async def story() -> tuple[list[int], int]:
        store = Store()
        connections = await joined(store, 4)
        store.effects.clear()
        for protocol, _ in connections:
            protocol.data_received(APPEND * 2)
        assert store.runs == [], "they wait for the end of the turn"
        await rest(connections)
        assert [transport.written[0].count(b"201 Created") for _, transport in connections] == [2] * 4
        return store.runs, store.joined_count

    assert asyncio.run(story()) == ([8], 7)


def test_an_append_with_a_key_is_a_command_of_its_own_in_the_order_of_the_requests() -> None:
    async def story() -> tuple[list[int], list[bytes], int]:
        store = Store()
        connections = await joined(store, 4)
        store.effects.clear()
        reads = (APPEND * 2 + keyed(b"1") + APPEND, OTHER, keyed(b"1") + APPEND, keyed(b"1", b"another"))
        for (protocol, _), data in zip(connections, reads, strict=True):
            protocol.data_received(data)
        await rest(connections)
        answers = [answer[:3] for _, transport in connections for answer in answers_in(transport)]
        return store.runs, answers, len(store.effects)

    assert asyncio.run(story()) == (
        [2, 1, 1, 1, 1],
        [b"201"] * 5 + [b"200", b"201", b"422"],
        1,
    )


def test_a_command_with_an_option_ends_the_runs_of_all_streams() -> None:
    async def story() -> list[int]:
        store = Store()
        [(protocol, transport)] = await joined(store, 1)
        for request in (OTHER, ALONE, HOT_GET):
            protocol.data_received(request)
            await settled(protocol, transport)
        protocol.data_received(APPEND)
        await settled(protocol, transport)
        store.effects.clear()
        protocol.data_received(APPEND * 3 + OTHER * 2 + APPEND + ALONE + APPEND * 2 + HOT_GET + APPEND)
        await settled(protocol, transport)
        return store.runs

    assert asyncio.run(story()) == [4, 2, 1, 2, 1]


def test_a_run_has_a_greatest_length() -> None:
    async def story() -> list[int]:
        store = Store()
        [(protocol, transport)] = await joined(store, 1)
        store.effects.clear()
        protocol.data_received(APPEND * (JOINED_MAX + 1))
        await settled(protocol, transport)
        return store.runs

    assert asyncio.run(story()) == [JOINED_MAX, 1]


def test_a_waiting_reader_gets_the_first_of_several_entries_alone() -> None:
    async def story() -> tuple[int, list[int]]:
        store = Store()
        connections = await joined(store, 3)
        store.effects.clear()
        reply = await store.execute(Range(b"race"))
        assert isinstance(reply, RangeReply)
        read = Read((ReadFrom(b"race", reply.entries.ids[-1]),), block_ms=10_000)
        reading = asyncio.ensure_future(store.execute(read))
        await asyncio.sleep(0)
        for protocol, _ in connections:
            protocol.data_received(APPEND)
        await rest(connections)
        found: Any = await reading
        return len(found.streams[0].entries.ids), store.runs

    assert asyncio.run(story()) == (1, [1, 2])


def test_a_reader_that_waits_for_another_stream_leaves_appends_together() -> None:
    async def story() -> list[int]:
        store = Store()
        connections = await joined(store, 3)
        store.effects.clear()
        read = Read((ReadFrom(b"elsewhere", 0),), block_ms=10_000)
        reading = asyncio.ensure_future(store.execute(read))
        await asyncio.sleep(0)
        for protocol, _ in connections:
            protocol.data_received(APPEND)
        await rest(connections)
        assert not reading.done()
        reading.cancel()
        return store.runs

    assert asyncio.run(story()) == [3]


@pytest.mark.parametrize("why", ["ids", "memory", "draining"])
def test_appends_that_may_be_refused_run_alone(why: str) -> None:
    async def story(*, is_together: bool) -> Any:
        store = Store()
        connections = await joined(store, 2)
        if why == "ids":
            await store.execute(SetStreamPosition(b"race", MAX_ID - 1))
        elif why == "memory":
            store.refuse_growth(while_true=True)
        else:
            store.drain()
        for protocol, transport in connections:
            protocol.data_received(APPEND)
            if not is_together:
                await settled(protocol, transport)
        await rest(connections)
        # The application echoes a request that is passed to the documented route.
        return [answers_in(transport) for _, transport in connections], store.figures.counters.appends

    together = asyncio.run(story(is_together=True))
    assert together == asyncio.run(story(is_together=False))
    assert together[1] == 4 + (why == "ids")


def test_joined_appends_wait_for_the_disk_together() -> None:
    async def story() -> None:
        store = Store(waits=True)
        store.is_behind = False
        connections = await joined(store, 3)
        store.is_behind = True
        for protocol, _ in connections:
            protocol.data_received(APPEND)
        await asyncio.sleep(0)
        assert [transport.written for _, transport in connections] == [[], [], []]
        assert [protocol.state.answering for protocol, _ in connections] == [Answering.HOT] * 3
        assert len(store.waiting) == 1
        assert all(request.submitted_ns for protocol, _ in connections for request in protocol._run._due)
        store.waiting.pop()()
        await rest(connections)
        assert all(answers_in(transport)[0].startswith(b"201") for _, transport in connections)

    asyncio.run(story())


def test_after_a_defect_each_joined_append_is_answered_500(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> list[bytes]:
        store = Store()
        connections = await joined(store, 2)

        def failing(*_: object) -> None:
            raise RuntimeError("a defect")

        monkeypatch.setattr(store, "fail", lambda _error: None)
        monkeypatch.setattr(store._engine._engine, "execute_together", failing)
        for protocol, _ in connections:
            protocol.data_received(APPEND)
        await rest(connections)
        return [answers_in(transport)[0][:3] for _, transport in connections]

    assert asyncio.run(story()) == [b"500", b"500"]


def test_a_defect_of_one_connection_ends_that_connection_only() -> None:
    async def story() -> tuple[list[int], int]:
        store = Store()
        connections = await joined(store, 6)
        (first, _), (second, _), (third, _), (fourth, _), (_, transport), (_, pipelined) = connections
        errors: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: errors.append(context))
        store.effects.clear()
        for count, (protocol, _) in zip((2, 2, 1, 1, 1, 3), connections, strict=True):
            protocol.data_received(APPEND * count)
        reads: Any = first.hot.turn._reads
        reads[2] = (*reads[2][:2], None)
        first._run.carry_out_known = second._run._end_read = None  # type: ignore[assignment, method-assign]
        third._run.carry_out_known = fourth._run.single_ended = None  # type: ignore[assignment, method-assign]
        await asyncio.sleep(0)
        assert [each.is_ended for _, each in connections] == [True, True, True, True, False, False]
        assert answers_in(transport)[0].startswith(b"201")
        assert len(answers_in(pipelined)) == 3
        return store.runs, len(errors)

    assert asyncio.run(story()) == ([7], 4)


def test_a_client_that_leaves_before_the_end_of_the_turn_stops_nothing() -> None:
    async def story() -> tuple[list[int], int]:
        store = Store()
        connections = await joined(store, 2)
        store.effects.clear()
        for protocol, _ in connections:
            protocol.data_received(APPEND)
        (left, unread), (_, transport) = connections
        left.connection_lost(None)
        assert unread.written == []
        assert transport.written, "the loss ended the turn"
        return store.runs, counts_of(store, left)[2]["xadd", 201]

    assert asyncio.run(story()) == ([2], 6)


@pytest.mark.parametrize("event", ["eof", "shutdown", "sweep", "more"])
def test_an_event_of_the_connection_comes_after_the_requests_before_it(event: str) -> None:
    async def story() -> None:
        [(protocol, transport)] = await joined(Store(), 1)
        protocol.data_received(APPEND)
        if event == "eof":
            protocol.eof_received()
        elif event == "shutdown":
            protocol.shutdown()
        elif event == "sweep":
            protocol.check_deadlines(1.0)
        else:
            protocol.data_received(APPEND)
        assert answers_in(transport)[0].startswith(b"201")
        assert transport.is_closed is (event == "shutdown")
        await asyncio.sleep(0)

    asyncio.run(story())


def test_the_end_of_a_turn_without_appends_runs_nothing() -> None:
    async def story() -> None:
        store = Store()
        store.joining.begin(receiver := Receiver())
        assert store.submit(Append(b"s", (b'{"a":"1"}',), create=False), lambda _: None) is None
        assert await store.execute(CreateStream(b"s"))
        store.joining.end()
        assert receiver.answers == []
        got: list[Any] = []
        command: Command = Append(b"s", (b'{"a":"1"}',))
        assert isinstance(store.submit(command, got.append), AppendReply)
        assert isinstance(got[0], AppendReply)

    asyncio.run(story())


def test_the_answers_of_one_turn_are_sent_together() -> None:
    async def story() -> None:
        connections = await joined(Store(), 3, HOT_GET)
        for protocol, _ in connections:
            protocol.data_received(HOT_GET)
        assert [transport.written for _, transport in connections] == [[], [], []]
        (first, transport), *others = connections
        first.data_received(REFUSED)  # something else happens on this connection
        assert [answer[:3] for answer in answers_in(transport)] == [b"200"]
        await rest(connections)
        assert [answer[:3] for answer in answers_in(transport)] == [b"200", b"422"]
        assert all([answer[:3] for answer in answers_in(each)] == [b"200"] for _, each in others)

    asyncio.run(story())


def test_an_answer_waits_no_longer_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        connections = await joined(Store(), 2, HOT_GET)
        monkeypatch.setattr("tailrace.app.protocols.hot_turn.UNSENT_NS_MAX", 0)
        for protocol, transport in connections:
            protocol.data_received(HOT_GET)
            assert transport.written

    asyncio.run(story())


@pytest.mark.parametrize("event", ["eof", "shutdown", "lost", "cut"])
def test_an_answer_that_waits_for_the_turn_is_sent_before_the_connection_ends(event: str) -> None:
    async def story() -> int:
        [(protocol, transport)] = await joined(Store(), 1, HOT_GET)
        protocol.data_received(HOT_GET)
        if event == "eof":
            protocol.eof_received()
        elif event == "shutdown":
            protocol.shutdown()
        elif event == "lost":
            protocol.connection_lost(None)
        else:
            protocol.cut()
        await asyncio.sleep(0)
        return len(transport.written)

    assert asyncio.run(story()) == (event in {"eof", "shutdown"})


def test_a_client_alone_waits_for_no_turn_after_some_turns() -> None:
    async def story() -> tuple[int, int]:
        [(protocol, transport)] = await joined(Store(), 1)
        at_once = 0
        for _ in range(SINGLE_TURNS_MAX + READS_AT_ONCE):
            transport.written.clear()
            protocol.data_received(APPEND)
            at_once += bool(transport.written)
            await settled(protocol, transport)
        # From here on it tries again whether other clients send in the same turn.
        before = at_once
        transport.written.clear()
        protocol.data_received(APPEND)
        at_once += bool(transport.written)
        await settled(protocol, transport)
        return before, at_once - before

    assert asyncio.run(story()) == (READS_AT_ONCE, 0)


def test_a_pipeline_of_a_client_alone_is_one_command_at_once() -> None:
    async def story() -> list[int]:
        store = Store()
        [(protocol, transport)] = await joined(store, 1)
        for _ in range(SINGLE_TURNS_MAX):
            protocol.data_received(APPEND)
            await settled(protocol, transport)
        store.effects.clear()
        transport.written.clear()
        protocol.data_received(APPEND * 5)
        assert transport.written[0].count(b"201 Created") == 5
        return store.runs

    assert asyncio.run(story()) == [5]


def test_a_turn_ends_early_if_its_reads_are_large() -> None:
    large = post(b"/v1/streams/race/entries", b'{"fields":{"a":"%b"}}' % (b"x" * 30_000))

    async def story() -> tuple[int, int]:
        connections = await joined(Store(), KEPT_BYTES_MAX // len(large) + 2, large)
        for protocol, _ in connections:
            protocol.data_received(large)
        at_once = sum(bool(transport.written) for _, transport in connections)
        await rest(connections)
        return len(connections) - at_once, sum(len(transport.written) for _, transport in connections)

    waiting, answered = asyncio.run(story())
    assert waiting == 1
    assert answered == KEPT_BYTES_MAX // len(large) + 2
