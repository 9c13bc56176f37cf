"""`make pipeline`: a server and Spark on this machine, the race pipeline over them, and how to look at it.

It owns both processes' lives and what is printed beside the pipeline's own lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Before Java starts: else Python workers are of another Python, and the driver listens where nobody connects.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.sql import SparkSession
from race import CHECKPOINTS, PACE, REFUSED, Places, run, write_readings

READY = re.compile(r"http://\S+")


def main() -> None:
    """Run it in a directory that stays, so that it can be looked at."""
    directory = Path(tempfile.mkdtemp(prefix="tailrace-pipeline-"))
    data = directory / "data"
    with _server(data) as url:
        print(f"a server on {url}, everything below {directory}")
        print(f"readings: {write_readings(directory / 'readings')} lines")
        spark = _session(directory)
        try:
            run(spark, Places(url, str(directory)))
        finally:
            spark.stop()
    _say_how_to_look(directory, data)


def _say_how_to_look(directory: Path, data: Path) -> None:
    tailrace = _program("tailrace")
    dataset = f"pyarrow.dataset.dataset('{directory}/archive', partitioning='hive')"
    print(
        f"""
The times include Spark's own start; `make bench-spark` measures without it.

To look at it, in two terminals:
  {tailrace} serve --data-dir {data}
  {tailrace} cli XRANGE {PACE} - + COUNT 3
  {tailrace} cli XRANGE {REFUSED} - +
The archive of {CHECKPOINTS}, in Parquet, needs no server:
  {_program("python")} -c "import pyarrow.dataset; print({dataset}.head(3).to_pylist())"
Everything is below {directory}; remove it when you have seen enough."""
    )


def _program(name: str) -> str:
    """As one would type it here: beside the Python that runs this."""
    return os.path.relpath(Path(sys.executable).with_name(name))


@contextmanager
def _server(data: Path) -> Iterator[str]:
    command = [
        _program("tailrace"),
        "serve",
        "--port",
        "0",
        "--data-dir",
        str(data),
        "--log-level",
        "warning",
    ]
    log_file = data.with_name("server.log")
    with log_file.open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603 - ours
    try:
        assert process.stdout
        ready = READY.search(process.stdout.readline())
        if ready is None:
            raise SystemExit(f"the server did not start:\n{log_file.read_text()}")
        yield ready[0]
    finally:
        process.terminate()
        process.wait(30)


def _session(directory: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[2,4]").appName("race")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.sql.warehouse.dir", str(directory / "warehouse")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


if __name__ == "__main__":
    main()
