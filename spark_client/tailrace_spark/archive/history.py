"""One DataFrame over the archive of a stream and the live stream, with each entry once.

The manifests name the files of the archive and the last archived id. The stream is read from the next id on,
so it does not matter whether the archived entries are trimmed already. If the archive job trims another step
between the call and the reading of the DataFrame, the read fails with `DataLoss`; call `read_history` again.
The result is never incomplete. This module never writes.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.archive.files import ArchiveFiles
from tailrace_spark.archive.parquet import archived
from tailrace_spark.errors import BadArchive
from tailrace_spark.source.columns import SCHEMA
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.offsets import just_above


def read_history(
    spark: SparkSession, url: str, stream: str, path: str, *, allow_empty: bool = False, **options: str
) -> DataFrame:
    """Return `_id`, `_timestamp`, `_stream` and `fields` of every entry, archived or live, in no particular
    order.

    `allow_empty`: whether `path` may have no archive yet; the result is then the live stream. `options` are
    options of the data source, such as `tokenFile`. Raises `BadArchive` and `BadOption`.
    """
    spark.dataSource.register(TailraceDataSource)
    files = ArchiveFiles(spark, path)
    manifests = files.manifests(stream)
    reader = spark.read.format(TailraceDataSource.name()).options(**options).options(url=url, stream=stream)
    if not manifests:
        if not allow_empty:
            raise BadArchive(
                f"{path}: there is no archive (no manifest in {path}/_tailrace). Check the path; if nothing "
                "has been archived yet, pass allow_empty=True"
            )
        return reader.load()
    parts = [reader.option("startingOffsets", just_above(manifests[-1].end)).load()]
    for has_pairs in (False, True):
        chosen = [manifest for manifest in manifests if bool(manifest.in_pairs) is has_pairs]
        paths = [files.absolute(file) for manifest in chosen for file in manifest.files]
        if paths:
            entries = archived(spark, paths, has_pairs=has_pairs)
            parts.append(entries.withColumn("_stream", F.lit(stream)).select(*SCHEMA.names))
    return reduce(DataFrame.union, parts)
