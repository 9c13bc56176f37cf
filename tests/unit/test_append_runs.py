"""Adjacent appends, of one frame or of a frame each, are executed as one command, and answered and counted as
the same appends one by one."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tailrace.api.access.guard import Guard
from tailrace.api.access.rates import Quota
from tailrace.api.access.security import UNSECURED
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Principal
from tailrace.api.websocket.exchanges import PendingRun
from tailrace.api.websocket.frames import read_frame
from tailrace.api.websocket.inbox import Inbox
from tailrace.api.websocket_limits import (
    JOINED_FRAME_BYTES_MAX,
    MISTAKE_BYTES,
    REQUESTS_PER_FRAME_MAX,
    TURN_BYTES_MAX,
    TURN_REQUESTS_MAX,
    ProtocolViolation,
)
from tailrace.app.observability.counters import MEANINGS
from tailrace.app.store.service import EngineStore
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import (
    Append,
    Command,
    ConfigureStream,
    CreateStream,
    Range,
    SetConfig,
    SetStreamPosition,
)
from tailrace.core.effects import EntriesAppended, StreamCreated
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.keyspace import NODE_MAX_ENTRIES
from tailrace.core.limits import RETIRED_BLOCKS_PER_APPEND
from tailrace.core.replies import AppendReply, RangeReply
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import MAX_ID
from tests.support.engine_store import START_MS
from tests.support.seeds import seeds
from tests.support.websocket_client import JSON, MSGPACK, Client

FIELDS = {"rider": "Castilla"}
KEYS = ("race:france", "race:spain", "é")


def plain(request_id: Any, key: Any = "race:france", **more: Any) -> dict[str, Any]:
    return {"id": request_id, "op": "append", "key": key, "fields": FIELDS, **more}


def commands_of(client: Client, frame: str | bytes) -> list[Command]:
    """The commands of all turns of a frame, which are executed as well."""
    client.session.receive(frame)
    commands: list[Command] = []
    while turn := client.session.next_turn():
        commands += turn.commands
        list(client.session.replies(turn, client.store.run_turn(turn.commands_by_request, turn.rooms)))
    return commands


def entries_of(client: Client) -> dict[bytes, Any]:
    check(client.store.engine.keyspace)
    found = {}
    for key in client.store.engine.keyspace.streams:
        reply = client.store.run(Range(key))
        assert isinstance(reply, RangeReply)
        found[key] = list(reply.entries.ids), list(reply.entries.fragments)
    return found


def received_together(client: Client, requests: Sequence[Any]) -> list[Any]:
    """The replies to requests that arrive in a frame each before the first one is executed."""
    for request in requests:
        client.session.receive(client.encoded(request))
    return client.work()


def said(client: Client, requests: Sequence[Any], form: str) -> list[Any]:
    replies: list[Any] = received_together(client, requests) if form == "frames" else client.say(requests)
    return replies


FORMS = pytest.mark.parametrize("form", ["array", "frames"])

# --- which requests are a run ------------------------------------------------------------------------


def test_adjacent_appends_to_one_stream_are_one_command() -> None:
    client = Client()
    frame = client.encoded([plain(1), plain("two"), plain(3, "race:spain"), plain(4), plain(5)])
    commands = commands_of(client, frame)
    fragment = b'{"rider":"Castilla"}'
    assert commands == [
        Append(b"race:france", [fragment] * 2, each=True),
        Append(b"race:spain", (fragment,)),
        Append(b"race:france", [fragment] * 2, each=True),
    ]


def test_a_run_longer_than_a_turn_is_executed_in_several() -> None:
    client = Client()
    count = 2 * TURN_REQUESTS_MAX + 3
    commands = commands_of(client, client.encoded([plain(number) for number in range(count)]))
    assert [len(command.fragments) for command in commands if isinstance(command, Append)] == [
        TURN_REQUESTS_MAX,
        TURN_REQUESTS_MAX,
        3,
    ]


@pytest.mark.parametrize(
    "odd",
    [
        plain(2, trim={"max_length": 1}),
        plain(2, entry_id="*"),
        plain(2, nomkstream=True),
        plain(2, if_last_id="0-0"),
        plain(2, encoding="base64", fields={"AA==": "/w=="}),
        plain(2, encoding=None),
        plain(2, pairs=[["a", "1"]]),
        plain(2, fields={}),
        plain(2, fields={"a": 1}),
        plain(2, fields=[]),
        plain(2, fields=None),
        plain(2, key=""),
        plain(2, key=7),
        plain(2, key="k" * 513),
        plain(None),
        plain(request_id=True),
        plain(2.0),
        plain([2]),
        {"id": 2, "op": "ping"},
        {"id": 2, "op": "append"},
        {"op": "append", "key": "race:france", "fields": FIELDS},
        7,
    ],
    ids=str,
)
@FORMS
def test_appends_around_another_request_are_answered_one_by_one(form: str, odd: Any) -> None:
    together, apart = Client(), Client()
    requests = [plain(1), plain(1, fields={"b": "2"}), odd, plain(3)]
    assert said(together, requests, form) == [apart.say(request) for request in requests]
    assert entries_of(together) == entries_of(apart)


@pytest.mark.parametrize(
    "fields",
    [
        '{"a":"1","a":"2"}',
        '{"a":"1"}\n{"a":"2"}',
        '{"a":\n"1"}',
        '\n{"a":"1"}',
        '{"a":"\\u0061"}',
        '{"a":"\\ud800"}',
        '{"a":"1\\n2"}',
        '{ "a" : "1" }',
        '{"a":"1"',
    ],
)
def test_fields_written_in_another_way_are_read_as_one_by_one(fields: str) -> None:
    good = '{"id":1,"op":"append","key":"k","fields":{"a":"1"}}'
    odd = f'{{"fields":{fields},"key":"k","op":"append","id":2}}'
    apart = _outcome_of([good, odd, good], waiting=1)
    assert _outcome_of([f"[{good},{odd},{good}]"], waiting=1) == apart
    assert _outcome_of([good, odd, good], waiting=3) == apart


def _outcome_of(frames: list[str], waiting: int) -> Any:
    """All replies and entries if so many frames wait together, or None if a frame closes the connection."""
    client = Client()
    replies = []
    try:
        for start in range(0, len(frames), waiting):
            for frame in frames[start : start + waiting]:
                client.session.receive(frame)
            replies += client.work()
    except ProtocolViolation:
        return None
    return replies[0] if len(frames) == 1 else replies, entries_of(client)


@pytest.mark.parametrize("subprotocol", [JSON, MSGPACK])
@pytest.mark.parametrize("seed", seeds(10))
def test_arrays_of_appends_are_answered_as_the_same_requests_one_by_one(seed: int, subprotocol: str) -> None:
    chance = random.Random(seed)
    together, apart = Client(subprotocol=subprotocol), Client(subprotocol=subprotocol)
    for _ in range(20):
        requests = [_random_append(chance) for _ in range(chance.choice((1, 2, 5, 20, 40)))]
        if chance.random() < 0.2:
            requests.insert(chance.randrange(len(requests)), plain(1, fields={}))
        frame = together.encoded(requests)
        together.session.receive(read_frame(together.codec, frame) if chance.random() < 0.3 else frame)
        [replies] = together.work()
        assert replies == [apart.say(request) for request in requests], f"seed {seed}"
        step_ms = chance.choice((0, 0, 1, -5))
        together.store.now_ms += step_ms
        apart.store.now_ms += step_ms
    assert entries_of(together) == entries_of(apart)


def _random_append(chance: random.Random) -> dict[str, Any]:
    names = chance.choice((("a",), ("a", "b"), ("é", "\n", '"')))
    fields = {name: chance.choice(("", "1", "x" * 50, "ü\\")) for name in names}
    request_id = chance.choice((0, 7, -(1 << 63), (1 << 63) - 1, "", "seven", "\u0000é"))
    return plain(request_id, chance.choices(KEYS, (8, 2, 1))[0], fields=fields)


def test_an_array_with_too_many_appends_is_one_error() -> None:
    reply = Client().say([plain(1)] * (REQUESTS_PER_FRAME_MAX + 1))
    assert (reply["id"], reply["error"]["code"]) == (None, "LIMIT_EXCEEDED")


# --- appends of a frame each ---------------------------------------------------------------------------


def test_waiting_frames_with_an_append_to_one_stream_each_are_one_command() -> None:
    client = Client()
    for number, key in enumerate(("race:france", "race:france", "race:spain", "race:france")):
        client.session.receive(client.encoded(plain(number, key)))
    turn = client.session.next_turn()
    assert turn is not None
    fragment = b'{"rider":"Castilla"}'
    assert turn.commands == [
        Append(b"race:france", [fragment] * 2, each=True),
        Append(b"race:spain", [fragment]),
        Append(b"race:france", [fragment]),
    ]
    frames = list(client.session.replies(turn, client.store.run_turn(turn.commands_by_request, turn.rooms)))
    assert [client.decoded(frame)["id"] for frame in frames] == [0, 1, 2, 3]


def test_waiting_frames_are_executed_in_turns_of_so_many_requests_and_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tailrace.api.websocket.inbox.TURN_REQUESTS_MAX", 5)
    client = Client()
    for number in range(12):
        client.session.receive(client.encoded(plain(number)))
    lengths = []
    while turn := client.session.next_turn():
        [command] = turn.commands
        assert isinstance(command, Append)
        lengths.append(len(command.fragments))
        list(client.session.replies(turn, client.store.run_turn(turn.commands_by_request, turn.rooms)))
    assert lengths == [5, 5, 2]
    monkeypatch.setattr("tailrace.api.websocket.inbox.TURN_BYTES_MAX", 200)
    for number in range(7):
        client.session.receive(client.encoded(plain(number)))
    first = client.session.next_turn()
    assert first is not None
    assert first.requests[0].request_count == 3
    assert [turn.requests[0].request_count for turn in iter(client.session.next_turn, None)] == [3, 1]


def test_frames_that_are_no_run_take_as_many_turns_as_without_joining() -> None:
    client = Client()
    odd = {"id": 1, "op": "append", "key": "s", "fields": {"a": 1}}
    for _ in range(TURN_REQUESTS_MAX):
        client.session.receive(client.encoded(odd))
    sizes = []
    while turn := client.session.next_turn():
        sizes.append(len(turn.requests))
        assert all("error" in client.decoded(frame) for frame in client.session.replies(turn, ()))
    assert sum(sizes) == TURN_REQUESTS_MAX
    # Each one has a mistake, which counts for the bytes of its turn.
    assert max(sizes) <= TURN_BYTES_MAX // MISTAKE_BYTES
    assert not client.session.has_waiting


def test_a_large_frame_is_not_joined_with_the_appends_around_it() -> None:
    client = Client()
    large = plain(2, fields={"a": "x" * JOINED_FRAME_BYTES_MAX})
    for request in (plain(1), large, plain(3)):
        client.session.receive(client.encoded(request))
    turn = client.session.next_turn()
    assert turn is not None
    assert [request.request_count for request in turn.requests] == [1, 1, 1]


@pytest.mark.parametrize("seed", seeds(10))
def test_frames_that_wait_together_are_answered_as_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    together, apart = Client(), Client()
    for _ in range(20):
        requests = [_random_append(chance) for _ in range(chance.choice((1, 2, 5, 20, 40)))]
        for odd in chance.sample(_OTHERS, chance.choice((0, 0, 1, 3))):
            requests.insert(chance.randrange(len(requests) + 1), odd)
        replies = received_together(together, requests)
        assert replies == [apart.say(request) for request in requests], f"seed {seed}"
        step_ms = chance.choice((0, 0, 1, -5))
        together.store.now_ms += step_ms
        apart.store.now_ms += step_ms
    assert entries_of(together) == entries_of(apart)


_OTHERS: list[Any] = [
    plain(1, fields={}),
    plain(1, fields={"a": 1}),
    plain(1, trim={"max_length": 3}),
    plain(1, key=""),
    plain(None),
    {"id": 2, "op": "ping"},
    {"id": 3, "op": "command", "command": ["XLEN", "race:france"]},
    [plain(4), plain(5)],
    [plain(6), {"id": 7, "op": "ping"}],
    7,
]


# --- refusals ------------------------------------------------------------------------------------------


@FORMS
def test_when_the_ids_run_out_the_first_appends_succeed_and_the_others_fail(form: str) -> None:
    together, apart = Client(), Client()
    for client in (together, apart):
        client.ok(op="append", key="race:france", fields=FIELDS, entry_id="1-1")
        client.store.run(SetStreamPosition(b"race:france", MAX_ID - 2))
    for _ in range(2):
        requests = [plain(number) for number in range(4)]
        replies = said(together, requests, form)
        assert replies == [apart.say(request) for request in requests]
    assert {reply["error"]["code"] for reply in replies} == {"ID_EXHAUSTED"}
    assert entries_of(together) == entries_of(apart)


@FORMS
def test_a_token_that_may_not_append_to_a_stream_is_refused_there_only(form: str) -> None:
    principal = Principal("id", "name", frozenset({"append"}), (b"race:*",))
    together, apart = (Client(guard=Guard(UNSECURED, principal)) for _ in range(2))
    requests = [plain(1), plain(2), plain(3, "é"), plain(4, "é"), plain(5)]
    replies = said(together, requests, form)
    assert replies == [apart.say(request) for request in requests]
    assert ["error" in reply for reply in replies] == [False, False, True, True, False]


@FORMS
def test_each_append_of_a_run_counts_for_the_rate_and_those_above_it_are_refused(form: str) -> None:
    client = Client()
    taken = 0

    def take() -> Quota:
        nonlocal taken
        taken += 1
        return Quota(3, 1, max(3 - taken, 0), 1, None if taken <= 3 else 1)

    inbox: Inbox = client.session._inbox
    inbox._take = take
    replies = said(client, [plain(number) for number in range(5)], form)
    assert taken == 5
    assert [reply.get("error", {}).get("code") for reply in replies] == [None] * 3 + ["RATE_LIMITED"] * 2
    assert [len(ids) for ids, _ in entries_of(client).values()] == [3]


@FORMS
def test_a_closed_store_refuses_each_append_of_a_run(form: str) -> None:
    together, apart = Client(), Client()
    requests = [plain(1), plain(2)]
    for client in (together, apart):
        client.store.close(StoreUnavailable("closed"))
    assert said(together, requests, form) == [apart.say(request) for request in requests]


def test_the_requests_of_a_run_count_for_the_backlog() -> None:
    client = Client()
    frame = client.encoded([plain(number) for number in range(TURN_REQUESTS_MAX)])
    for _ in range(4):
        assert not client.session.is_behind
        client.session.receive(frame)
    behind = [client.session.is_behind]
    turn = client.session.next_turn()
    assert turn is not None
    assert isinstance(turn.requests[0], PendingRun)
    behind.append(client.session.is_behind)
    # The store executed nothing: the run waits for the next turn.
    assert list(client.session.replies(turn, [])) == []
    assert [*behind, client.session.is_behind] == [True, False, True]
    assert [len(frame) for frame in client.work()] == [TURN_REQUESTS_MAX] * 4
    assert not client.session.has_waiting


# --- counting ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["all succeed", "memory", "ids run out"])
def test_a_run_is_counted_as_its_appends_one_by_one(case: str) -> None:
    fragments = [b'{"a":"1"}', b'{"b":"2"}', b'{"c":"3"}']

    async def figures_of(commands: list[Append]) -> Any:
        store = EngineStore(Engine(), clock=lambda: START_MS)
        await store.execute(CreateStream(b"k"))
        if case == "ids run out":
            await store.execute(SetStreamPosition(b"k", MAX_ID - 2))
        store.refuse_growth(while_true=case == "memory")
        await store.execute_turn([(command,) for command in commands], [ReplyRoom()] * len(commands))
        figures = store.figures
        counts = {kind.name: kind.count for kind in figures.kinds if kind.count}
        counts.pop("several", None)
        return counts, {name: getattr(figures.counters, name) for name in MEANINGS}, figures.refusals

    together = asyncio.run(figures_of([Append(b"k", fragments, each=True)]))
    assert together == asyncio.run(figures_of([Append(b"k", (fragment,)) for fragment in fragments]))


# --- the engine ----------------------------------------------------------------------------------------


def test_a_run_has_one_effect_and_one_reply() -> None:
    outcome = Engine().execute(Append(b"k", [b'{"a":"1"}'] * 3, each=True), START_MS)
    assert [type(effect) for effect in outcome.effects] == [StreamCreated, EntriesAppended]
    assert isinstance(outcome.reply, AppendReply)
    assert len(outcome.reply.ids) == 3


def test_a_run_after_the_last_id_is_refused() -> None:
    engine = Engine()
    engine.execute(CreateStream(b"k"), START_MS)
    engine.execute(SetStreamPosition(b"k", MAX_ID), START_MS)
    with pytest.raises(StreamError, match="exhausted the last possible ID"):
        engine.execute(Append(b"k", [b'{"a":"1"}'] * 3, each=True), START_MS)


def test_a_run_removes_as_many_blocks_as_its_appends() -> None:
    lengths = []
    for is_run in (True, False):
        engine = Engine()
        engine.execute(SetConfig(((NODE_MAX_ENTRIES, 1),)), START_MS)
        engine.execute(Append(b"k", [b'{"a":"1"}'] * (2 * RETIRED_BLOCKS_PER_APPEND + 50)), START_MS)
        engine.execute(ConfigureStream(b"k", retention=RetentionRules(max_length=1)), START_MS)
        fragments = [b'{"a":"2"}'] * 2
        runs = [Append(b"k", fragments, each=True)] if is_run else [Append(b"k", (f,)) for f in fragments]
        for command in runs:
            engine.execute(command, START_MS)
        check(engine.keyspace)
        lengths.append(engine.keyspace.streams[b"k"].length)
    assert lengths == [52, 52]


def test_the_reply_to_a_run_is_that_of_the_documented_append() -> None:
    client = Client()
    raw = client.encoded([plain(7), plain("a")])
    assert isinstance(raw, str)
    client.session.receive(raw)
    turn = client.session.next_turn()
    assert turn is not None
    [frame] = client.session.replies(turn, client.store.run_turn(turn.commands_by_request, turn.rooms))
    assert frame == json.dumps(json.loads(frame), separators=(",", ":")).encode()
