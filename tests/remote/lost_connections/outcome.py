"""The answers to clients of a gateway whose connections are cut, and whether the streams agree with them.

This module never sends a request but those that look at the streams in the end.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from tests.fuzz.http_bytes import request_bytes
from tests.fuzz.http_client import Answer, HttpClient

GROUP: Final = "g"
"""The group of each stream that has one."""

Pair: TypeAlias = tuple[str, str]
"""The key of a stream, and a value or an id of it."""


@dataclass
class Outcome:
    """What clients know in the end. `acknowledged`: the ids of values; `unknown`: values that may be stored;
    `refused`: values that are not. `together`: values that are stored together or not at all. `delivered`:
    how often the groups delivered each id; `acked`, `maybe_acked`: the ids that clients acknowledged.
    `statuses`: how many answers had each status, and each effect of a refusal."""

    acknowledged: dict[Pair, str] = field(default_factory=dict)
    unknown: set[Pair] = field(default_factory=set)
    refused: set[Pair] = field(default_factory=set)
    together: list[list[Pair]] = field(default_factory=list)
    delivered: Counter[Pair] = field(default_factory=Counter)
    acked: set[Pair] = field(default_factory=set)
    maybe_acked: set[Pair] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)


def require_documented(answer: Answer) -> str:
    """Return what a refusal says of its effect: "none" or "unknown". Fail unless it is as documented."""
    assert answer.status == 503, answer
    reply = json.loads(answer.body)
    assert (reply["code"], reply["retryable"]) == ("NOT_ACCEPTING", True), answer
    assert "retry-after" in answer.headers, answer
    assert reply["side_effects"] in {"none", "unknown"}, answer
    effect: str = reply["side_effects"]
    return effect


class Stored(NamedTuple):
    """What a stream has in the end. `pending`: the ids that are pending in its group."""

    entries: list[tuple[str, str]]
    pending: set[str]
    last_delivered: str


async def stored_of(port: int, token: str, key: str) -> Stored:
    """Ask a gateway for a stream and its group at one instant."""
    client = await HttpClient.open(port)
    commands = [
        ["XRANGE", key, "-", "+"],
        ["XPENDING", key, GROUP, "-", "+", "1000000"],
        ["XINFO", "GROUPS", key],
    ]
    answer = await client.ask(request_bytes(token, "POST", "/v1/command/multi-exec", commands))
    await client.close()
    rows, pending, [group] = (reply["result"] for reply in json.loads(answer.body))
    facts = dict(zip(group[::2], group[1::2], strict=True))
    return Stored(
        [(row[0], row[1][1]) for row in rows], {row[0] for row in pending}, facts["last-delivered-id"]
    )


def require_right(outcome: Outcome, stored: dict[str, Stored]) -> None:
    """Fail unless the streams agree with the answers."""
    counts = Counter((key, value) for key, each in stored.items() for _, value in each.entries)
    doubled = [pair for pair, count in counts.items() if count > 1]
    assert not doubled, f"stored twice: {doubled}"
    ids = {(key, value): entry_id for key, each in stored.items() for entry_id, value in each.entries}
    for pair, entry_id in outcome.acknowledged.items():
        assert ids.get(pair) == (entry_id or ids.get(pair, "nothing")), (
            f"{pair} is {ids.get(pair)}, not {entry_id}"
        )
    assert not outcome.refused & counts.keys(), "stored, but the answer says not"
    assert counts.keys() <= outcome.acknowledged.keys() | outcome.unknown, "stored by no request"
    for pairs in outcome.together:
        assert len({pair in counts for pair in pairs}) == 1, f"half stored: {pairs}"
    twice = [pair for pair, count in outcome.delivered.items() if count > 1]
    assert not twice, f"delivered twice: {twice}"
    assert set(outcome.delivered) <= {(key, entry_id) for (key, _), entry_id in ids.items()}
    for key, each in stored.items():
        acked = {entry_id for of, entry_id in outcome.acked if of == key}
        assert not acked & each.pending, f"acknowledged, but pending: {acked & each.pending}"
        maybe = {entry_id for of, entry_id in outcome.maybe_acked if of == key}
        given = {
            entry_id for entry_id, _ in each.entries if _number(entry_id) <= _number(each.last_delivered)
        }
        lost = given - each.pending - acked - maybe
        assert not lost, f"delivered to nobody: {lost}"


def _number(text: str) -> tuple[int, int]:
    time_ms, _, sequence = text.partition("-")
    return int(time_ms), int(sequence)
