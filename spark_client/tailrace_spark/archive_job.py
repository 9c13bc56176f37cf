"""The archive job for `spark-submit`: `spark-submit ... archive_job.py --url ... --stream ... --path ...`.

This script owns the command line; it logs the progress and prints the report of the run. The token comes from
a file or an environment variable, because every user of a machine can see the command lines on it.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import get_args

from pyspark.sql import SparkSession

from tailrace_spark.archive.job import ENTRIES_PER_STEP, Trimming, archive_stream
from tailrace_spark.errors import BadArchive, BadOption, SourceError

DESCRIPTION = """\
Archive a stream to Parquet, then trim the archived entries from it.

The job works in steps: it writes the entries of a step, reads them back, adds the step to the archive, and
trims the stream up to its end. You can kill the job at any point and start it again. Run one job at a time
for a path. The progress is logged to standard error; the report of the run is printed to standard output."""

EPILOG = """\
exit status:
  0  everything up to --until is archived
  1  the job stopped; the error says why, and what to do; no entry was trimmed that is not archived
  2  the command line is wrong

example:
  spark-submit --master spark://master:7077 archive_job.py --url https://tailrace:8443 --stream readings \\
    --path s3a://bucket/readings --token-file /run/secrets/token --trim acknowledged"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the archive job with the arguments of the command line."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("tailrace_spark").setLevel(logging.INFO)
    named = {"tokenEnv": given.token_env, "tokenFile": given.token_file, "caFile": given.ca_file}
    options = {**dict(given.option), **{name: value for name, value in named.items() if value is not None}}
    spark = SparkSession.builder.appName(f"archive of {given.stream}").getOrCreate()
    try:
        report = archive_stream(
            spark,
            given.url,
            given.stream,
            given.path,
            until=given.until,
            entries_per_step=given.entries_per_step,
            trim=given.trim,
            **options,
        )
    except (BadArchive, BadOption, SourceError) as error:
        sys.exit(f"archive_job: {error}")
    finally:
        spark.stop()
    print(report)  # noqa: T201 - the output of the command


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="archive_job.py",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", required=True, help="the server, such as http://tailrace:8080")
    parser.add_argument("--stream", required=True, help="the stream to archive")
    parser.add_argument(
        "--path",
        required=True,
        help="the directory of the archive: a file:, hdfs: or s3a: path that Spark can write",
    )
    parser.add_argument(
        "--until",
        default="latest",
        help="archive up to here: latest (the entries that exist when the job starts), an id, milliseconds "
        "since 1970, or a time in ISO 8601 (default: latest)",
    )
    parser.add_argument(
        "--entries-per-step",
        type=int,
        default=ENTRIES_PER_STEP,
        metavar="N",
        help=f"entries that one step archives and trims (default: {ENTRIES_PER_STEP})",
    )
    parser.add_argument(
        "--trim",
        default="all",
        choices=get_args(Trimming),
        help="which archived entries to trim: all; only those that no consumer group still needs "
        "(acknowledged); or none (nothing) (default: all)",
    )
    parser.add_argument(
        "--token-env", metavar="NAME", help="the environment variable with the token, where the tasks run"
    )
    parser.add_argument("--token-file", metavar="FILE", help="the file with the token, where the tasks run")
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        help="a PEM file of trusted certificate authorities, where the tasks run (default: the machine's)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option,
        metavar="NAME=VALUE",
        help="another option of the data source, such as failOnDataLoss=false, retryDeadlineMs=60000 or "
        "minPartitions=8; can be repeated",
    )
    return parser


def _option(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


if __name__ == "__main__":
    main()
