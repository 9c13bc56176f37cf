"""One DataFrame over the archive of a stream and the live stream, with each entry once.

The manifests name the files of the archive and the last archived id. The stream is read from the next id on,
so it does not matter whether the archived entries are trimmed already. If the archive job trims another step
between the call and the reading of the DataFrame, the read fails with `DataLoss`; call `read_history` again.
The result is never incomplete. This module never writes.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.archive.files import ArchiveFiles
from tailrace_spark.archive.job import COLUMNS
from tailrace_spark.classic_session import check_classic
from tailrace_spark.source.columns import SCHEMA
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.offsets import just_above


def read_history(spark: SparkSession, url: str, stream: str, path: str, **options: str) -> DataFrame:
    """Return `_id`, `_timestamp`, `_stream` and `fields` of every entry, archived or live, in no particular
    order.

    `options` are options of the data source, such as `tokenFile`. Raises `BadArchive` and `BadOption`.
    """
    check_classic(spark, "read_history", "call it in a job that you submit with spark-submit")
    spark.dataSource.register(TailraceDataSource)
    files = ArchiveFiles(spark, path)
    manifests = files.manifests(stream)
    reader = spark.read.format(TailraceDataSource.name()).options(**options).options(url=url, stream=stream)
    if not manifests:
        return reader.load()
    live = reader.option("startingOffsets", just_above(manifests[-1].end)).load()
    paths = [files.absolute(file) for manifest in manifests for file in manifest.files]
    if not paths:
        return live
    columns = [SCHEMA[name] for name in COLUMNS]
    archived = spark.read.schema(type(SCHEMA)(columns)).parquet(*paths)
    return archived.withColumn("_stream", F.lit(stream)).select(*SCHEMA.names).union(live)
