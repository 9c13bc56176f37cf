"""One frame over a stream's archive and what is still live: each entry once.

The manifests say up to which id the archive goes, and which files are its own; the stream is read from just
behind that id on, whether or not the archived entries were trimmed already. If another step is archived and
trimmed after the call and before the frame is read, the read fails (`DataLoss`) and the call is to be made
anew: it is never short of entries. It writes nothing.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.archive.files import ArchiveFiles
from tailrace_spark.archive.job import COLUMNS
from tailrace_spark.source.columns import SCHEMA
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.offsets import just_above


def read_history(spark: SparkSession, url: str, stream: str, path: str, **options: str) -> DataFrame:
    """`_id`, `_timestamp`, `_stream`, `fields` of every entry, archived or live; without an order.

    `options`: of the data source, such as `tokenFile`. Raises `BadArchive` and `BadOption`.
    """
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
