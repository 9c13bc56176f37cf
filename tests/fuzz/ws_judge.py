"""What the replies to a session have to be: those of a second server that gets the same requests one by one.

The second server gets each request in a message of its own, in JSON, after the reply to the one before. This
module never sends the pieces of a session.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.fuzz.http_client import HttpClient
from tests.fuzz.http_judge import Symbols, picture_of
from tests.fuzz.http_shared import Entry, number_of
from tests.fuzz.ws_bytes import Message, WsRequest
from tests.fuzz.ws_client import WsClient
from tests.fuzz.ws_programs import Session
from tests.fuzz.ws_pushes import Appended, Subscriptions

_UNSEEN_OPS: Final = frozenset({"ping", "subscribe", "unsubscribe", "credit", "consume"})
"""Requests that change no stream."""


@dataclass(frozen=True)
class WsExpected:
    """The replies to the requests of a session; None if not compared. `pictures`: the streams of the
    connection after so many of the requests."""

    replies: Sequence[str | None]
    pictures: dict[int, str]


def seen(symbols: Symbols, request: WsRequest, reply: Any) -> str | None:
    """Return what is compared of a reply."""
    if not request.is_own:
        return None
    if reply.get("error", {}).get("code") == "BODY_MISMATCH":
        reply = {"error": "BODY_MISMATCH"}  # the two subprotocols describe a mistake in their own words
    text = json.dumps(reply, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return symbols.text(request.key, text)


async def ws_expected_of(port: int, session: Session) -> WsExpected:
    """Ask the second server."""
    client, looking = await WsClient.open(port, session.names.token), await HttpClient.open(port)
    symbols, requests = Symbols(), session.requests
    replies, pictures = list[str | None](), {0: await picture_of(looking, session.names)}
    for number, request in enumerate(requests, 1):
        replies.append(seen(symbols, request, await client.ask(request.body)))
        if number == len(requests) or (session.may_end_early and request.op not in _UNSEEN_OPS):
            pictures[number] = await picture_of(looking, session.names)
        else:
            pictures[number] = pictures[number - 1]
    await client.close()
    await looking.close()
    return WsExpected(replies, pictures)


class Conversation:
    """The replies and pushes of one connection, checked as they arrive."""

    def __init__(self, session: Session, expected: WsExpected) -> None:
        self._expected = expected
        self._messages: list[Message] = [each for each in session.messages if each.requests]
        self._symbols = Symbols()
        nacks = [request for request in session.requests if request.kind == "nack consumed"]
        self.subscriptions = Subscriptions({number_of(each) for nack in nacks for each in nack.body["ids"]})
        self.count = 0
        """How many messages were answered."""
        self.request_count = 0
        self.shared: list[Entry] = []
        self.acknowledged = 0
        """How many entries of its own consumer were acknowledged."""

    def take(self, message: Any) -> None:
        """Take a message of the server. Fail unless it is right here."""
        if isinstance(message, dict) and "sub" in message:
            self.subscriptions.push(message)
            return
        assert self.count < len(self._messages), f"a reply to nothing: {message}"
        asked = self._messages[self.count]
        self.count += 1
        replies = message if asked.is_array else [message]
        assert isinstance(replies, list)
        assert len(replies) == len(asked.requests), (
            f"{len(replies)} replies to {len(asked.requests)} requests"
        )
        for request, reply in zip(asked.requests, replies, strict=True):
            self._take(request, reply, is_alone=not asked.is_array)

    def _take(self, request: WsRequest, reply: Any, *, is_alone: bool) -> None:
        assert reply["id"] == request.id, f"{str(reply)[:500]} for {str(request)[:500]}"
        got = seen(self._symbols, request, reply)
        right = self._expected.replies[self.request_count] if request.is_own else None
        self.request_count += 1
        assert got == right, f"{str(got)[:1000]}, not {str(right)[:1000]}, to {str(request)[:500]}"
        if isinstance(request.op, str) and request.op in _UNSEEN_OPS:
            self.subscriptions.replied(request.body, reply, is_alone=is_alone)
        elif request.kind == "shared":
            self.shared.append((reply["ok"]["id"], *request.values))
        elif request.values and "ok" in reply:
            text = reply["ok"]["id"] if request.op == "append" else reply["ok"]["result"]
            [value] = request.values
            entry = Appended(number_of(text), value, kind_of(request))
            self.subscriptions.ledger.setdefault(request.key, []).append(entry)
        elif request.kind == "ack consumed":
            self.acknowledged += reply["ok"]["acknowledged"]

    def expect(self, request: WsRequest) -> object:
        """Expect the reply to one more request, of which nothing is compared. Return what to send."""
        self._messages.append(Message(request.kind, b"", (request,)))
        return request.body

    @property
    def missing(self) -> Sequence[WsRequest]:
        """The requests without a reply."""
        return [request for message in self._messages[self.count :] for request in message.requests]


def kind_of(request: WsRequest) -> str:
    """Return the field `f` of the entry that a request appends."""
    fields = request.body.get("fields")
    return "1" if fields is None else str(fields["f"])
