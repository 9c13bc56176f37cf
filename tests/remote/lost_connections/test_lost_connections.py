"""Gateways whose connections to the engine are delayed, and cut at any byte, while clients pipeline requests.

Each request has one answer: the right one, or 503 with what is known of its effect. The streams agree with
the answers. `TESTS_FAULT_ROUNDS` is the number of rounds for each engine;
`TESTS_FUZZ_SEED` is the seed of the first one. What is under way when a connection is cut is not decided
by the seed, so a round that fails may need some runs to fail again.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

import pytest

from tests.fuzz.programs import PATIENT, SEED
from tests.remote.lost_connections.clients import run_round
from tests.support.cut_connections import faulty_link, killed_clients
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import required
from tests.support.server_process import running_server
from tests.support.tokens import ALL_SCOPES, make_token

Cutting: TypeAlias = AbstractAsyncContextManager[None]

ROUNDS: Final = int(os.environ.get("TESTS_FAULT_ROUNDS", "1"))
FURTHER_ROUNDS_MAX: Final = 30
"""How many rounds follow at most while no cut has met a request: in about a fifth of them, none does."""
PATIENCE_S: Final = 60
"""Longer than any round takes: after this time, a client hangs."""


CONFUSED: Final = ("Traceback", "request_failed", "could not be passed on")
"""What no gateway logs."""


def executable(store: str) -> str:
    found = executable_of(store)
    if found is None and not required():
        pytest.skip(f"{store} is not installed")
    assert found is not None
    return found


async def run_rounds(url: str, directory: Path, cuts: Callable[[Random], Sequence[Cutting]]) -> Counter[str]:
    """Run rounds at one gateway in front of the engine at `url`: one for each of `cuts`, again and again.
    Return how many answers had each status.

    Whether a cut meets a request depends on the machine, so further rounds follow until one did.
    """
    tokens = directory / "tokens.json"
    token = make_token(tokens, *ALL_SCOPES)
    statuses = Counter[str]()
    with ExitStack() as stack:
        options = ("--store", url, "--tokens-file", str(tokens), *PATIENT)
        gateway = await asyncio.to_thread(stack.enter_context, running_server(directory, *options))
        for seed in range(SEED, SEED + ROUNDS + FURTHER_ROUNDS_MAX):
            if seed >= SEED + ROUNDS and statuses["unknown"]:
                break
            for number, cutting in enumerate(cuts(Random(seed))):
                async with asyncio.timeout(PATIENCE_S):
                    statuses += (await run_round(gateway.port, token, f"{seed}-{number}", cutting)).statuses
        assert not [text for text in CONFUSED if text in gateway.log_text], gateway.log_text
    return statuses


def report(statuses: Counter[str], cuts: str = "") -> None:
    print(f"{ROUNDS} rounds, TESTS_FUZZ_SEED={SEED}: {dict(statuses)} {cuts}")  # noqa: T201 - figures
    assert statuses["unknown"], "some requests were under way when a connection was cut"


@pytest.mark.parametrize(
    "store",
    [
        "redis-8.10.2",
        pytest.param("redis-7.0.15", marks=pytest.mark.long),
        pytest.param("valkey-9.1.2", marks=pytest.mark.long),
    ],
)
def test_each_request_has_its_own_answer_when_connections_to_an_engine_are_cut(
    store: str, tmp_path: Path
) -> None:
    async def main() -> None:
        with RedisOnPort(executable(store)) as server:
            async with faulty_link(server.port, Random(SEED)) as link:
                url = f"redis://127.0.0.1:{link.port}"
                statuses = await run_rounds(
                    url, tmp_path, lambda chance: (link.faults(), killed_clients([server], chance))
                )
                report(statuses, f"{link.cuts} cuts")

    print(f"TESTS_FUZZ_SEED={SEED}")  # noqa: T201 - shown where one fails
    asyncio.run(main())


def test_each_request_has_its_own_answer_when_connections_to_a_cluster_are_cut(tmp_path: Path) -> None:
    print(f"TESTS_FUZZ_SEED={SEED}")  # noqa: T201 - shown where one fails
    with RedisCluster(executable("redis-8.10.2")) as cluster:
        masters = cluster.masters
        url = f"redis+cluster://{masters[0].address}"
        report(asyncio.run(run_rounds(url, tmp_path, lambda chance: (killed_clients(masters, chance),))))
