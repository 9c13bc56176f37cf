"""`make pipeline`: run a server, Spark and the race pipeline on this machine, and print how to look at the
results.

This program owns the server process and the Spark session, and prints its own lines next to those of the
pipeline.
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

# This must be set before Java starts: workers use this Python, and the driver listens where they connect.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.sql import SparkSession
from race import CHECKPOINTS, PACE, REFUSED, Places, run, write_readings

READY = re.compile(r"http://\S+")


def main() -> None:
    """Run the pipeline in a directory that is kept, so that you can look at it."""
    directory = Path(tempfile.mkdtemp(prefix="tailrace-pipeline-"))
    data = directory / "data"
    with _server(data) as url:
        print(f"server: {url}, all files: {directory}")
        print(f"readings: {write_readings(directory / 'readings')} lines")
        spark = _session(directory)
        try:
            run(spark, Places(url, str(directory)))
        finally:
            spark.stop()
    _print_how_to_look(directory, data)


def _print_how_to_look(directory: Path, data: Path) -> None:
    tailrace = _program("tailrace")
    dataset = f"pyarrow.dataset.dataset('{directory}/archive', partitioning='hive')"
    print(
        f"""
The times include the start of Spark; `make bench-spark` measures without it.

To look at the streams, use two terminals:
  {tailrace} serve --data-dir {data}
  {tailrace} cli XRANGE {PACE} - + COUNT 3
  {tailrace} cli XRANGE {REFUSED} - +
To read the archive of {CHECKPOINTS} (Parquet), you need no server:
  {_program("python")} -c "import pyarrow.dataset; print({dataset}.head(3).to_pylist())"
All files are in {directory}; delete it when you no longer need them."""
    )


def _program(name: str) -> str:
    """Return the path of a program next to this Python, as you would type it here."""
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
