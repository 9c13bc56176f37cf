"""Servers with limits that a test can reach."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.server_process import ServerProcess, running_server

QUICK = ("--header-timeout-s", "2", "--answer-timeout-s", "2")
"""A short deadline, and long enough for a test on a busy machine to send its data in time."""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose deadlines are short."""
    with running_server(tmp_path_factory.mktemp("impatient"), "--durability", "none", *QUICK) as process:
        yield process
