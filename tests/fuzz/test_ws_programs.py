"""Random sessions on several WebSockets at once get the replies that their requests would get one by one.

Another seed of the first program: `TESTS_FUZZ_SEED=n`; more programs: `TESTS_FUZZ_PROGRAMS=n` on each
disk. A failing program is the first one of its seed, which is printed. What arrives in one read of the server
is not decided by the seed, so a program that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any, Final

import pytest

from tests.fuzz.http_bytes import request_bytes
from tests.fuzz.http_client import HttpClient
from tests.fuzz.http_judge import picture_of
from tests.fuzz.http_shared import Entry, number_of, run_beside
from tests.fuzz.programs import run_all, seeds
from tests.fuzz.ws_bytes import WsRequest
from tests.fuzz.ws_client import WsClient
from tests.fuzz.ws_judge import Conversation, WsExpected, ws_expected_of
from tests.fuzz.ws_programs import Session, WsEnding, WsProgram, ws_program_of
from tests.fuzz.ws_requests import CONSUMED_GROUP, CONSUMER, consumed_key
from tests.fuzz.ws_shared import WsSharedStream
from tests.support.server_process import ServerProcess

PROGRAMS: Final = 6
LAST_CREDIT: Final = 1_000_000
LAST_ID: Final = "999999-1"
"""The id of the last entry for a consumer, which it gets after all others."""

LOOKS_MAX: Final = 2_000
LOOK_AGAIN_S: Final = 0.005


async def flushed(port: int, client: WsClient, talk: Conversation, session: Session) -> None:
    """Append a last entry to each stream, and wait for it on each subscription."""
    names, subscriptions = session.names, talk.subscriptions
    keys = (*names.keys[:2], consumed_key(names))
    looking = await HttpClient.open(port)
    last = {}
    for key in keys:
        last_id = {"id": LAST_ID} if key == keys[-1] else {}
        body = {"fields": {"v": "last", "f": "1"}, **last_id}
        answer = await looking.ask(request_bytes(names.token, "POST", f"/v1/streams/{key}/entries", body))
        last[key] = number_of(json.loads(answer.body)["id"])
    await looking.close()
    for name in list(subscriptions.open):
        more = {"op": "credit", "sub": name, "entries": LAST_CREDIT, "bytes": LAST_CREDIT}
        client.say(talk.expect(WsRequest("last credit", {"id": "last", **more}, is_own=False)))
    await client.until(lambda: all(subscriptions.has_reached(key, number) for key, number in last.items()))


async def held(
    port: int, session: Session, expected: WsExpected, other: HttpClient
) -> tuple[Conversation, str]:
    """Hold a session with the server under test. Return its messages, and the streams in the end."""
    client = await WsClient.open(port, session.names.token, session.subprotocol, session.early)
    talk, picture = Conversation(session, expected), ""
    reading = None if session.is_lazy else asyncio.ensure_future(client.read(talk.take))
    try:
        sending = client.send(session.pieces, lambda: talk.count, other, is_lazy=session.is_lazy)
        await sending if reading is None else await client.while_reading(sending, reading)
        if session.ending is WsEnding.RESET:
            client.reset()
        elif session.ending is WsEnding.HALF_CLOSED:
            client.end_side()
        reading = reading or asyncio.ensure_future(client.read(talk.take))
        if session.ending is WsEnding.FLUSHED:
            await client.while_reading(client.until(lambda: not talk.missing), reading)
            picture = await look(port, session)
            await client.while_reading(flushed(port, client, talk, session), reading)
            client.say_close()
        await reading
    finally:
        if reading is not None:
            reading.cancel()
        await client.close()
    require_end(client, session)
    return talk, picture or await look(port, session)


def require_end(client: WsClient, session: Session) -> None:
    """Fail unless the server has ended the connection in the right way."""
    pings = [ping for message in session.messages for ping in message.pings]
    ending = session.ending
    if ending is WsEnding.FLUSHED:
        assert client.pongs == pings, f"{client.pongs}, not {pings}"
        assert client.closed_with == 1000, client.closed_with
    assert client.pongs == pings[: len(client.pongs)], f"{client.pongs}, not {pings}"
    if ending in {WsEnding.CLOSED, WsEnding.LAST}:
        right = session.messages[-1].ends_with
        assert client.closed_with == right, f"closed with {client.closed_with}, not {right}"
    if ending in {WsEnding.HALF_CLOSED, WsEnding.RESET}:
        assert client.closed_with is None, f"closed with {client.closed_with}"


async def look(port: int, session: Session) -> str:
    looking = await HttpClient.open(port)
    picture = await picture_of(looking, session.names)
    await looking.close()
    return picture


async def require_consumed(port: int, talk: Conversation, session: Session) -> None:
    """Fail unless the pending entries of the consumer are those that it got and did not acknowledge."""
    client = await HttpClient.open(port)
    for number in range(LOOKS_MAX):
        state = await _group(client, session)
        failure = _mistake(state, talk, session)
        if failure is None:
            break
        assert number < LOOKS_MAX - 1, failure
        await asyncio.sleep(LOOK_AGAIN_S)  # entries are returned after the end of the connection
    await client.close()


async def _group(client: HttpClient, session: Session) -> Any:
    key = consumed_key(session.names)
    commands = [
        ["XPENDING", key, CONSUMED_GROUP, "-", "+", "10000"],
        ["XINFO", "GROUPS", key],
        ["XRANGE", key, "-", "+"],
    ]
    answer = await client.ask(request_bytes(session.names.token, "POST", "/v1/command/multi-exec", commands))
    assert answer.status == 200, answer
    return [reply.get("result") for reply in json.loads(answer.body)]


def _mistake(state: Any, talk: Conversation, session: Session) -> str | None:
    """Return what is wrong with the group of the consumer."""
    rows, groups, entries = state
    if not groups:
        return None if session.may_end_early else "no group"
    info = dict(zip(groups[0][::2], groups[0][1::2], strict=True))
    taken = sum(number_of(each[0]) <= number_of(info["last-delivered-id"]) for each in entries)
    own = {number_of(row[0]) for row in rows if row[1] == CONSUMER}
    subs = [sub for sub in talk.subscriptions.all if sub.is_group]
    got = {number for sub in subs for feed in sub.feeds.values() for number, _ in feed.pushed}
    if session.ending is WsEnding.RESET:
        return None
    if not own <= got:
        return f"pending, but never pushed: {sorted(own - got)}"
    if session.ending is WsEnding.FLUSHED:
        if len(rows) + talk.acknowledged != taken:
            return f"{len(rows)} pending and {talk.acknowledged} acknowledged of {taken}"
        if own and any(sub.body.get("on_close") for sub in subs):
            return f"not returned: {own}"
    return None


async def judged(first: int, second: int, session: Session) -> tuple[list[Entry], set[str]]:
    """Hold a session with the server at the port `first`, and compare it with the one at `second`. Return
    what it appended to the shared stream, and the values that it may have appended."""
    expected = await ws_expected_of(second, session)
    other = await HttpClient.open(first)
    talk, picture = await held(first, session, expected, other)
    await other.close()
    if session.may_end_early:
        possible = [each for number, each in expected.pictures.items() if number >= talk.request_count]
        assert picture in possible, f"not the streams after {talk.request_count} requests or more: {session}"
    else:
        assert picture == expected.pictures[len(session.requests)], f"not the streams in the end: {session}"
    missing = talk.missing
    unknown = {value for request in missing for value in request.values} | {"last"}
    future = {request.body["sub"]: 1 << 60 for request in missing if request.op == "credit"}
    talk.subscriptions.require_complete(unknown, future)
    await require_consumed(first, talk, session)
    return talk.shared, {value for request in missing if request.kind == "shared" for value in request.values}


async def run(first: int, second: int, program: WsProgram) -> None:
    """Run a program on the server at the port `first`. Fail unless everything is as expected."""
    shared = WsSharedStream(first, program.shared, program.token)
    await run_beside(shared, (judged(first, second, each) for each in program.sessions))


@pytest.mark.parametrize("first", ["none", "interval", "always", "slow", "narrow"], indirect=True)
def test_sessions_on_many_websockets_are_answered_as_one_by_one(
    token: str, first: ServerProcess, second: ServerProcess, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["first"]
    programs = (ws_program_of(seed, name, token) for seed in seeds(PROGRAMS))
    asyncio.run(run_all(programs, partial(run, first.port, second.port)))
