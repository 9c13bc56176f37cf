"""One server and one browser for all tests of the console that need no setting of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import browsing
from tests.support.console import Console
from tests.support.server_process import running_server


@pytest.fixture(scope="session")
def shared_console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    directory = tmp_path_factory.mktemp("console")
    with (
        running_server(directory) as server,
        browsing("about:blank", directory / "profile") as page,
    ):
        yield Console(page, server.base_url)


@pytest.fixture
def console(shared_console: Console) -> Console:
    shared_console.page.resize(1280, 900)
    shared_console.page.emulate_scheme("light")
    return shared_console
