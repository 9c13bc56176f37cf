"""Replies as values: what the JSON of the command endpoint stands for, with every byte as it was.

It owns the two JSON forms (arguments out, results in) at the client's end. Replies are asked for in base64,
since JSON alone cannot hold every byte.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from tailrace.app.cli.client.http_client import RefusedByServer, Server

REPLIES_IN_BASE64: Final = {"Upstash-Encoding": "base64"}


class SimpleString(str):
    """A reply that says how it went, and is shown without quotes."""

    __slots__ = ()


class Failure(NamedTuple):
    """A reply that is an error; `line` is Redis's own."""

    line: str


Reply: TypeAlias = "int | bytes | SimpleString | Failure | list[Reply] | None"
Words: TypeAlias = Sequence[bytes]

OK: Final = SimpleString("OK")
QUEUED: Final = SimpleString("QUEUED")

_NOT_TAKEN: Final = frozenset({401, 429, 503})
"""Answers of a server that looks at no command: who sends it is not known, or it takes none now."""


def run(server: Server, words: Words) -> Reply:
    """The reply to one command. Raises `ServerProblem` where there was none, not even an error line."""
    try:
        answer = server.request(
            "POST", "/v1/command", body=list(map(_argument, words)), headers=REPLIES_IN_BASE64
        )
    except RefusedByServer as refusal:
        return _failure(refusal)
    return _reply(answer.json()["result"], statuses=_answers_with_status(words))


def run_transaction(server: Server, commands: Sequence[Words]) -> Reply:
    """The reply to EXEC: a list with a reply for each command, or why nothing was done."""
    body = [[_argument(word) for word in words] for words in commands]
    try:
        answer = server.request("POST", "/v1/command/multi-exec", body=body, headers=REPLIES_IN_BASE64)
    except RefusedByServer as refusal:
        return _failure(refusal)
    return [
        Failure(item["error"])
        if "error" in item
        else _reply(item["result"], statuses=_answers_with_status(words))
        for words, item in zip(commands, answer.json(), strict=True)
    ]


def _failure(refusal: RefusedByServer) -> Failure:
    """The Redis error line that an error answer carries; it is no reply where the server took no command."""
    if refusal.status in _NOT_TAKEN or "error" not in refusal.problem:
        raise refusal
    return Failure(str(refusal.problem["error"]))


def _argument(word: bytes) -> str | dict[str, str]:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(word).decode()}


def _reply(result: Any, *, statuses: bool) -> Reply:
    """`statuses`: the strings of this reply are statuses, which the JSON does not tell from others."""
    if isinstance(result, list):
        return [_reply(item, statuses=statuses) for item in result]
    if result == OK:
        return OK
    if isinstance(result, str):
        raw = b64decode(result)
        return SimpleString(raw.decode()) if statuses else raw
    assert result is None or isinstance(result, int)
    return result


def _answers_with_status(words: Words) -> bool:
    name = words[0].upper()
    if name == b"PING":
        return len(words) == 1
    return name == b"TYPE" or (len(words) == 2 and words[1].upper() == b"HELP")  # noqa: PLR2004 - XINFO HELP
