"""The cases of msgpack-test-suite, from npm, as parts of requests over the WebSocket.

Each case is a value with all its encodings. Every request is valid MessagePack, so it gets a reply, alone
and in an array, and where the value is allowed, it arrives.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tests.support.third_party import package_file
from tests.support.websocket_client import MSGPACK, Client

FIXTURE: Final = "msgpack-test-suite/dist/msgpack-test-suite.json"
KIND_WITH_VALUE: Final = ("binary", "string", "number", "bignum")
TEXTS: Final = ("string", "binary")

PARTS: Final = {
    "id": b"\x82\xa2op\xa4ping\xa2id%b",
    "op": b"\x82\xa2id\x01\xa2op%b",
    "key": b"\x84\xa2id\x01\xa2op\xa6append\xa6fields\x81\xa1a\xa1b\xa3key%b",
    "name": b"\x84\xa2id\x01\xa2op\xa6append\xa3key\xa1m\xa6fields\x81%b\xa1b",
    "value": b"\x84\xa2id\x01\xa2op\xa6append\xa3key\xa1m\xa6fields\x81\xa1a%b",
    "pair": b"\x84\xa2id\x01\xa2op\xa6append\xa3key\xa1m\xa5pairs\x91\x92\xa1a%b",
    "trim": b"\x85\xa2id\x01\xa2op\xa6append\xa3key\xa1m\xa6fields\x81\xa1a\xa1b\xa4trim\x81\xaamax_length%b",
    "word": b"\x83\xa2id\x01\xa2op\xa7command\xa7command\x92\xa4ECHO%b",
    "ids": b"\x85\xa2id\x01\xa2op\xa3ack\xa3key\xa1m\xa5group\xa1g\xa3ids\x91%b",
    "sub": b"\x83\xa2id\x01\xa2op\xabunsubscribe\xa3sub%b",
    "another member": b"\x83\xa2id\x01\xa2op\xa4ping\xa1x%b",
    "name of a member": b"\x83\xa2id\x01\xa2op\xa4ping%b\x01",
    "frame": b"%b",
}


def encodings() -> list[tuple[str, Any, bytes]]:
    """Return the kind and the value of each case, and one of its encodings."""
    found = []
    for cases in msgspec.json.decode(package_file(FIXTURE).read_bytes()).values():
        for case in cases:
            kind = next(name for name in reversed(case) if name != "msgpack")
            value = bytes.fromhex(case[kind].replace("-", "")) if kind == "binary" else case[kind]
            found += [(kind, value, bytes.fromhex(each.replace("-", ""))) for each in case["msgpack"]]
    return found


def replies_to(client: Client, request: bytes) -> list[Any]:
    """Return the replies to a request alone and to an array of it."""
    frames = client.say_frame(request) + client.say_frame(b"\x91" + request)
    return [reply for frame in frames for reply in (frame if isinstance(frame, list) else [frame])]


def expected(kind: str, value: Any, encoding: bytes) -> object:
    """Return what `ECHO` replies to a word; None if the word is refused."""
    is_float = encoding[0] in (0xCA, 0xCB)
    if kind not in KIND_WITH_VALUE or is_float:
        return None
    if kind != "binary":
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def test_every_value_gets_a_reply_wherever_it_is_and_arrives_where_it_is_allowed() -> None:
    client = Client(subprotocol=MSGPACK)
    wrong = []
    cases = encodings()
    for kind, value, encoding in cases:
        for part, template in PARTS.items():
            for reply in replies_to(client, template % encoding):
                error = reply.get("error", {})
                if not ("ok" in reply or 400 <= error["status"] < 500):
                    wrong.append((part, kind, value, reply))
                if part == "word" and reply.get("ok", {}).get("result") != expected(kind, value, encoding):
                    wrong.append((part, kind, value, reply))
                if part in ("name", "value", "pair") and ("ok" in reply) != (kind in TEXTS):
                    wrong.append((part, kind, value, reply))
    assert wrong == []
    assert len(cases) == 233
