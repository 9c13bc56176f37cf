"""`docs/from-redis.md` lists every command and every operation with its route, and its code runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tailrace_client import AsyncTailrace, Consumer, Tailrace
from tests.support.command_lines import KNOWN
from tests.support.pages import ROOT, prose_of, text_of
from tests.support.python_blocks import check_programs
from tests.support.redis_server import RedisServer, find_redis_server, required
from tests.support.server_process import running_server

PAGE: Final = text_of("docs/from-redis.md")
DOCUMENT: Final = json.loads((ROOT / "openapi/openapi.json").read_text())
OPERATIONS: Final = {
    operation["operationId"]: (method.upper(), path.removeprefix("/v1"))
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    if isinstance(operation, dict) and "operationId" in operation
}
ROWS: Final = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
CODE: Final = re.compile(r"`([^`]+)`")
ROUTE: Final = re.compile(r"`(GET|PUT|POST|DELETE|HEAD) ([^`?]+)")
ENTRIES_IN_REDIS: Final = 2_500


def operations_of(row: list[str]) -> list[str]:
    return [name for cell in row for name in CODE.findall(cell) if name in OPERATIONS]


def test_every_command_of_the_grammar_stands_on_the_page() -> None:
    named = " ".join(f"{code} " for code in CODE.findall(prose_of("docs/from-redis.md")))
    spelled = [name.replace("|", " ").upper() for name in KNOWN]
    assert [command for command in spelled if not re.search(rf"(?:^| ){command} ", named)] == []


def test_the_page_names_no_command_that_is_not_there() -> None:
    known = {name.partition("|")[0].upper() for name in KNOWN}
    commands = {code.split()[0] for row in ROWS for code in CODE.findall(row[0]) if code.isupper()}
    assert commands
    assert commands <= known


def test_every_operation_of_the_document_stands_in_a_table_with_its_route() -> None:
    named = {name: row for row in ROWS for name in operations_of(row)}
    assert set(named) == set(OPERATIONS)
    for row in ROWS:
        (operation,) = operations_of(row)
        routes = [route for cell in row for route in ROUTE.findall(cell)]
        assert OPERATIONS[operation] in routes or "the same" in row[1], row


def test_every_method_of_the_sdk_that_the_page_names_is_there() -> None:
    methods = re.findall(r"`(stream|group)\.(\w+)`", PAGE)
    assert methods
    for client in (Tailrace("http://localhost:1"), AsyncTailrace("http://localhost:1")):
        stream = client.stream("race:france")
        owners = {"stream": stream, "group": stream.group("judges")}
        assert [name for owner, name in methods if not hasattr(owners[owner], name)] == []
    assert callable(Consumer)


def test_the_python_of_the_page_runs_and_a_stream_is_brought_over_from_redis(tmp_path: Path) -> None:
    executable = find_redis_server()
    if executable is None:
        assert not required(), "redis-server is missing"
        pytest.skip("redis-server is missing")
    with RedisServer(executable, tmp_path) as source, running_server(tmp_path) as server:
        entries = [(b"XADD", b"race:italy", b"%d-1" % n, b"lap", b"%d" % n) for n in range(1, 2_501)]
        assert len(source.run_all(entries)) == ENTRIES_IN_REDIS
        address = f'unix_socket_path="{tmp_path / "redis.sock"}"'
        check_programs(PAGE, server.base_url, {'host="127.0.0.1", port=6379': address})
