"""Check that an installation works on the driver and on the executors.

    spark-submit first_job.py --url http://tailrace:8080 --directory /shared/first-job

The job writes numbers to a stream with the sink. A streaming query reads this stream with the data source and
copies it to a second stream with another sink. A batch query counts the numbers in the copy. Each run creates
two new streams and deletes none. `--directory` contains the checkpoint; the driver and the executors must be
able to reach it.
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
    # Only --py-files requires this. Where the package is installed, Spark finds the data source by itself.
    spark.dataSource.register(TailraceDataSource)

    # Write the numbers. Outside a streaming query, the sink needs a producer id and the number of the batch.
    TailraceSink(arguments.url, name, producer_id=name, **of_sink)(spark.range(ROWS), 0)

    # Copy the stream: the query ends when it has copied the entries that exist now.
    numbers = spark.readStream.format("tailrace").schema("id bigint").options(**of_source, stream=name).load()
    copies = numbers.writeStream.foreachBatch(TailraceSink(arguments.url, f"{name}:copy", **of_sink))
    checkpoint = f"{arguments.directory}/{name.replace(':', '-')}"
    copies.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()

    # Count the numbers in the copy.
    reader = spark.read.format("tailrace").schema("id bigint")
    copied = reader.options(**of_source, stream=f"{name}:copy").load()
    print(f"{copied.distinct().count()} of {ROWS} numbers arrived in {name}:copy")
    spark.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Write numbers to a stream, copy the stream, and count the numbers in the copy."
    )
    parser.add_argument("--url", required=True, help="the server, such as http://tailrace:8080")
    parser.add_argument(
        "--directory",
        required=True,
        help="a directory for the checkpoint, which the driver and the executors can reach",
    )
    parser.add_argument("--token-file", help="the file with the token, on the driver and the executors")
    return parser.parse_args()


if __name__ == "__main__":
    main()
