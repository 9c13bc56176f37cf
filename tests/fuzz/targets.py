"""The targets of fuzzing: each decoder of client input, as a function of some bytes.

A target returns, whatever it is given. What its part may raise by contract (a refusal) it catches; anything
else is a find, and so is a broken invariant after it. A find becomes a seed (`tests.fuzz.seeds`).
It knows neither who makes the bytes (`tests.fuzz.run` for long, `test_seeds.py` in every test run) nor why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tailrace.api.follow import sse
from tailrace.api.operations import appends, pending, reads
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket_limits import ProtocolViolation
from tailrace.api.wire.appends import no_idempotency
from tailrace.api.wire.compression import Unpacking, encoding_of
from tailrace.api.wire.ndjson import ENTRY_LINES, decode_lines
from tailrace.api.wire.redis_words import decode_command, decode_commands, outcome_parts, result_parts
from tailrace.api.wire.turns import Slices
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import compile_filter
from tailrace.core.invariants import check
from tailrace.core.limits import PIPELINE_COMMANDS_MAX
from tailrace.core.parser import parse_request
from tailrace.core.storage.damage import Damage, opened
from tailrace.core.storage.records import decode_effects, encode_effects
from tailrace.core.storage.state import decode_group, encode_group
from tailrace.core.stream_id import parse_id
from tests.support.engine_store import START_MS
from tests.support.hot import route_of
from tests.support.websocket_client import JSON, MSGPACK, Client

PRELUDE: Final = (
    b"XADD s 1-1 rider Castilla speed 30.2",
    b"XADD s 1-2 rider Norem rider Prickett",
    b"XADD s 2-0 \xff\xfe raw",
    b"XADD t 5-0 a b",
    b"XGROUP CREATE s g 0",
    b"XGROUP CREATE t g 0",
    b"XREADGROUP GROUP g alice COUNT 2 STREAMS s >",
    b"XADD s IDMP p k * n v",
)
"""The streams that exist before a program of commands begins, so that commands find entries."""


class _World:
    """An engine with something in it."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.journal = b""
        for line in PRELUDE:
            self.say(line.split(b" "))

    def say(self, words: list[bytes]) -> None:
        """Carry one command out, and write its reply both as RESP and as JSON."""
        try:
            request = parse_request(words)
            reply = request.to_resp(None if request.command is None else self.run(request.command))
        except StreamError as refusal:
            list(outcome_parts(refusal, all_base64=False))
            return
        list(result_parts(reply, all_base64=False))

    def run(self, command: Command) -> Any:
        outcome = self.engine.execute(command, START_MS)
        self.journal = encode_effects(outcome.effects)
        assert encode_effects(decode_effects(self.journal)) == self.journal
        return outcome.reply

    def check(self) -> None:
        check(self.engine.keyspace)


def commands(data: bytes) -> None:
    """A program of Redis commands, one per line. The streams stay valid, also after storing them."""
    world = _World()
    for line in data.split(b"\n")[:20]:
        if words := line.split(b" "):
            world.say(words)
    world.check()
    for stream in world.engine.keyspace.streams.values():
        for group in stream.groups.values():
            assert encode_group(decode_group(encode_group(group))) == encode_group(group)


def _one_command(data: bytes) -> list[list[bytes]]:
    return [decode_command(data)]


def _all_commands(data: bytes) -> list[list[bytes]]:
    return asyncio.run(decode_commands(data, PIPELINE_COMMANDS_MAX, Slices()))


def command_bodies(data: bytes) -> None:
    """The bodies of the command routes."""
    world = _World()
    for decode in (_one_command, _all_commands):
        try:
            for words in decode(data)[:20]:
                world.say(words)
        except RequestRefused:
            continue
    world.check()


HOT: Final[tuple[Callable[[bytes], Command | None], ...]] = (
    lambda raw: appends.xadd_command(b"s", raw),
    lambda raw: appends.batch_command(b"s", raw),
    lambda raw: appends.import_command(b"s", raw),
    lambda raw: appends.lines_command(b"s", decode_lines(raw, ENTRY_LINES), no_idempotency),
    reads.read_command,
    reads.group_read_command,
    lambda raw: pending.ack_command(b"s", b"g", raw),
    lambda raw: pending.nack_command(b"s", b"g", raw),
    lambda raw: pending.claim_command(b"s", b"g", raw),
    lambda raw: pending.autoclaim_command(b"s", b"g", raw),
)


def hot_bodies(data: bytes) -> None:
    """The bodies of the hot routes. The entries that they append can be read again."""
    world = _World()
    for decode in HOT:
        try:
            command = decode(data)
            if command is not None:
                world.run(command)
        except (RequestRefused, StreamError):
            continue
    world.say([b"XRANGE", b"s", b"-", b"+"])
    world.check()


def hot_requests(data: bytes) -> None:
    """The recognition of hot requests: target, header and body, as the parser would give them."""
    target, _, rest = data.partition(b"\n")
    headers, _, body = rest.partition(b"\n\n")
    pairs = [line.partition(b":")[::2] for line in headers.split(b"\n")]
    for method in (b"GET", b"POST"):
        route = route_of(method, target, [(name.lower(), value) for name, value in pairs])
        if route is not None:
            route.read(body)


def compressed_bodies(data: bytes) -> None:
    """Bodies in gzip and zstd, and their content."""
    for encoding in ("gzip", "zstd", data[:8].decode("latin-1")):
        try:
            hot_bodies(unpacked(data, encoding_of([encoding])))
        except RequestRefused:
            continue


def unpacked(data: bytes, encoding: str | None) -> bytes:
    if encoding is None:
        return data
    unpacking = Unpacking(data, encoding)
    unpacking.run()
    return bytes(unpacking.unpacked)


def resume_positions(data: bytes) -> None:
    """`Last-Event-ID`, and ids."""
    for parse in (parse_id, lambda raw: sse.parse_composite_id(raw.decode("latin-1"))):
        try:
            parse(data)
        except StreamError:
            continue


def filters(data: bytes) -> None:
    """Filters: a valid one tests any entry, and an error names a place in the text."""
    text = data.decode("utf-8", "replace")
    try:
        wanted = compile_filter(text)
    except StreamError as error:
        if error.code is not ErrorCode.INVALID_FILTER or int(error.details["offset"]) > len(text):
            raise
    else:
        wanted.flags([b'{"a":"1.5","b":"x"}', b'[["a","1"],["a","2"]]', b'~{"AA==":"/w=="}'])


def stored_values(data: bytes) -> None:
    """A value of the data file that was not written so: named as damage, unless its checksum says it was."""
    try:
        opened(data, "a row", b"key")
    except Damage:
        return


def _frames(subprotocol: str, separator: bytes, data: bytes) -> None:
    client = Client(subprotocol=subprotocol)
    for words in PRELUDE:
        client.store.run_all(_parsed(words))
    is_text = client.codec.is_text
    try:
        for frame in data.split(separator)[:10]:
            client.say_frame(frame.decode("utf-8", "replace") if is_text else frame)
    except ProtocolViolation:
        pass
    client.session.close()
    client.store.run_all(client.session.unsettled.questions())
    check(client.store.engine.keyspace)


def _parsed(line: bytes) -> list[Command]:
    command = parse_request(line.split(b" ")).command
    return [] if command is None else [command]


def json_frames(data: bytes) -> None:
    """Frames of a WebSocket that speaks JSON, a line each."""
    _frames(JSON, b"\n", data)


def msgpack_frames(data: bytes) -> None:
    """Frames of a WebSocket that speaks MessagePack, separated by a byte that MessagePack never uses."""
    _frames(MSGPACK, b"\xc1", data)


class Target(NamedTuple):
    """A target, and what share of the time it gets."""

    run: Callable[[bytes], None]
    share: int


TARGETS: Final = {
    "commands": Target(commands, 3),
    "command_bodies": Target(command_bodies, 1),
    "hot_bodies": Target(hot_bodies, 2),
    "hot_requests": Target(hot_requests, 1),
    "compressed_bodies": Target(compressed_bodies, 1),
    "resume_positions": Target(resume_positions, 1),
    "filters": Target(filters, 1),
    "stored_values": Target(stored_values, 1),
    "json_frames": Target(json_frames, 2),
    "msgpack_frames": Target(msgpack_frames, 2),
}
