"""A driver of its own that runs the archive job: `python -m tests.spark.archive_driver`.

It starts Spark, and the job once it is given a line. It prints one JSON object for each line that the job
logs, and one with the report. It owns no assertion.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from dataclasses import asdict

from tailrace_spark import archive_stream
from tests.spark.sink_driver import session


class Printed(logging.Handler):
    """What is logged, as it comes."""

    def emit(self, record: logging.LogRecord) -> None:
        print(json.dumps({"logged": record.getMessage()}), flush=True)  # noqa: T201


def main() -> None:
    options = parsed()
    logger = logging.getLogger("tailrace_spark.archive.job")
    logger.setLevel(logging.INFO)
    logger.addHandler(Printed())
    spark = session(options.master, options.conf)
    sys.stdin.readline()
    report = archive_stream(
        spark, options.url, options.stream, options.path, entries_per_step=options.entries_per_step
    )
    print(json.dumps(asdict(report)), flush=True)  # noqa: T201
    spark.stop()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--stream", required=True)
    parser.add_argument("--path", required=True)
    parser.add_argument("--entries_per_step", type=int, required=True)
    parser.add_argument("--conf", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
