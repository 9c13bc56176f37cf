"""Every operation of the published document is a method of the hand-written layer, blocking and asyncio.

`CALLS` has a call for each operation. The tests make each of them on both clients, and the server's metrics
say which operations it carried out.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tailrace_client import AsyncStream, AsyncTailrace, Tailrace
from tailrace_client.record import Record

DOCUMENT: Final = json.loads((Path(__file__).parents[3] / "openapi/openapi.json").read_text())
FINISHED: Final = re.compile(
    r'^tailrace_requests_total\{operation="(\w+)",status="(\d+)"\} (\S+)', re.MULTILINE
)
COUNTED_WITHIN_S: Final = 30

Call = Callable[[Any, str], Any]
"""A call of a client, blocking or asyncio, on the stream with this key."""

LINES: Final = b'{"n":"1"}\n'

LATER_MS: Final = 3_600_000


def listed(stream: Any) -> Any:
    """The scheduled entries of a stream that has one."""
    if not isinstance(stream, AsyncStream):
        stream.schedule({"n": "4"}, delay_ms=LATER_MS)
        return stream.scheduled()

    async def entries() -> AsyncIterator[Any]:
        await stream.schedule({"n": "4"}, delay_ms=LATER_MS)
        async for entry in stream.scheduled():
            yield entry

    return entries()


def cancelled(stream: Any) -> Any:
    """Whether a scheduled entry was cancelled."""
    if not isinstance(stream, AsyncStream):
        return stream.cancel_scheduled(stream.schedule({"n": "4"}, delay_ms=LATER_MS))

    async def cancel() -> bool:
        found: bool = await stream.cancel_scheduled(await stream.schedule({"n": "4"}, delay_ms=LATER_MS))
        return found

    return cancel()


CALLS: Final[dict[str, Call]] = {
    "create_stream": lambda client, key: client.stream(key).create(),
    "xadd": lambda client, key: client.stream(key).append({"n": "1"}, id="1-1"),
    "xadd_batch": lambda client, key: client.stream(key).append_batch([{"n": "2"}, {"n": "3"}]),
    "list_scheduled": lambda client, key: listed(client.stream(key)),
    "cancel_scheduled": lambda client, key: cancelled(client.stream(key)),
    "import_entries": lambda client, key: client.stream(key).import_lines(
        LINES, producer_id="p", producer_epoch=1, producer_layout="1 part", idempotency_key="k"
    ),
    "check_import": lambda client, key: client.stream(key).check_lines(LINES),
    "export_entries": lambda client, key: client.stream(key).read(),
    "xrange": lambda client, key: client.stream(key).read_after("0"),
    "get_entry": lambda client, key: client.stream(key).get("1-1"),
    "split_entries": lambda client, key: client.stream(key).split(2),
    "seek_entries": lambda client, key: client.stream(key).seek(2),
    "xread": lambda client, key: client.read({key: "0"}),
    "tail": lambda client, key: client.stream(key).tail("0"),
    "tail_streams": lambda client, key: client.tail([key], "0"),
    "list_streams": lambda client, key: client.streams(key),
    "xinfo_stream": lambda client, key: client.stream(key).info(),
    "head_stream": lambda client, key: client.stream(key).exists(),
    "xlen": lambda client, key: client.stream(key).length(),
    "xsetid": lambda client, key: client.stream(key).set_id("99999999999999-0"),
    "get_producer": lambda client, key: client.stream(key).producer("p"),
    "take_over_epoch": lambda client, key: client.stream(key).take_over(
        "p", epoch=1, replaces="1 part", layout="2 parts", keys=1
    ),
    "xcfgset": lambda client, key: client.stream(key).configure(idmp_duration_s=60),
    "xgroup_create": lambda client, key: client.stream(key).group("g").create("0"),
    "xgroup_createconsumer": lambda client, key: client.stream(key).group("g").create_consumer("alice"),
    "xreadgroup": lambda client, key: client.stream(key).group("g").read("alice"),
    "xinfo_groups": lambda client, key: client.stream(key).groups(),
    "xinfo_group": lambda client, key: client.stream(key).group("g").info(),
    "xinfo_consumers": lambda client, key: client.stream(key).group("g").consumers(),
    "xpending": lambda client, key: client.stream(key).group("g").pending(),
    "xpending_summary": lambda client, key: client.stream(key).group("g").pending_summary(),
    "xclaim": lambda client, key: client.stream(key).group("g").claim("bob", "1-1", min_idle_ms=0),
    "xautoclaim": lambda client, key: client.stream(key).group("g").autoclaim("bob", min_idle_ms=0),
    "xnack": lambda client, key: client.stream(key).group("g").nack("1-1"),
    "xack": lambda client, key: client.stream(key).group("g").ack("1-1"),
    "configure_group": lambda client, key: (
        client.stream(key).group("g").configure(max_deliveries=3, dead_letter_stream=f"{key}:dead")
    ),
    "extend": lambda client, key: client.stream(key).group("g").extend("alice", "1-0"),
    "redrive": lambda client, key: client.stream(key).group("g").redrive(),
    "xgroup_setid": lambda client, key: client.stream(key).group("g").set_position("0"),
    "xgroup_delconsumer": lambda client, key: client.stream(key).group("g").delete_consumer("alice"),
    "xgroup_destroy": lambda client, key: client.stream(key).group("g").destroy(),
    "delete_entry": lambda client, key: client.stream(key).delete_entry("1-1"),
    "xdel": lambda client, key: client.stream(key).delete_entries("1-1", "2-1"),
    "xtrim": lambda client, key: client.stream(key).trim(max_length=1),
    "delete_stream": lambda client, key: client.stream(key).delete(),
    "command": lambda client, key: client.command("XLEN", key),
    "pipeline": lambda client, key: client.pipeline([["XLEN", key]]),
    "transaction": lambda client, key: client.transaction([["XLEN", key]]),
    "get_limits": lambda client, _key: client.limits(),
    "healthz": lambda client, _key: client.ping(),
    "readyz": lambda client, _key: client.is_ready(),
    "create_ticket": lambda client, _key: client.create_ticket(),
    "show_access": lambda client, _key: client.access(),
    "show_server": lambda client, _key: client.server(),
    "slow_log": lambda client, _key: client.slow_log(),
    "clear_slow_log": lambda client, _key: client.clear_slow_log(),
    "problem_page": lambda client, _key: client.explain("NOGROUP"),
}


def operations() -> set[str]:
    return {
        operation["operationId"]
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict) and "operationId" in operation
    }


def succeeded(url: str) -> dict[str, float]:
    """How many requests of each operation succeeded."""
    counts: dict[str, float] = {}
    for operation, status, count in FINISHED.findall(httpx.get(f"{url}/metrics", timeout=30).text):
        if status.startswith("2"):
            counts[operation] = counts.get(operation, 0) + float(count)
    return counts


def wait_for(url: str, operation: str, before: dict[str, float]) -> None:
    """Return when one more request of the operation has finished: a tail finishes when it is closed."""
    deadline = time.monotonic() + COUNTED_WITHIN_S
    while succeeded(url).get(operation, 0) <= before.get(operation, 0):
        assert time.monotonic() < deadline, f"the call did not carry out {operation}"


def assert_plain(value: Any) -> None:
    """Assert that a result has nothing of the generated code, at any depth, and that records are JSON."""
    assert "generated" not in type(value).__module__, value
    if isinstance(value, Record):
        assert type(value).from_dict(json.loads(json.dumps(value.to_dict()))) == value
    if is_dataclass(value):
        for field in fields(value):
            assert_plain(getattr(value, field.name))
    elif isinstance(value, dict):
        assert_plain(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            assert_plain(each)


def test_there_is_a_call_for_each_operation_of_the_document() -> None:
    assert set(CALLS) == operations(), "a new operation needs a method of both clients, and its call here"


def test_each_operation_is_carried_out_by_a_method_of_the_blocking_client(
    tailrace: Tailrace, base_url: str, key: str
) -> None:
    for operation, call in CALLS.items():
        before = succeeded(base_url)
        result = call(tailrace, key)
        if isinstance(result, Iterator):
            assert_plain(next(result))
            getattr(result, "close", lambda: None)()
        assert_plain(result)
        del result
        wait_for(base_url, operation, before)


def test_each_operation_is_carried_out_by_a_method_of_the_asyncio_client(base_url: str, key: str) -> None:
    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            for operation, call in CALLS.items():
                before = succeeded(base_url)
                result = call(client, key)
                if isinstance(result, AsyncIterator):
                    assert_plain(await anext(result))
                    await result.aclose()  # type: ignore[attr-defined]
                else:
                    assert_plain(await result)
                await asyncio.to_thread(wait_for, base_url, operation, before)

    asyncio.run(program())


@pytest.mark.parametrize("client", [Tailrace, AsyncTailrace])
def test_every_public_method_says_what_it_does(client: type[object]) -> None:
    methods = inspect.getmembers(client, inspect.isfunction)
    assert [name for name, method in methods if not name.startswith("_") and not method.__doc__] == []
