"""A client of a WebSocket session without a socket: the session executes each request at once.

Owns the conversation of a test: `say` returns the reply, `taken_pushes` returns the pushes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tailrace.api.access.guard import Guard
from tailrace.api.access.security import UNSECURED
from tailrace.api.follow.followers import SharedReads
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import ANONYMOUS_LOCAL
from tailrace.api.websocket.exchanges import Turn
from tailrace.api.websocket.handshake import CODECS
from tailrace.api.websocket.plans import Answers
from tailrace.api.websocket.session import WebSocketSession
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.core.commands import Append, CreateGroup
from tailrace.core.log.entry import fragment_from_flat
from tests.support.watching_store import WatchingStore

JSON = "tailrace.v1.json"
MSGPACK = "tailrace.v1.msgpack"


UNGUARDED = Guard(UNSECURED, ANONYMOUS_LOCAL)


class Client:
    """One connection. `is_congested`, `is_closing`: set by a test. `frames`: all frames that the session
    sent, as bytes."""

    def __init__(
        self,
        store: WatchingStore | None = None,
        reads: SharedReads | None = None,
        subprotocol: str = JSON,
        guard: Guard = UNGUARDED,
    ) -> None:
        self.store = WatchingStore() if store is None else store
        reads = SharedReads(self.store) if reads is None else reads
        self.codec = CODECS[subprotocol]
        self.frames: list[bytes] = []
        self.pushes: list[Any] = []
        self.on_send: Callable[[], None] = lambda: None
        self.is_congested = False
        self.is_closing = False
        self.is_restarting = False
        self.session = WebSocketSession(self.codec, self.store, reads, self, self._release, guard)

    # --- the session's view of its connection ---------------------------------------------------

    @property
    def can_push(self) -> bool:
        return not (self.is_congested or self.is_closing)

    def send(self, frame: bytes) -> None:
        self.frames.append(frame)
        self.pushes.append(self.decoded(frame))
        self.on_send()

    def restarting(self) -> None:
        self.is_restarting = True

    def _release(self, unsent: Unsettled) -> None:
        self.store.run_all(unsent.releases(self.store.run_all(unsent.questions())))

    # --- the conversation ----------------------------------------------------------------------

    def say(self, request: Any) -> Any:
        """Send one request, execute it, and return its reply. Pushes come after the reply."""
        [reply] = self.say_frame(self.encoded(request))
        return reply

    def say_frame(self, frame: str | bytes) -> list[Any]:
        """Send one frame unchanged, execute its requests, and return all replies."""
        self.session.receive(frame)
        replies = self.work()
        self.store.settle()
        return replies

    def work(self) -> list[Any]:
        """Execute the waiting requests, and return all replies."""
        replies = []
        while turn := self.session.next_turn():
            replies += [self.decoded(frame) for frame in self.session.replies(turn, self._answers(turn))]
        return replies

    def _answers(self, turn: Turn) -> Answers | StoreUnavailable:
        try:
            return self.store.run_turn(turn.commands_by_request, turn.rooms)
        except StoreUnavailable as refusal:
            return refusal

    def ok(self, **request: Any) -> Any:
        """Return the `ok` of a request, which must succeed."""
        reply = self.say({"id": 1, **request})
        assert "ok" in reply, reply
        return reply["ok"]

    def refused(self, **request: Any) -> Any:
        """Return the problem of a request, which must fail and leave the connection open."""
        reply = self.say({"id": 1, **request})
        assert "error" in reply, reply
        assert self.say({"id": "alive", "op": "ping"}) == {"id": "alive", "ok": {}}
        return reply["error"]

    def taken_pushes(self) -> list[Any]:
        """Return the pushes since the last call."""
        self.store.settle()
        taken, self.pushes = self.pushes, []
        return taken

    def pushed_ids(self) -> list[str]:
        """Return the ids of the pushed entries since the last call."""
        return [entry["id"] for push in self.taken_pushes() for entry in push["entries"]]

    def encoded(self, request: Any) -> str | bytes:
        encoded = self.codec.encode(request)
        return encoded.decode() if self.codec.is_text else encoded

    def decoded(self, frame: bytes) -> Any:
        return msgspec.json.decode(frame) if self.codec.is_text else msgspec.msgpack.decode(frame)

    # --- without the connection ----------------------------------------------------------------

    def append(self, key: str, *ids: int, **fields: str) -> None:
        """Append entries ``<id>-0`` in the engine, without the connection."""
        flat = [item.encode() for pair in (fields or {"n": "v"}).items() for item in pair]
        for value in ids:
            self.store.run(Append(key.encode(), (fragment_from_flat(flat),), (value << 64,)))
        self.store.settle()

    def create_group(self, key: str, group: str = "g") -> None:
        self.store.run(CreateGroup(key.encode(), group.encode(), 0, create_stream=True))
