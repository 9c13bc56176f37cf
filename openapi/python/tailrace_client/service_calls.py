"""The calls that concern the server as a whole: Redis commands, the list of streams, its state. This module
sends nothing.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

from tailrace_client import replies
from tailrace_client.call import Call, given, nothing, record
from tailrace_client.errors import COMMAND_FAILED, SideEffects, TailraceError
from tailrace_client.generated import models
from tailrace_client.generated.api import command as command_api
from tailrace_client.generated.api import service as service_api
from tailrace_client.generated.types import UNSET

Word: TypeAlias = str | bytes | int | float
"""One word of a Redis command. Numbers are sent as their text."""

Command: TypeAlias = Sequence[Word]
"""A Redis command as its words, for example `("XLEN", "race:france")`."""

BLOCK_MAX_MS: Final = 60_000
"""How long the server waits at most for a command with BLOCK."""

_OK: Final = "OK"


def command(words: Command, *, binary: bool) -> Call[Any]:
    """Return the call of one Redis command. The client does not know whether a command is idempotent."""
    request = command_api.command._get_kwargs(body=_words(words), upstash_encoding=_encoding(binary))
    return Call(
        request, lambda answer: _reply(answer.json()["result"], binary=binary), waits_ms=_block_ms(words)
    )


def pipeline(commands: Iterable[Command], *, binary: bool) -> Call[list[Any]]:
    """Return the call that runs commands one after another, not atomically."""
    body = [_words(words) for words in commands]
    request = command_api.pipeline._get_kwargs(body=body, upstash_encoding=_encoding(binary))
    return Call(request, lambda answer: _replies(answer.json(), "unknown", binary=binary))


def transaction(commands: Iterable[Command], *, binary: bool) -> Call[list[Any]]:
    """Return the call that runs commands as one transaction (MULTI, EXEC)."""
    body = [_words(words) for words in commands]
    request = command_api.transaction._get_kwargs(body=body, upstash_encoding=_encoding(binary))
    return Call(request, lambda answer: _replies(answer.json(), "unknown", binary=binary))


def stream_page(prefix: str, start_after: str | bytes | None, limit: int) -> Call[replies.StreamPage]:
    """Return the call that lists streams. The names are in the query as bytes: a key need not be UTF-8."""
    query: dict[str, str | bytes | int] = {"limit": limit}
    if prefix:
        query["prefix"] = prefix
    if start_after is not None:
        query["start_after"] = start_after
    request = {"method": "get", "url": f"/v1/streams?{urlencode(query)}"}
    return Call(request, record(replies.StreamPage), is_idempotent=True)


def next_of(page: replies.StreamPage) -> str | bytes | None:
    """Return the `start_after` of the next page; None at the end."""
    if page.next_ is None or page.encoding is None:
        return page.next_
    return b64decode(page.next_)


def limits() -> Call[replies.Limits]:
    """Return the call that reads the limits of the server."""
    return Call(
        service_api.get_limits._get_kwargs(),
        record(replies.Limits),
        is_idempotent=True,
    )


def health() -> Call[None]:
    """Return the call that succeeds while the process of the server runs."""
    return Call(service_api.healthz._get_kwargs(), nothing, is_idempotent=True)


def readiness() -> Call[None]:
    """Return the call that succeeds while the server accepts reads and writes."""
    return Call(service_api.readyz._get_kwargs(), nothing, is_idempotent=True)


def access() -> Call[replies.AccessReply]:
    """Return the call that reads the rights of the client's token."""
    return Call(
        service_api.show_access._get_kwargs(),
        record(replies.AccessReply),
        is_idempotent=True,
    )


def server_state(limit: int | None) -> Call[replies.ServerState]:
    """Return the call that reads the state of the server."""
    request = service_api.show_server._get_kwargs(limit=given(limit))
    return Call(request, record(replies.ServerState), is_idempotent=True)


def ticket() -> Call[replies.Ticket]:
    """Return the call that makes a ticket for a WebSocket. A repetition is safe: unused tickets expire."""
    return Call(
        service_api.create_ticket._get_kwargs(),
        record(replies.Ticket),
        is_idempotent=True,
    )


def slow_operations(limit: int | None) -> Call[replies.SlowLogPage]:
    """Return the call that reads the slow log."""
    request = service_api.slow_log._get_kwargs(limit=given(limit))
    return Call(request, record(replies.SlowLogPage), is_idempotent=True)


def clear_slow_operations() -> Call[None]:
    """Return the call that empties the slow log."""
    return Call(service_api.clear_slow_log._get_kwargs(), nothing, is_idempotent=True)


def explanation(code: str) -> Call[str]:
    """Return the call that reads the page about an error code."""
    return Call(
        service_api.problem_page._get_kwargs(code), lambda answer: answer.content.decode(), is_idempotent=True
    )


def _words(words: Command) -> list[models.Base64Argument | bool | float | str]:
    if isinstance(words, str | bytes):
        raise TypeError(f"a command is a sequence of words, not one {type(words).__name__}: {words!r}")
    return [_word(word) for word in words]


def _word(word: object) -> models.Base64Argument | str:
    if isinstance(word, bytes):
        return models.Base64Argument(b64encode(word).decode())
    if isinstance(word, bool) or not isinstance(word, str | int | float):
        raise TypeError(f"the word {word!r} is of type {type(word).__name__}; use str, bytes, int or float")
    text = str(word)
    try:
        text.encode()
    except UnicodeEncodeError:  # A lone surrogate represents a byte that is not UTF-8.
        return _word(text.encode("utf-8", "surrogateescape"))
    return text


def _encoding(binary: bool) -> Any:  # noqa: FBT001
    return "base64" if binary else UNSET


def _block_ms(words: Command) -> int:
    """Return how long a command may wait, by its word after BLOCK. 0 means as long as the server allows."""
    names = [word.upper() if isinstance(word, str) else word for word in words]
    if "BLOCK" not in names[1:-1]:
        return 0
    text = str(names[names.index("BLOCK", 1) + 1])
    return min(int(text), BLOCK_MAX_MS) or BLOCK_MAX_MS if text.isdecimal() else 0


def _replies(outcomes: Iterable[dict[str, Any]], side_effects: SideEffects, *, binary: bool) -> list[Any]:
    """Return the reply of each command; the reply of a failed command is its error."""
    return [
        _failure(number, outcome["error"], side_effects)
        if "error" in outcome
        else _reply(outcome["result"], binary=binary)
        for number, outcome in enumerate(outcomes)
    ]


def _failure(number: int, line: str, side_effects: SideEffects) -> TailraceError:
    return TailraceError(
        COMMAND_FAILED, f"command {number}: {line}", side_effects=side_effects, problem={"error": line}
    )


def _reply(reply: Any, *, binary: bool) -> Any:
    """Return a reply. With `binary`, strings are bytes; the status OK is the only text that is not base64."""
    if not binary:
        return reply
    if isinstance(reply, list):
        return [_reply(each, binary=True) for each in reply]
    return b64decode(reply) if isinstance(reply, str) and reply != _OK else reply


def first_failure(replies: list[Any]) -> list[Any]:
    """Return the replies. Raises the error of the first command that failed."""
    for reply in replies:
        if isinstance(reply, TailraceError):
            raise reply
    return replies
