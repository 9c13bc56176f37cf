"""Random HTTP requests on several connections of a gateway get the answers that they would get one by one.

The programs and their judge are those of `tests.fuzz`. The second server, which gets the requests one by one,
is a gateway in front of another engine: of one server, if the first one is in front of a Cluster.
`TESTS_FUZZ_SEED` and `TESTS_FUZZ_PROGRAMS` are as for `tests/fuzz/test_http_programs.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.fuzz.http_bytes import Engine
from tests.fuzz.http_programs import program_of
from tests.fuzz.http_runs import run
from tests.fuzz.programs import PATIENT, run_all, seeds
from tests.support.engines import engine, executable_of
from tests.support.redis_server import required
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import ALL_SCOPES, make_token

PROGRAMS: Final = 10


_LONG: Final = ("redis-8.10.2", "redis-7.0.15", "valkey-9.1.2")


@pytest.fixture(params=["cluster-8.10.2", *(pytest.param(store, marks=pytest.mark.long) for store in _LONG)])
def store(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if executable_of(name) is None and not required():
        pytest.skip(f"{name} is not installed")
    return name


@contextmanager
def gateway(store: str, token_file: Path, directory: Path) -> Iterator[ServerProcess]:
    """A gateway in front of an engine of its own."""
    directory.mkdir()
    options = ("--tokens-file", str(token_file), *PATIENT)
    with engine(store) as url, running_server(directory, "--store", url, *options) as server:
        yield server
        assert "Traceback" not in server.log_text
        assert "request_failed" not in server.log_text


def test_requests_on_many_connections_of_a_gateway_are_answered_as_one_by_one(
    store: str, tmp_path: Path
) -> None:
    token_file = tmp_path / "tokens.json"
    token, read_token = make_token(token_file, *ALL_SCOPES), make_token(token_file, "read")
    kind = Engine.CLUSTER if store.startswith("cluster") else Engine.NODE
    alone = store.replace("cluster", "redis")
    programs = (program_of(seed, store, token, read_token, kind) for seed in seeds(PROGRAMS))
    with (
        gateway(store, token_file, tmp_path / "first") as first,
        gateway(alone, token_file, tmp_path / "second") as second,
    ):
        asyncio.run(run_all(programs, partial(run, first.port, second.port)))
