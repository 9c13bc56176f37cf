"""The dependencies and the version of the package. An import loads nothing of the server."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

from tailrace import app


def test_the_package_needs_the_client_arrow_and_what_spark_asks_for_and_brings_no_server() -> None:
    assert requires("tailrace-spark") == [
        "numpy>=1.26",
        "pandas<3,>=2.2",
        "pyarrow>=18",
        "tailrace-client",
        "pyspark>=4.2; extra == 'spark'",
    ]


def test_the_package_has_the_servers_version() -> None:
    assert metadata("tailrace-spark")["Version"] == app.__version__


def test_importing_it_loads_nothing_of_the_server(tmp_path: Path) -> None:
    program = "import sys, tailrace_spark; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert not {"tailrace", "fastapi", "uvicorn", "pydantic"} & set(loaded.stdout.split())
