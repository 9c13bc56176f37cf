"""The largest requests on pending entries that were claimed alone, in no order of their ids.

No run or strip can have such entries: each is an object of its own. Owns the requests;
`bench.largest_streams` has the streams of other cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from bench.largest_forms import get_case, post_case
from bench.largest_streams import Case, Make, Request, State, post, read_group
from tailrace.core.limits import BATCH_ENTRIES_MAX, PIPELINE_COMMANDS_MAX, READ_ENTRIES_MAX

_ENTRIES: Final = 500_000
_SEED: Final = 7
_LEFT: Final = 10
"""One in this many entries is left by the removals."""


_TOGETHER: Final = 3
"""So many ids of one claim, or fewer, become entries of their own."""


def shuffled(name: str, *owners: str, seqs_per_ms: int = 0) -> Make:
    """A stream whose entries the consumers `owners` of the group `g` claimed a few at a time, in turn and in
    no order. `seqs_per_ms`: how much the second half of the id falls for each millisecond; 8 gives all ids
    one hash (`core.id_keys`)."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        path, count = f"/v1/streams/{name}", state.count(_ENTRIES)
        ids = [f"{number}-{seqs_per_ms * (count - number)}" for number in range(1, count + 1)]
        for first in range(0, count, BATCH_ENTRIES_MAX):
            entries = [
                {"id": value, "fields": {"f": "v"}} for value in ids[first : first + BATCH_ENTRIES_MAX]
            ]
            yield post(f"{path}/entries:batch", {"entries": entries})
        yield Request("PUT", f"{path}/groups/g", b'{"after":"0"}')
        body = {"group": "g", "consumer": "reader", "count": READ_ENTRIES_MAX, "streams": [{"key": name}]}
        for _ in range(0, count, READ_ENTRIES_MAX):
            yield post("/v1/read-group", body)
        Random(_SEED).shuffle(ids)  # noqa: S311 - no secret
        claims = [
            ["XCLAIM", name, "g", owners[at % len(owners)], "0", *ids[first : first + _TOGETHER], "JUSTID"]
            for at, first in enumerate(range(0, count, _TOGETHER))
        ]
        for start in range(0, len(claims), PIPELINE_COMMANDS_MAX):
            yield post("/v1/command/pipeline", claims[start : start + PIPELINE_COMMANDS_MAX])

    return requests


_BY_TWO: Final = shuffled("shuffled", "alice", "bob")
_BY_ONE: Final = shuffled("shuffled-c", "bob", *["alice"] * (_LEFT - 1))
_ONE_HASH: Final = shuffled("shuffled-h", "alice", "bob", seqs_per_ms=8)
_BY_MANY: Final = shuffled("shuffled-m", *(f"consumer-{number}" for number in range(100_000)))
_GROUP: Final = "/v1/streams/shuffled/groups/g"
_OTHERS: Final = "/v1/streams/shuffled-c"
_OF_MANY: Final = "/v1/streams/shuffled-m"
_OF_ONE_HASH: Final = "/v1/streams/shuffled-h/groups/g"

CLAIMS: Final = (
    get_case("xpending_summary", "claimed in no order", f"{_GROUP}/pending:summary", _BY_TWO),
    get_case("xpending", "rows, claimed in no order", f"{_GROUP}/pending?count=100000", _BY_TWO),
    post_case(
        "xautoclaim",
        "none idle, claimed in no order",
        f"{_GROUP}:autoclaim",
        lambda _: {"consumer": "bob", "min_idle_ms": 10**9, "start": "0", "count": 100_000},
        _BY_TWO,
    ),
    Case(
        "xgroup_delconsumer",
        "half, claimed in no order, transferred",
        lambda _: [Request("DELETE", f"{_GROUP}/consumers/alice?transfer_to=bob")],
        _BY_TWO,
    ),
    post_case(
        "xtrim",
        "most, claimed in no order, by policy delete",
        "/v1/streams/shuffled/entries:trim",
        lambda state: {"max_length": state.count(_ENTRIES) // _LEFT, "references": "delete"},
        _BY_TWO,
    ),
    Case(
        "xgroup_destroy",
        "claimed in no order",
        lambda _: [Request("DELETE", _GROUP)],
        _BY_TWO,
    ),
    Case(
        "xgroup_delconsumer",
        "most, claimed in no order",
        lambda _: [Request("DELETE", f"{_OTHERS}/groups/g/consumers/alice?force=true")],
        _BY_ONE,
    ),
    Case("delete_stream", "claimed in no order", lambda _: [Request("DELETE", _OTHERS)], _BY_ONE),
    post_case(
        "xautoclaim",
        "claimed in no order, ids with one hash",
        f"{_OF_ONE_HASH}:autoclaim",
        lambda _: {"consumer": "carol", "min_idle_ms": 0, "start": "0", "count": READ_ENTRIES_MAX},
        _ONE_HASH,
    ),
    Case(
        "read_group",
        "claimed in no order, ids with one hash",
        lambda _: [read_group("shuffled-h", "g", count=READ_ENTRIES_MAX, claim_min_idle_ms=0)],
        _ONE_HASH,
    ),
    Case(
        "xgroup_delconsumer",
        "half, claimed in no order, ids with one hash",
        lambda _: [Request("DELETE", f"{_OF_ONE_HASH}/consumers/bob?force=true")],
        _ONE_HASH,
    ),
    get_case("xinfo_consumers", "100 000 consumers", f"{_OF_MANY}/groups/g/consumers", _BY_MANY),
    get_case("xpending_summary", "100 000 consumers", f"{_OF_MANY}/groups/g/pending:summary", _BY_MANY),
    post_case(
        "xtrim",
        "half, of 100 000 consumers, by policy delete",
        f"{_OF_MANY}/entries:trim",
        lambda state: {"max_length": state.count(_ENTRIES) // 2, "references": "delete"},
        _BY_MANY,
    ),
    Case(
        "xgroup_destroy",
        "100 000 consumers",
        lambda _: [Request("DELETE", f"{_OF_MANY}/groups/g")],
        _BY_MANY,
    ),
)
