"""The largest requests with ids that Python hashes alike (`core.id_keys`).

Owns these requests: one for each operation that takes ids, with as many ids as a request may name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bench.largest_forms import post_case
from bench.largest_streams import Case, Make, Request, State, command, delivered, post, read_group
from tailrace.core.limits import IDS_PER_REQUEST_MAX

FIRST_MS: Final = 1_000_000
STEP: Final = 7_919


def ids_with_one_hash(state: State) -> list[str]:
    """Return ids that rise. The hash of ``ms-seq`` is ``8 * ms + seq``."""
    count = state.count(IDS_PER_REQUEST_MAX)
    return [f"{FIRST_MS + number}-{8 * (count - number)}" for number in range(count)]


def in_no_order(state: State) -> list[str]:
    """Return these ids in an order that visits every block repeatedly."""
    ids = ids_with_one_hash(state)
    return [ids[number * STEP % len(ids)] for number in range(len(ids))]


def stream_of_them(name: str, *settings: dict[str, Any]) -> Make:
    """Yield a stream with these ids, all pending in the group `g`, and in the group `h` as well.

    `settings`: of the group `g`, set before the delivery.
    """

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        path, ids = f"/v1/streams/{name}", ids_with_one_hash(state)
        entries = [{"id": value, "fields": {"f": str(at)}} for at, value in enumerate(ids)]
        yield post(f"{path}/entries:batch", {"entries": entries})
        yield from delivered(name, "h", len(ids))
        yield Request("PUT", f"{path}/groups/g", b'{"after":"0"}')
        for each in settings:
            yield post(f"{path}/groups/g:configure", each)
        yield read_group(name, "g", count=len(ids))

    return requests


def _case(operation: str, path: str, *settings: dict[str, Any], **options: Any) -> Case:
    name = "-".join(["one-hash", operation, *(key for each in settings for key in each)])
    title = ", ".join(["ids with one hash", *(key for each in settings for key in each)])
    return post_case(
        operation,
        title,
        f"/v1/streams/{name}/{path}",
        lambda state: {"ids": in_no_order(state), **options},
        stream_of_them(name, *settings),
    )


def _command_case(*words: str) -> Case:
    name = f"one-hash-{words[0]}"
    return Case(
        "command",
        f"{words[0]}, ids with one hash",
        lambda state: [command(words[0], name, *words[1:], *in_no_order(state))],
        stream_of_them(name),
    )


_ORDERED: Final = {"order_by": "f"}

HASHES: Final = (
    _case("xdel", "entries:delete"),
    _case("xdelex", "entries:delete", references="acknowledged"),
    _case("xack", "groups/g:ack"),
    _case("xack", "groups/g:ack", _ORDERED),
    _case("xackdel", "groups/g:ack", delete=True, references="delete"),
    _case("xnack", "groups/g:nack", mode="silent"),
    _case("xnack", "groups/g:nack", {"backoff": {"initial_ms": 1_000}}, mode="fail"),
    _case("xclaim", "groups/g:claim", consumer="bob", min_idle_ms=0),
    _case("extend", "groups/g:extend", consumer="alice"),
    _command_case("XDEL"),
    _command_case("XACK", "g"),
    _command_case("XCLAIM", "g", "bob", "0"),
)
