"""The forms of the cases in `bench.largest_cases`: one function for each kind of request.

Owns the paths of operations; the arguments say what is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bench.largest_streams import NDJSON, Case, Make, Request, State, command, numbered, post, scattered

Body = Callable[[State], Any]


def refused(case: Case) -> Case:
    """Return the case of a request that the server refuses."""
    return case._replace(is_refused=True)


def append_case(title: str, entry: Body) -> Case:
    """Return an append of one entry."""
    return Case("xadd", title, lambda state: [post("/v1/streams/x/entries", entry(state))])


def batch_case(
    title: str, entries: Callable[[State], list[dict[str, Any]]], *, stream: str = "batch"
) -> Case:
    """Return a batch append of entries in one JSON body."""
    path = f"/v1/streams/{stream}/entries:batch"
    return Case("xadd_batch", title, lambda state: [post(path, {"entries": entries(state)})])


def import_case(title: str, body: Callable[[State], bytes], encoding: str | None = None) -> Case:
    """Return an import of a body of NDJSON. `encoding`: the content encoding of the body."""
    path = "/v1/streams/import/entries:import"
    return Case("import_entries", title, lambda state: [Request("POST", path, body(state), NDJSON, encoding)])


def get_case(operation: str, title: str, path: str, prepare: Make) -> Case:
    """Return a GET request."""
    return Case(operation, title, lambda _: [Request("GET", path)], prepare)


def post_case(operation: str, title: str, path: str, body: Body, prepare: Make) -> Case:
    """Return a POST request with a JSON body."""
    return Case(operation, title, lambda state: [post(path, body(state))], prepare)


def command_case(title: str, prepare: Make, line: str) -> Case:
    """Return a Redis command whose words contain no spaces."""
    return Case("command", title, lambda _: [command(*line.split())], prepare)


def repeated_case(operation: str, title: str, count: int, line: str, prepare: Make) -> Case:
    """Return a pipeline or transaction that repeats one Redis command `count` times."""
    path = "/v1/command/pipeline" if operation == "pipeline" else "/v1/command/multi-exec"
    return Case(operation, title, lambda state: [post(path, [line.split()] * state.count(count))], prepare)


def with_group(prepare: Make, key: str, group: str) -> Make:
    """Yield the requests of `prepare`, then create a new group at the beginning of the stream."""

    def requests(state: State) -> Iterator[Request]:
        yield from prepare(state)
        yield Request("PUT", f"/v1/streams/{key}/groups/{group}", b'{"after":"0"}')

    return requests


def ids_case(operation: str, name: str, path: str, **options: Any) -> Case:
    """Return a request with the maximum number of ids, in an order that visits every block repeatedly."""
    return post_case(
        operation,
        f"scattered ids, {name}",
        path.format(key=name),
        lambda s: {"ids": scattered(s), **options},
        numbered(name, "g", "h"),
    )


def large_adds(state: State, count: int, size_bytes: int) -> list[list[str]]:
    """Return XADD commands, each with a value of `size_bytes`."""
    return [["XADD", "large", "*", "v", "x" * size_bytes]] * state.count(count)


def many_acks(state: State, count: int) -> list[list[str]]:
    """Return XACK commands, each with as many ids as a command may name."""
    return [["XACK", "many", "g", *scattered(state)]] * count
