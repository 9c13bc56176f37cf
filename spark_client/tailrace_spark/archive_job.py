"""The archive job for `spark-submit`: `spark-submit ... archive_job.py --url ... --stream ... --path ...`.

It owns the command line, and prints the run's report. The token comes from a file or a variable: a command
line is seen by all of its machine.
"""

from __future__ import annotations

import argparse
import logging
from typing import get_args

from pyspark.sql import SparkSession

from tailrace_spark.archive.job import ENTRIES_PER_STEP, Trimming, archive_stream


def main() -> None:
    """Run it."""
    arguments = _arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    spark = SparkSession.builder.appName(f"archive of {arguments.stream}").getOrCreate()
    given = {"tokenEnv": arguments.token_env, "tokenFile": arguments.token_file, "caFile": arguments.ca_file}
    report = archive_stream(
        spark,
        arguments.url,
        arguments.stream,
        arguments.path,
        until=arguments.until,
        entries_per_step=arguments.entries_per_step,
        trim=arguments.trim,
        **{name: value for name, value in given.items() if value is not None},
    )
    print(report)  # noqa: T201 - what the command is run for
    spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Archive a stream to Parquet, and trim it.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--stream", required=True)
    parser.add_argument("--path", required=True, help="where Spark can write: file:, hdfs:, s3a:")
    parser.add_argument("--until", default="latest", help="latest, an id, or a time")
    parser.add_argument("--entries-per-step", type=int, default=ENTRIES_PER_STEP)
    parser.add_argument("--trim", default="all", choices=get_args(Trimming))
    parser.add_argument("--token-env")
    parser.add_argument("--token-file")
    parser.add_argument("--ca-file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
