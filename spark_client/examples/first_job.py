"""A first job, which shows that an installation works on the driver and on the executors.

    spark-submit first_job.py --url http://tailrace:8080 --directory /shared/first-job

It writes numbers with the sink, follows their stream with the data source, copies each micro-batch to a
second stream with another sink, and reads the copy. The streams are new in each run. `--directory` keeps the
checkpoint; driver and executors must reach it.
"""

from __future__ import annotations

import argparse
from uuid import uuid4

from pyspark.sql import SparkSession

from tailrace_spark import TailraceDataSource, TailraceSink

ROWS = 1_000


def main() -> None:
    """Run the job and print how many rows arrived."""
    arguments = _arguments()
    file = arguments.token_file
    of_sink = {} if file is None else {"token_file": file}
    of_source = {"url": arguments.url} if file is None else {"url": arguments.url, "tokenFile": file}
    name = f"first-job:{uuid4().hex[:8]}"
    spark = SparkSession.builder.appName("first job").getOrCreate()
    # Needed only if --py-files sent the package. Spark finds the data source in a package that is installed.
    spark.dataSource.register(TailraceDataSource)

    TailraceSink(arguments.url, name, producer_id=name, **of_sink)(spark.range(ROWS), 0)
    numbers = spark.readStream.format("tailrace").schema("id bigint").options(**of_source, stream=name).load()
    copies = numbers.writeStream.foreachBatch(TailraceSink(arguments.url, f"{name}:copy", **of_sink))
    checkpoint = f"{arguments.directory}/{name.replace(':', '-')}"
    copies.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
    reader = spark.read.format("tailrace").schema("id bigint")
    copied = reader.options(**of_source, stream=f"{name}:copy").load()
    print(f"{copied.distinct().count()} of {ROWS} numbers arrived in {name}:copy")
    spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write, follow, copy and read numbers.")
    parser.add_argument("--url", required=True, help="the server, such as http://tailrace:8080")
    parser.add_argument("--directory", required=True, help="a directory for the checkpoint")
    parser.add_argument("--token-file", help="the file with the token, where driver and tasks run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
