"""The engine with several connections, as a server uses it: a waiting connection gets its reply when it is
woken.

Owns transactions, waiting connections and a clock. The clock advances only when a test asks for the reply of
a waiting connection: to the next deadline. Replies are JSON, written as `/v1/command` writes them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tailrace.api.wire.redis_words import result_parts
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request, Resp, SimpleString
from tailrace.core.outcome import Outcome
from tailrace.core.parser import parse_request
from tailrace.core.waiters import WaitQueue
from tests.support.redis_blocks import OWN, WAITS, ErrorText, Reply, Words
from tests.support.redis_like import START_MS

_QUEUED: Final = SimpleString("QUEUED")


class EnginePeer:
    """One engine, whose clock advances only from deadline to deadline."""

    def __init__(self) -> None:
        self._engine = Engine()
        self._now_ms = START_MS
        self._queue = WaitQueue()
        self._waiting: dict[str, tuple[Request, Outcome]] = {}
        self._served: dict[str, Reply] = {}
        self._transactions: dict[str, list[Request]] = {}

    def execute(self, client: str, words: Words) -> Reply:
        try:
            return self._execute(client, words)
        except StreamError as error:
            return ErrorText(error.line)

    def awaited(self, client: str) -> Reply:
        while client not in self._served:
            deadline_ms = self._queue.next_deadline_ms()
            assert deadline_ms is not None, f"{client} waits for ever"
            self._now_ms = deadline_ms
            for due in self._queue.due(deadline_ms):
                self._look_again(str(due), timed_out=True)
        return self._served.pop(client)

    def _execute(self, client: str, words: Words) -> Reply:
        if words == [b"MULTI"]:
            self._transactions[client] = []
            return _json(SimpleString("OK"))
        if words == [b"EXEC"]:
            return self._exec(self._transactions.pop(client))
        request = parse_request(words)
        if client in self._transactions:
            self._transactions[client].append(request)
            return _json(_QUEUED)
        if request.command is None:
            return _json(request.to_resp(None))
        outcome = self._engine.execute(request.command, self._now_ms)
        if outcome.wait is not None and client != OWN:
            self._queue.add(client, outcome.wait)
            self._waiting[client] = request, outcome
            return WAITS
        self._wake(outcome)
        return _json(request.to_resp(outcome.reply))

    def _exec(self, requests: list[Request]) -> Reply:
        commands = [request.command for request in requests if request.command is not None]
        replies, outcome = self._engine.execute_all(commands, self._now_ms)
        self._wake(outcome)
        return [
            {"error": reply.line} if isinstance(reply, StreamError) else _json(request.to_resp(reply))
            for request, reply in zip(requests, replies, strict=True)
        ]

    def _wake(self, outcome: Outcome) -> None:
        for client in self._queue.woken(outcome.wake_ups):
            self._look_again(str(client))

    def _look_again(self, client: str, *, timed_out: bool = False) -> None:
        request, waiting = self._waiting.pop(client)
        assert waiting.retry is not None
        assert self._queue.discard(client)
        try:
            outcome = self._engine.execute(waiting.retry, self._now_ms)
        except StreamError as error:
            self._served[client] = ErrorText(error.line)
            return
        is_over = timed_out and outcome.wait is not None and outcome.wait.until_ms == self._now_ms
        if outcome.wait is None or is_over:
            self._served[client] = _json(request.to_resp(outcome.reply))
        else:
            self._queue.add(client, outcome.wait)
            self._waiting[client] = request, outcome


def _json(reply: Resp) -> Any:
    return json.loads(b"".join(result_parts(reply, all_base64=False)))
