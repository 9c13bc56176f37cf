"""What all tests share: a running server, Hypothesis without a time limit for each example, and the rule that
skipped tests fail a run under CI.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import settings

from tests.support.seeds import FIRST_SEED, NAME
from tests.support.server_process import ServerProcess, running_server

# A time limit would fail tests on a busy machine.
settings.register_profile("tailrace", settings.default, deadline=None)
settings.load_profile("tailrace")

# Without this, each process of the tests would compile all modules of the server and of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

_OUTCOMES: Final = ("passed", "failed", "error", "skipped")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all black-box tests. Each test uses keys that no other test uses."""
    with running_server(tmp_path_factory.mktemp("server")) as process:
        yield process


@pytest.fixture(scope="session")
def base_url(server: ServerProcess) -> str:
    return server.base_url


_COVERING: Final = (
    "tests/unit/",
    "tests/rules/",
    "tests/model/",
    "tests/differential/",
    "tests/crash/test_beside_a_restarted_server.py",
    "tests/crash/test_states_of_a_directory.py",
    "tests/limits/test_idempotency_keys.py",
    "tests/observability/test_trace_context.py",
    "tests/service/test_checkpoints.py",
    "tests/service/test_waiting_readers.py",
)
"""The tests that take every branch of `core`. A measured test takes three times as long, so no others are."""

_LONGEST: Final = (
    "tests/spark",
    "tests/browser",
    "store ",
    "executable ",
    "tests/contract/test_openapi",
    "tests/crash",
    "tests/release",
    "tests/third_party",
    "tests/sdk/test_typescript",
    "tests/docs/test_code",
    "tests/cli/test_recordings",
    "tests/bench",
    "tests/docs/test_",
)
"""How the names of the groups begin that take longest. They are first: the last group that begins leaves the
other processes without work for as long as it takes."""

_SHARED: Final = ("tests/spark", "tests/browser", "tests/remote/semantics")
"""Folders whose tests share a Spark session, a browser or an engine: one process runs all of a folder."""


@pytest.hookimpl(tryfirst=True)  # before `--dist loadgroup` reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test its group: the tests of a group run in one process. Measure the coverage of some."""
    ranks: dict[pytest.Item, int] = {}
    for item in items:
        path = item.path.relative_to(item.config.rootpath).as_posix()
        group = _group_of(item, path)
        item.add_marker(pytest.mark.xdist_group(group))
        if not path.startswith(_COVERING):
            item.add_marker(pytest.mark.no_cover)
        ranks[item] = next(
            (rank for rank, begin in enumerate(_LONGEST) if group.startswith(begin)), len(_LONGEST)
        )
    items.sort(key=ranks.__getitem__)


def _group_of(item: pytest.Item, path: str) -> str:
    """Return the file of a test, its folder, or the engine that it shares with tests of other files."""
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    if path.startswith("tests/remote/"):
        for name in ("store", "executable"):
            if isinstance(engine := parameters.get(name), str):
                return f"{name} {engine}"
    return next((folder for folder in _SHARED if path.startswith(f"{folder}/")), path)


def pytest_report_header() -> str:
    return f"{NAME}={FIRST_SEED}: the first seed of random tests, which changes every day"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = {outcome: len(terminalreporter.getreports(outcome)) for outcome in _OUTCOMES}
    parts = [f"{counts['passed'] + counts['failed']} tests ran"]
    parts += [f"{count} {outcome}" for outcome, count in counts.items() if count]
    terminalreporter.write_sep("=", ", ".join(parts))
    if _misses_tests(terminalreporter):
        terminalreporter.write_line("CI=true: a skipped test counts as failed.", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Under CI a run with skipped tests fails."""
    if hasattr(session.config, "workerinput"):
        return  # one of several processes: the first one counts
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    assert isinstance(reporter, pytest.TerminalReporter)
    if exitstatus == pytest.ExitCode.OK and _misses_tests(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _misses_tests(reporter: pytest.TerminalReporter) -> bool:
    return os.environ.get("CI") == "true" and bool(reporter.getreports("skipped"))
