"""Random WebSocket frames at a running server: it does not fail, and a refused frame changes nothing.

Frames are made from good requests (`tests.fuzz.seeds`), with a few random changes each. Another seed:
`TESTS_FUZZ_SEED=n`; more of them: `TESTS_FUZZ_FRAMES=n`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.fuzz.seeds import REQUESTS
from tests.fuzz.test_seeds import SEED, mutated
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import request, wired

FRAMES: Final = int(os.environ.get("TESTS_FUZZ_FRAMES", "400"))
JSON, MSGPACK = "tailrace.v1.json", "tailrace.v1.msgpack"
CLOSE_CODES: Final = {1002, 1003, 1007, 1009}
"""The close codes for invalid frames; 1011, a failure of the server, is not one of them."""

SERVER_ERRORS: Final = range(500, 600)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("frames"), "--durability", "none") as process:
        yield process
        assert "Traceback" not in process.log_text
        assert "websocket_failed" not in process.log_text


class Talk:
    """A connection; if the server ends it because of a frame, the next one is opened."""

    def __init__(self, port: int, subprotocol: str) -> None:
        self._port = port
        self._subprotocol = Subprotocol(subprotocol)
        self._is_text = subprotocol == JSON
        codec = msgspec.json if self._is_text else msgspec.msgpack
        self.encode: Callable[[Any], bytes] = codec.encode
        self._decode: Callable[[bytes], Any] = codec.decode
        self.outcomes: Counter[str] = Counter()
        self._socket = self._opened()

    def _opened(self) -> ClientConnection:
        opening = connect(
            f"ws://127.0.0.1:{self._port}/v1/ws", subprotocols=[self._subprotocol], compression=None
        )
        socket: ClientConnection = opening.__enter__()
        socket.recv()
        return socket

    def say(self, frame: bytes) -> None:
        """Send a frame, and a ping behind it whose answer ends what came of the frame."""
        ping = self.encode({"id": "end", "op": "ping"})
        try:
            self._send(frame)
            self._send(ping)
            while not self._note(self._received()):
                pass
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else None
            assert code in CLOSE_CODES, (code, frame)
            self.outcomes[f"closed {code}"] += 1
            self._socket = self._opened()

    def _send(self, frame: bytes) -> None:
        self._socket.send(frame, text=self._is_text)

    def _received(self) -> Any:
        data = self._socket.recv(timeout=30)
        return self._decode(data.encode() if isinstance(data, str) else data)

    def _note(self, message: Any) -> bool:
        """Whether this was the end."""
        for reply in message if isinstance(message, list) else [message]:
            problem = reply.get("error") or reply.get("end")
            if problem is not None:
                assert problem["status"] not in SERVER_ERRORS, problem
                assert problem["side_effects"] == "none", problem
                self.outcomes[problem["code"]] += 1
            elif reply.get("id") == "end":
                return True
            else:
                self.outcomes["push" if "sub" in reply else "ok"] += 1
        return False

    def close(self) -> None:
        self._socket.close()


NASTY: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 1 << 53, (1 << 63) - 1, 1.5, "", "x" * 600, "0", "-", "$", ">", "*", "1-1", "9-*"),
    *("\0", "\u2028", "Żółć", [], {}, [[]], ["1-1"], ["1-1", "1-1"], [{"key": "s", "after": "0"}]),
    *({"base64": "!"}, {"entries": -1}, {"max_length": 0}, {"min_id": "x"}, {"rider": []}),
)


def varied(content: Mapping[str, Any], chance: Random) -> Mapping[str, Any]:
    """A document still: a member or two missing, of another type, of another request, or one too many."""
    changed = dict(content)
    for _ in range(chance.randint(1, 2)):
        name = chance.choice(sorted(changed))
        other = chance.choice(REQUESTS)
        match chance.randrange(4):
            case 0 if len(changed) > 1:
                del changed[name]
            case 1:
                changed[name] = chance.choice(NASTY)
            case 2:
                changed |= {key: value for key, value in other.items() if chance.random() < 0.5}
            case _:
                changed[chance.choice(("x", "sub", "encoding", "credit"))] = chance.choice(NASTY)
    return changed


def random_frame(talk: Talk, chance: Random) -> bytes:
    content = chance.choice(REQUESTS)
    if chance.random() < 0.2:
        return mutated(talk.encode(content), chance)
    if chance.random() < 0.2:
        return talk.encode([varied(each, chance) for each in chance.choices(REQUESTS, k=3)])
    return talk.encode(varied(content, chance))


def whole_state(port: int) -> bytes:
    """Everything that a client could ask for of the stream that refused frames are about."""
    with wired(port) as wire:
        return wire.ask(request("GET", "/v1/streams/own?full=true")).body


@pytest.mark.parametrize("subprotocol", [JSON, MSGPACK])
def test_random_frames_are_answered_or_end_their_connection(target: ServerProcess, subprotocol: str) -> None:
    chance = Random(f"{subprotocol} {SEED}")
    talk = Talk(target.port, subprotocol)
    for _ in range(FRAMES):
        frame = random_frame(talk, chance)
        talk.say(frame.decode("utf-8", "replace").encode() if subprotocol == JSON else frame)
    talk.close()
    print(f"{subprotocol}: {FRAMES} frames, seed {SEED}: {dict(talk.outcomes)}")  # noqa: T201 - the figures
    assert talk.outcomes["ok"]
    assert sum(talk.outcomes.values()) > FRAMES / 2


def test_a_refused_frame_changes_nothing(target: ServerProcess) -> None:
    chance = Random(SEED)
    with wired(target.port) as wire:
        wire.ask(request("POST", "/v1/streams/own/entries", b'{"fields":{"a":"b"}}'))
        wire.ask(request("PUT", "/v1/streams/own/groups/g", b'{"after":"0"}'))
    refused = [
        {"id": 1, "op": "append", "key": "own", "fields": {"a": 1}},
        {"id": 1, "op": "append", "key": "own", "fields": {}, "trim": {"max_length": 0}},
        {"id": 1, "op": "append", "key": "own", "fields": {"a": "b"}, "entry_id": "0-0"},
        {"id": 1, "op": "ack", "key": "own", "group": "g", "ids": ["1-1", "x"]},
        {"id": 1, "op": "nack", "key": "own", "group": "none", "ids": ["1-1"], "mode": "fail"},
        {"id": 1, "op": "command", "command": ["XTRIM", "own", "MAXLEN"]},
        {"id": 1, "op": "command", "command": ["XADD", "own", "*", "odd"]},
        {"id": 1, "op": "consume", "group": "none", "consumer": "c", "streams": [{"key": "own"}]},
        {"op": "append", "key": "own", "fields": {"a": "b"}},
    ]
    before = whole_state(target.port)
    assert json.loads(before)["length"] == 1
    with connect(
        f"ws://127.0.0.1:{target.port}/v1/ws", subprotocols=[Subprotocol(JSON)], compression=None
    ) as socket:
        socket.recv()
        for content in chance.sample(refused, len(refused)):
            socket.send(json.dumps(content))
            assert "error" in json.loads(socket.recv()), content
    assert whole_state(target.port) == before


def test_frames_that_are_no_frames_end_their_connection(target: ServerProcess) -> None:
    chance = Random(SEED)
    for _ in range(50):
        with connect(f"ws://127.0.0.1:{target.port}/v1/ws", compression=None) as socket:
            socket.recv()
            socket.socket.sendall(chance.randbytes(chance.randint(1, 200)))
            socket.socket.shutdown(1)
            with suppress(ConnectionClosed):
                for _ in iter(lambda: socket.recv(timeout=30), None):
                    pass
