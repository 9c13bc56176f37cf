"""Runs one random HTTP program on a server, and compares it with one that gets the requests one by one.

This module starts no server, and chooses no programs.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tests.fuzz.http_client import Answer, Ended, HttpClient
from tests.fuzz.http_judge import expected_of, picture_of, require_expected, shared_ids
from tests.fuzz.http_programs import Dialogue, Ending, Program
from tests.fuzz.http_shared import Entry, SharedStream, run_beside

SERVER_ENDS: Final = frozenset({Ending.HALF_CLOSED, Ending.LAST})
"""The endings after which the server ends the connection without a further byte."""


async def held(port: int, dialogue: Dialogue, other: HttpClient) -> tuple[list[Answer], bytes]:
    """Hold a dialogue with the server under test. Return the answers, and what follows them."""
    client = await HttpClient.open(port)
    sending = asyncio.ensure_future(client.send(dialogue.pieces, dialogue.ending, other))
    try:
        await client.read(dialogue.requests)
        await sending
        rest = await client.rest() if dialogue.ending in SERVER_ENDS else b""
    except Ended as end:
        rest = end.rest
    finally:
        sending.cancel()
        await client.close()
    return client.answers, rest


async def judged(first: int, second: int, dialogue: Dialogue) -> tuple[list[Entry], set[str]]:
    """Hold a dialogue with the server at the port `first`, and compare it with the one at `second`. Return
    what it appended to the shared stream, and the values that it may have appended."""
    expected = await expected_of(second, dialogue)
    other = await HttpClient.open(first)
    answers, rest = await held(first, dialogue, other)
    await other.close()
    looking = await HttpClient.open(first)
    picture = await picture_of(looking, dialogue.names)
    await looking.close()
    require_expected(dialogue, expected, answers, rest, picture)
    answered = zip(dialogue.requests, answers, strict=False)
    appended = [
        entry for request, answer in answered if request.shared for entry in shared_ids(request, answer)
    ]
    return appended, {value for request in dialogue.requests[len(answers) :] for value in request.shared}


async def run(first: int, second: int, program: Program) -> None:
    """Run a program on the server at the port `first`. Fail unless everything is as expected."""
    shared = SharedStream(first, program.shared, program.token)
    await run_beside(shared, (judged(first, second, each) for each in program.dialogues))
