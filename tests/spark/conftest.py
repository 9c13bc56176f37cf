"""One Spark session for all Spark tests, and the environment that it needs.

Two task threads, and tasks that fail are retried up to four times, as on a cluster (`local[2]` retries none).
`SPARK_MASTER` names another master, such as `local-cluster[2,1,1024]`, whose tasks run in two other
processes.

A job of Spark takes seconds, however small its data are. So `make test` runs the first test with a session of
each file, and a third of the others, which changes every day. `make test-all` runs all.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# Set before Java starts: else workers use another Python, and the driver listens where no worker connects.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import pytest
from pyspark.sql import SparkSession

from tests.spark.spark_processes import PYTHONPATH, standalone_cluster
from tests.support.seeds import is_due

MASTER: Final = os.environ.get("SPARK_MASTER", "local[2,4]")
SHARE: Final = 3
"""One of so many tests with a session runs on a day, besides the first one of each file."""


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests with a session as long that are left to another day."""
    numbers: Counter[Path] = Counter()
    for item in items:
        if not isinstance(item, pytest.Function) or "spark" not in item.fixturenames:
            continue
        number = numbers[item.path]
        numbers[item.path] += 1
        if number and not is_due(number, SHARE):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Use `spark.newSession()` to change its configuration; it costs nothing."""
    directory = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master(MASTER)
        .appName("tailrace-tests")
        .config("spark.executorEnv.PYTHONPATH", PYTHONPATH)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Small, so that rows pass from one Python worker to the next while a task still produces more.
        .config("spark.buffer.size", "4096")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .config("spark.local.dir", str(directory / "local"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The master's URL of one cluster for all tests that need one; one application at a time."""
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as master:
        yield master
