"""Random programs of HTTP requests: what several connections send, in which pieces, and how each one ends.

A program is data: the same seed makes the same program. No request depends on an answer, so a connection may
send its next requests at any time. A piece can wait for answers to earlier requests: so it arrives at a known
step of the connection, without a wait for a time. This module never sends a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, compress, pairwise
from random import Random
from typing import Final

from tests.fuzz.http_bytes import Engine, HttpRequest, Names
from tests.fuzz.http_requests import Requests

CONNECTIONS: Final = (1, 3, 4, 5)
BURSTS_MAX: Final = 5
BURST_REQUESTS: Final = (1, 1, 2, 2, 3, 3, 4, 8, 16)
PIECE_BYTES: Final = (1, 7, 50, 200, 1000)
PIECES_MAX: Final = 40

LAST_REFUSED_SHARE: Final = 0.6
"""Of the connections that end their side: how many end with an append and a refused one, whose heads the
server caches. The answer to the first one still waits for the disk then, and another route answers the second
one after it."""


class Ending(StrEnum):
    """How a connection ends."""

    CLOSED = "closed"
    """The client closes the connection after the last answer."""
    LAST = "last"
    """The last request makes the server close the connection."""
    HALF_CLOSED = "half closed"
    """The client ends its side after the last piece, and reads on."""
    RESET = "reset"
    """The client resets the connection after the last piece, and reads no more."""


_ENDINGS: Final = {Ending.CLOSED: 30, Ending.LAST: 10, Ending.HALF_CLOSED: 45, Ending.RESET: 15}
_FULL_ENDINGS: Final = {Ending.CLOSED: 30, Ending.LAST: 10}
"""The endings after the answers to all requests."""


@dataclass(frozen=True)
class Piece:
    """Bytes that are sent at once. `answers_before`: how many answers of the connection come first.
    `is_apart`: the server has read the piece before, so that this one is another read."""

    data: bytes
    answers_before: int
    is_apart: bool = False

    def __str__(self) -> str:
        return f"{'/ ' if self.is_apart else ''}{len(self.data)}@{self.answers_before}"


@dataclass(frozen=True)
class Dialogue:
    """What one connection does. `requests`: the requests that it sends completely, at least in part if the
    connection is reset. The last piece may end with a part of one more request."""

    names: Names
    requests: Sequence[HttpRequest]
    pieces: Sequence[Piece]
    ending: Ending

    @property
    def may_end_early(self) -> bool:
        """Whether the last requests may have no answers: the connection is reset, or a read waits when the
        client ends its side."""
        is_half_closed = self.ending is Ending.HALF_CLOSED
        return self.ending is Ending.RESET or (
            is_half_closed and any(each.may_wait for each in self.requests)
        )

    def __str__(self) -> str:
        kinds = " | ".join(request.kind for request in self.requests)
        pieces = " ".join(map(str, self.pieces))
        return f"{self.names.prefix}: {kinds}; bytes@answers before: {pieces}; {self.ending}"


@dataclass(frozen=True)
class Program:
    """What all connections do at the same time. `shared`: the key of the stream that they share."""

    seed: int
    shared: str
    token: str
    dialogues: Sequence[Dialogue]

    def __str__(self) -> str:
        return "\n".join((f"program {self.seed}", *map(str, self.dialogues)))


def program_of(seed: int, server: str, token: str, read_token: str, engine: Engine = Engine.OWN) -> Program:
    """Return the program of a seed. Its keys have the name of the server under test, and the seed.
    `read_token`: a token for reads only.

    On a Cluster, half of the connections have their keys in one slot. Only these may end early, because only
    their streams can be compared at one instant.
    """
    chance = Random(f"http {seed}")
    prefix = f"{server}{seed}-"
    shared = f"{prefix}shared"
    count = chance.choice(CONNECTIONS)
    dialogues = []
    for number in range(count):
        has_tag = engine is Engine.CLUSTER and chance.random() < 0.5
        own = f"{{{prefix}{number}}}" if has_tag else f"{prefix}{number}"
        is_one_slot = has_tag or engine is not Engine.CLUSTER
        dialogues.append(_dialogue(chance, Names(own, shared, token, read_token, engine, is_one_slot)))
    return Program(seed, shared, token, dialogues)


def _dialogue(chance: Random, names: Names) -> Dialogue:
    made = Requests(chance, names)
    requests, pieces = list[HttpRequest](), list[Piece]()

    def send_alone(*some: HttpRequest) -> None:
        """Send some requests in one piece, after the answers to all before."""
        pieces.append(Piece(b"".join(each.raw for each in some), len(requests)))
        requests.extend(some)

    for request in (made.prepare(), *made.first_ones()):
        send_alone(request)
    endings = _ENDINGS if names.is_one_slot else _FULL_ENDINGS
    [ending] = chance.choices(list(endings), list(endings.values()))
    is_last_refused = ending is Ending.HALF_CLOSED and chance.random() < LAST_REFUSED_SHARE
    for left in reversed(range(chance.randint(1, BURSTS_MAX))):
        first = len(requests)
        requests += made.some(chance.choice(BURST_REQUESTS))
        rest = b""
        if not left and ending is Ending.LAST:
            requests.append(made.last())
        elif not left and ending in {Ending.HALF_CLOSED, Ending.RESET} and not is_last_refused:
            rest = _incomplete(chance, made)
        raws = [each.raw for each in requests[first:]]
        late = [each.is_refused_late for each in requests[first:]]
        pieces += pieces_of(chance, raws, first, rest, late)
    if is_last_refused:
        alone, together = made.refused_after_append()
        for request in alone:
            send_alone(request)
        send_alone(*together)
    return Dialogue(names, requests, pieces, ending)


def _incomplete(chance: Random, made: Requests) -> bytes:
    """Return the beginning of a request that is never complete; mostly nothing."""
    if chance.random() < 0.7:
        return b""
    raw = made.append().raw
    return raw[: chance.randrange(1, len(raw))]


def pieces_of(
    chance: Random, raws: Sequence[bytes], first: int, rest: bytes, is_late: Sequence[bool] = ()
) -> list[Piece]:
    """Return the pieces of a burst of requests, whose number on the connection begins with `first`. `rest`:
    bytes that follow them. `is_late`: which ones the store refuses."""
    data = b"".join(raws) + rest
    ends = list(accumulate(map(len, raws)))
    late = list(compress(ends, is_late))
    inner = _cuts(chance, len(data), late)
    pieces = []
    for begin, end in pairwise([0, *inner, len(data)]):
        complete = first + sum(at <= begin for at in ends)
        awaited = chance.randint(first, complete) if chance.random() < 0.4 else 0
        if not begin:
            awaited = first if chance.random() < 0.7 else 0
        is_apart = bool(begin) and (len(inner) == 1 or chance.random() < 0.25)
        pieces.append(Piece(data[begin:end], awaited, is_apart))
    return pieces


def _cuts(chance: Random, size: int, late: Sequence[int]) -> list[int]:
    """Return where the next piece begins. `late`: the ends of requests that the store refuses: what follows
    one of them waits for another route than what came before."""
    form = chance.random()
    if form < 0.5 or size < 3:
        return []
    if form < 0.85:
        at = chance.choice(late) + chance.choice(PIECE_BYTES) if late else size
        return [at if at < size else chance.randrange(1, size)]
    cuts: list[int] = []
    at = 0
    while (at := at + chance.choice(PIECE_BYTES)) < size and len(cuts) < PIECES_MAX:
        cuts.append(at)
    return cuts
