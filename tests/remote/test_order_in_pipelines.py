"""The commands of a pipeline see what those before them did, and nothing of those after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server
from tests.support.waiting_readers import until

ROUNDS = 20


@pytest.fixture(scope="module")
def master() -> Iterator[RedisOnPort]:
    """A server with a replica."""
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with (
        RedisOnPort(executable, "--repl-diskless-sync-delay", "0") as master,
        RedisOnPort(executable, "--replicaof", "127.0.0.1", str(master.port)) as replica,
    ):
        until(lambda: b"master_link_status:up" in replica.info("replication"))
        yield master


def pipeline(url: str, commands: Sequence[Sequence[str]], **headers: str) -> list[Any]:
    answer = httpx.post(f"{url}/v1/command/pipeline", json=commands, headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return [each["result"] for each in answer.json()]


@pytest.mark.parametrize(("option", "header"), [("0", {}), ("0", {"Min-Replicas": "1"}), ("1", {})])
def test_reads_of_a_pipeline_see_the_writes_before_them_also_if_replicas_confirm_these(
    master: RedisOnPort, tmp_path: Path, option: str, header: dict[str, str]
) -> None:
    append, length = ["XADD", "counted", "*", "a", "b"], ["XLEN", "counted"]
    with running_server(tmp_path, "--store", master.url, "--min-replicas", option) as gateway:
        for _ in range(ROUNDS):
            results = pipeline(gateway.base_url, [["DEL", "counted"], *[append, length] * 8], **header)
            assert results[2::2] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_description_that_gives_the_stream_an_incarnation_shows_no_later_entry(
    master: RedisOnPort, tmp_path: Path
) -> None:
    with running_server(tmp_path, "--store", master.url) as gateway:
        for number in range(ROUNDS):
            append, look = ["XADD", f"new:{number}", "*", "a", "b"], ["XINFO", "STREAM", f"new:{number}"]
            _, first, _, second = pipeline(gateway.base_url, [append, look, append, look])
            assert (first[:2], second[:2]) == (["length", 1], ["length", 2])
