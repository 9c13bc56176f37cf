"""What the answers to a dialogue have to be: those of a second server that gets the same requests one by one.

The second server gets each request in its plain form, so that its documented route answers, after the answer
to the request before. It also gets no request of another connection. What differs in any case is replaced:
ids by their order, times and the ids of requests by a word. This module never sends the pieces of a dialogue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from tests.fuzz.http_bytes import Engine, HttpRequest, Names, request_bytes
from tests.fuzz.http_client import Answer, HttpClient
from tests.fuzz.http_programs import Dialogue, Ending

Seen: TypeAlias = tuple[int, tuple[tuple[str, str], ...], str]
"""The status, the headers and the body of an answer, without what differs in any case."""

_UNCOMPARED: Final = frozenset({"connection", "content-length", "date", "x-request-id"})
_DIFFERENT: Final = (
    (re.compile(r"\b[0-9a-f]{32}\b"), "REQUEST"),
    (re.compile(r'"(\w+_ms|incarnation)":("?)\w+(-\w+)?\2'), r'"\1":0'),
)
_ID: Final = re.compile(r"\b\d{13}-\d+")


@dataclass(frozen=True)
class Expected:
    """The answers to the requests of a dialogue. `pictures`: the streams of the connection after so many of
    the requests, by their number; only the last one if the connection cannot end early."""

    answers: Sequence[Seen]
    pictures: dict[int, str]


class Symbols:
    """The ids of entries in the answers to one connection, by the order in which they appear.

    Entries of two streams may have the same id. If it is not known of which stream an id is, its order is not
    compared.
    """

    def __init__(self) -> None:
        self._orders: dict[str, dict[str, int]] = {}

    def seen(self, request: HttpRequest, answer: Answer) -> Seen:
        """Return what is compared of an answer."""
        headers = sorted(each for each in answer.headers.items() if each[0] not in _UNCOMPARED)
        body = "" if request.shared else self.text(request.key, answer.body.decode())
        return answer.status, tuple(headers), body

    def text(self, key: str, body: str) -> str:
        """Return a body about the stream `key` without what differs in any case."""
        order = self._orders.setdefault(key, {})

        def symbol(found: re.Match[str]) -> str:
            return f"ID{order.setdefault(found[0], len(order))}" if key else "ID"

        text = _ID.sub(symbol, body)
        for pattern, word in _DIFFERENT:
            text = pattern.sub(word, text)
        return text


async def picture_of(client: HttpClient, names: Names) -> str:
    """Return all that the streams of a connection contain: at one instant, if they are in one slot."""
    commands = [["XRANGE", key, "-", "+"] for key in names.keys]
    commands += [["XPENDING", names.group_key, "g"]]
    path = "/v1/command/multi-exec" if names.is_one_slot else "/v1/command/pipeline"
    answer = await client.ask(request_bytes(names.token, "POST", path, commands))
    assert answer.status == 200, answer
    symbols, replies = Symbols(), json.loads(answer.body)
    texts = (
        symbols.text(command[1], json.dumps(reply)) for command, reply in zip(commands, replies, strict=True)
    )
    return "\n".join(texts)


async def expected_of(port: int, dialogue: Dialogue) -> Expected:
    """Ask the second server."""
    client, symbols = await HttpClient.open(port), Symbols()
    looking = await HttpClient.open(port)
    answers, pictures = [], dict[int, str]()
    for number, request in enumerate(dialogue.requests, 1):
        answer = await client.ask(request.plain, is_head=request.is_head)
        answers.append(symbols.seen(request, answer))
        if dialogue.may_end_early or number == len(dialogue.requests):
            pictures[number] = await picture_of(looking, dialogue.names)
    await client.close()
    await looking.close()
    return Expected(answers, pictures)


def require_expected(
    dialogue: Dialogue, expected: Expected, answers: Sequence[Answer], rest: bytes, picture: str
) -> None:
    """Fail unless the answers are the expected ones. `rest`: the bytes after the last answer. `picture`: the
    streams of the connection after its end."""
    symbols, requests = Symbols(), dialogue.requests
    for number, (request, answer) in enumerate(zip(requests, answers, strict=False)):
        seen, right = symbols.seen(request, answer), expected.answers[number]
        assert seen == right, f"answer {number}, {seen}, not {right}, to {request.raw[:400]!r} of {dialogue}"
    missing = requests[len(answers) :]
    if dialogue.ending is Ending.RESET or (missing and dialogue.may_end_early and missing[0].may_wait):
        possible = _possible(dialogue, expected, len(answers))
        assert picture in possible, (
            f"{picture} after {len(answers)} requests or more, not {possible}: {dialogue}"
        )
    else:
        assert not missing, f"no answer to {len(missing)} requests: {dialogue}"
        assert picture == expected.pictures[len(requests)], f"not the streams in the end: {dialogue}"
    if dialogue.ending is not Ending.RESET:
        assert not rest, f"bytes after the last answer: {rest[:400]!r}"


def _possible(dialogue: Dialogue, expected: Expected, answered: int) -> list[str]:
    """Return what the streams may contain if only the first requests were answered."""
    pictures = [each for number, each in expected.pictures.items() if number >= answered]
    if dialogue.names.engine is not Engine.OWN:
        # The client may leave while the entries of a read are on their way to it.
        pictures += [_with_returned(*pair) for pair in pairwise(pictures)]
    return pictures


def _with_returned(before: str, after: str) -> str:
    """Return the picture after a read of a group whose entries a gateway has returned to the group: they are
    pending, but for no consumer."""
    *streams, pending = after.split("\n")
    owned, summary = json.loads(before.rpartition("\n")[2]), json.loads(pending)
    summary["result"][3] = owned["result"][3] or ([] if summary["result"][0] else None)
    return "\n".join((*streams, json.dumps(summary)))


def shared_ids(request: HttpRequest, answer: Answer) -> list[tuple[str, str]]:
    """Return the ids and values of the entries that a request appended to the shared stream."""
    reply = json.loads(answer.body)
    ids = [reply["id"]] if "id" in reply else [reply["first_id"], reply["last_id"]]
    return list(zip(ids, request.shared, strict=True))
