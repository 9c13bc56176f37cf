"""Large requests are read in a thread, with the same results. The server serves others in the meantime."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from tailrace.api.websocket.frames import read_frame
from tailrace.api.websocket_limits import REQUESTS_PER_FRAME_MAX, ProtocolViolation
from tailrace.api.wire import turns
from tailrace.api.wire.redis_words import decode_commands
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX, Slices, off_the_loop
from tailrace.core.commands import Range
from tests.support.api_client import ApiClient
from tests.support.hot import route_of
from tests.support.websocket_client import MSGPACK, Client

LARGE = "x" * AT_ONCE_BYTES_MAX
PAIRS = [["Zg==", "/w=="]] * 20_000
JSON_PROTOCOL = "tailrace.v1.json"


def test_large_work_runs_in_a_thread_and_small_work_at_once() -> None:
    async def threads() -> list[threading.Thread]:
        sizes = (0, AT_ONCE_BYTES_MAX, AT_ONCE_BYTES_MAX + 1)
        return [await off_the_loop(size, threading.current_thread) for size in sizes]

    here = threading.main_thread()
    assert [thread is here for thread in asyncio.run(threads())] == [True, True, False]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/streams/s/entries", {"fields": {"v": LARGE}}),
        ("/v1/streams/s/entries", {"pairs": PAIRS, "encoding": "base64"}),
        ("/v1/streams/s/entries", {"fields": {"v": LARGE}, "encoding": "base64"}),
        ("/v1/streams/s/entries", {"fields": {"v": LARGE}, "id": "5"}),
        ("/v1/streams/s/entries", {"fields": {}, "trim": LARGE}),
        ("/v1/streams/s/entries:batch", {"entries": [{"fields": {"v": LARGE}}, {"pairs": PAIRS}]}),
        ("/v1/streams/s/entries:batch", {"entries": [{"fields": {"v": LARGE}}, {"fields": {"v": 1}}]}),
        ("/v1/command", ["XADD", "s", "*", "v", LARGE]),
        ("/v1/command", ["XADD", "s", "*", LARGE]),
        ("/v1/command", ["XADD", "s", "*", "v", {"base64": LARGE + "!"}]),
        ("/v1/command/pipeline", [["XADD", "s", "*", "v", LARGE], ["XADD", "s", "*", LARGE], ["XLEN", "s"]]),
        ("/v1/command/multi-exec", [["XADD", "s", "*", "v", LARGE], ["XLEN", "s"]]),
    ],
)
def test_a_large_request_is_answered_as_if_it_were_read_at_once(
    path: str, body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    for at_once in (AT_ONCE_BYTES_MAX, 1 << 30):
        monkeypatch.setattr(turns, "AT_ONCE_BYTES_MAX", at_once)
        api = ApiClient()
        response = api.post(path, body)
        answer = (
            {name: value for name, value in response.json().items() if name != "request_id"}
            if isinstance(response.json(), dict)
            else response.json()
        )
        stored = api.run(Range(b"s")).entries
        answers.append((response.status_code, answer, list(stored.ids), stored.fragments))
    assert answers[0] == answers[1]


def test_a_large_append_is_left_to_the_documented_route() -> None:
    def hot(size: int) -> bool:
        length = (b"content-length", b"%d" % size)
        headers = [(b"host", b"h"), (b"content-type", b"application/json"), length]
        return route_of(b"POST", b"/v1/streams/s/entries", headers) is not None

    assert hot(AT_ONCE_BYTES_MAX)
    assert not hot(AT_ONCE_BYTES_MAX + 1)


def test_others_are_served_while_the_long_words_of_a_pipeline_are_decoded() -> None:
    async def turns_of_others() -> int:
        raw = json.dumps([["XADD", "s", "*", "f", "x" * turns.SLICE_BYTES]] * 20).encode()
        count, reading = 0, asyncio.ensure_future(decode_commands(raw, 20, Slices()))
        while not reading.done():
            count += 1
            await asyncio.sleep(0)
        return count

    assert asyncio.run(turns_of_others()) >= 20


# --- frames --------------------------------------------------------------------------------------------

APPEND = {"id": 1, "op": "append", "key": "s", "fields": {"a": "1"}}
COMMAND = {"id": 2, "op": "command", "command": ["XLEN", "s"]}


@pytest.mark.parametrize("subprotocol", [JSON_PROTOCOL, MSGPACK])
@pytest.mark.parametrize(
    "frame",
    [
        APPEND,
        COMMAND,
        [APPEND, COMMAND, {"id": 3, "op": "ping"}, {"id": 4, "op": "nonsense"}, {"id": 5, "op": []}],
        [{**APPEND, "fields": {}}, {**COMMAND, "command": ["XADD", "s"]}, {**COMMAND, "command": []}, 7, {}],
        [
            {**APPEND, "trim": {"max_length": "x"}},
            {**APPEND, "entry_id": "x"},
            {**COMMAND, "command": ["AUTH"]},
        ],
        [],
        [COMMAND] * (REQUESTS_PER_FRAME_MAX + 1),
    ],
)
def test_a_frame_that_was_read_before_is_answered_like_any_other(frame: Any, subprotocol: str) -> None:
    answers = []
    for reads_before in (False, True):
        client = Client(subprotocol=subprotocol)
        data = client.encoded(frame)
        client.session.receive(read_frame(client.codec, data) if reads_before else data)
        answers.append(client.work())
    assert answers[0] == answers[1]


def test_a_frame_that_is_no_document_is_refused_where_it_is_read() -> None:
    with pytest.raises(ProtocolViolation):
        read_frame(Client().codec, "{nope")
