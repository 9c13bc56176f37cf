"""The largest requests with options that other requests do not have: filters, retention, half of the entries.

Owns the requests; `bench.largest_cases` has the plain forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from bench.largest_forms import get_case, post_case, with_group
from bench.largest_streams import STREAMS, Case, Make, Request, State, alone, filled, large, post, read_group
from tailrace.core.limits import PIPELINE_COMMANDS_MAX, READ_ENTRIES_MAX

_MANY: Final = large("many", "g")
_NONE: Final = quote('fields.rider == "nobody"')
_TESTS: Final = quote(" || ".join(f'fields.rider.startsWith("x{number}")' for number in range(60)))
_ENTRIES: Final = "/v1/streams/many/entries"


def in_turn(name: str) -> Make:
    """A stream whose entries two consumers of the group `g` received one at a time, in turn."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        count = state.count(STREAMS)
        yield from filled(name, count)
        yield Request("PUT", f"/v1/streams/{name}/groups/g", b'{"after":"0"}')
        words = ("COUNT", "1", "STREAMS", name, ">")
        reads = [["XREADGROUP", "GROUP", "g", consumer, *words] for consumer in ("alice", "bob")]
        for start in range(0, count, PIPELINE_COMMANDS_MAX):
            part = range(start, min(start + PIPELINE_COMMANDS_MAX, count))
            yield post("/v1/command/pipeline", [reads[number % 2] for number in part])

    return requests


def claimed_in_turn(name: str) -> Make:
    """A stream whose entries two consumers of the group `g` claimed one at a time, in turn."""

    def requests(state: State) -> Iterator[Request]:
        delivered = list(alone(name)(state))
        yield from delivered
        numbers = range(1, state.count(STREAMS) + 1) if delivered else range(0)
        for start in range(0, len(numbers), PIPELINE_COMMANDS_MAX):
            part = numbers[start : start + PIPELINE_COMMANDS_MAX]
            owners = ("alice", "bob")
            claims = [["XCLAIM", name, "g", owners[n % 2], "0", f"{n}-0", "JUSTID"] for n in part]
            yield post("/v1/command/pipeline", claims)

    return requests


def filtered(name: str) -> Make:
    """The stream `many`, with a new group whose filter no entry matches."""

    def requests(state: State) -> Iterator[Request]:
        yield from with_group(_MANY, "many", name)(state)
        yield post(f"/v1/streams/many/groups/{name}:configure", {"filter": 'fields.rider == "nobody"'})

    return requests


_TURNS: Final = in_turn("turns")
_HALVES: Final = in_turn("two-halves")
_CLAIMED: Final = claimed_in_turn("claimed")

OPTIONS: Final = (
    get_case("xrange", "a filter that none matches", f"{_ENTRIES}?count=100000&filter={_NONE}", _MANY),
    get_case("xrange", "a filter of 60 tests", f"{_ENTRIES}?count=100000&filter={_TESTS}", _MANY),
    get_case("export_entries", "a filter that none matches", f"{_ENTRIES}:export?filter={_NONE}", _MANY),
    Case(
        "xreadgroup",
        "a filter that none matches",
        lambda _: [read_group("many", "filtered")],
        filtered("filtered"),
    ),
    Case(
        "xreadgroup",
        "min_count",
        lambda _: [read_group("many", "min", count=READ_ENTRIES_MAX, min_count=1_000, wait_ms=10)],
        with_group(_MANY, "many", "min"),
    ),
    get_case("xpending", "rows, delivered alone", "/v1/streams/turns/groups/g/pending?count=100000", _TURNS),
    post_case(
        "xtrim",
        "half, delivered alone, by policy delete",
        "/v1/streams/turns/entries:trim",
        lambda state: {"max_length": state.count(STREAMS) // 2, "references": "delete"},
        _TURNS,
    ),
    Case(
        "xgroup_delconsumer",
        "half, delivered alone",
        lambda _: [Request("DELETE", "/v1/streams/turns/groups/g/consumers/alice?force=true")],
        _TURNS,
    ),
    Case(
        "xgroup_delconsumer",
        "half, delivered alone, transferred",
        lambda _: [Request("DELETE", "/v1/streams/two-halves/groups/g/consumers/alice?transfer_to=bob")],
        _HALVES,
    ),
    get_case(
        "xpending", "rows, claimed alone", "/v1/streams/claimed/groups/g/pending?count=100000", _CLAIMED
    ),
    post_case(
        "xtrim",
        "half, claimed alone, by policy delete",
        "/v1/streams/claimed/entries:trim",
        lambda state: {"max_length": state.count(STREAMS) // 2, "references": "delete"},
        _CLAIMED,
    ),
    Case(
        "xgroup_delconsumer",
        "half, claimed alone",
        lambda _: [Request("DELETE", "/v1/streams/claimed/groups/g/consumers/alice?force=true")],
        _CLAIMED,
    ),
    Case(
        "create_stream",
        "retention of an existing stream",
        lambda _: [Request("PUT", "/v1/streams/two-halves", b'{"retention":{"max_length":1}}')],
        _HALVES,
    ),
)
