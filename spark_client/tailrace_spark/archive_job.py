"""The archive job for `spark-submit`: `spark-submit ... archive_job.py --url ... --stream ... --path ...`.

This script owns the command line and prints the report of the run. The token comes from a file or an
environment variable, because every user of a machine can see the command lines on it.
"""

from __future__ import annotations

import argparse
import logging
from typing import get_args

from pyspark.sql import SparkSession

from tailrace_spark.archive.job import ENTRIES_PER_STEP, Trimming, archive_stream


def main() -> None:
    """Run the archive job with the arguments of the command line."""
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
    print(report)  # noqa: T201 - the output of the command
    spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Archive a stream to Parquet, then trim the archived entries from it."
    )
    parser.add_argument("--url", required=True, help="the server, such as http://tailrace:8080")
    parser.add_argument("--stream", required=True, help="the stream to archive")
    parser.add_argument(
        "--path",
        required=True,
        help="the directory of the archive: a file:, hdfs: or s3a: path that Spark can write",
    )
    parser.add_argument("--until", default="latest", help="archive up to here: latest, an id, or a time")
    parser.add_argument(
        "--entries-per-step",
        type=int,
        default=ENTRIES_PER_STEP,
        help="entries that one step archives and trims",
    )
    parser.add_argument(
        "--trim", default="all", choices=get_args(Trimming), help="which archived entries to trim"
    )
    parser.add_argument("--token-env", help="the environment variable with the token, where the tasks run")
    parser.add_argument("--token-file", help="the file with the token, where the tasks run")
    parser.add_argument(
        "--ca-file", help="a PEM file of trusted certificate authorities, where the tasks run"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
