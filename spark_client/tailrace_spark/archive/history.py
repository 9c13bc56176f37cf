"""One DataFrame over the archive of a stream and the live stream, with each entry once.

The manifests name the files of the archive and the last archived id. The stream is read from the next id on,
so it does not matter whether the archived entries are trimmed already. If the archive job trims another step
between the call and the reading of the DataFrame, the read fails with `DataLoss`; call `read_history` again.
The result is never incomplete. This module never writes.

Spark plans a read when a DataFrame is used, which can be long after `read_history` returned it. If the stream
is deleted and created again in between, the entries that were live then are lost, and the plan of the live
part (`LiveDataSource`) fails with `DataLoss`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tailrace_spark.archive.files import ArchiveFiles, Manifest, continues, incarnation_of, recreated
from tailrace_spark.archive.parquet import archived
from tailrace_spark.entry_ids import just_above
from tailrace_spark.errors import BadArchive
from tailrace_spark.option_checks import check_classic
from tailrace_spark.source.columns import SCHEMA
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.options import ReadOptions, read_options
from tailrace_spark.source.requests import SourceStream

INCARNATION: Final = "historyIncarnation"
"""The option with the incarnation that the stream must have."""
PATH: Final = "historyPath"
"""The option with the path of the archive, for the error."""


def read_history(
    spark: SparkSession, url: str, stream: str, path: str, *, allow_empty: bool = False, **options: str
) -> DataFrame:
    """Return `_id`, `_timestamp`, `_stream` and `fields` of every entry, archived or live, in no particular
    order.

    `allow_empty`: whether `path` may have no archive yet; the result is then the live stream. `options` are
    options of the data source, such as `tokenFile`. Raises `BadArchive`, `BadOption`, and `DataLoss` if the
    stream was deleted and created again.
    """
    check_classic(spark, "read_history", "call it in a job that you submit with spark-submit")
    files = ArchiveFiles(spark, path)
    manifests = files.manifests(stream)
    given = {**options, "url": url, "stream": stream}
    if not manifests:
        if not allow_empty:
            raise BadArchive(
                f"{path}: there is no archive (no manifest in {path}/_tailrace). Check the path; if nothing "
                "has been archived yet, pass allow_empty=True"
            )
        return _reader(spark, TailraceDataSource, given).load()
    parts = [_live(spark, manifests[-1], given, path)]
    for has_pairs in (False, True):
        chosen = [manifest for manifest in manifests if bool(manifest.in_pairs) is has_pairs]
        paths = [files.absolute(file) for manifest in chosen for file in manifest.files]
        if paths:
            entries = archived(spark, paths, has_pairs=has_pairs)
            parts.append(entries.withColumn("_stream", F.lit(stream)).select(*SCHEMA.names))
    return reduce(DataFrame.union, parts)


def _live(spark: SparkSession, last: Manifest, given: Mapping[str, str], path: str) -> DataFrame:
    """Return the entries of the stream that are not in the archive: those after the last step, or all entries
    of a stream that was created again."""
    options = read_options(given)
    state = SourceStream(options).state()
    if not continues(last, state):
        if options.fail_on_data_loss:
            raise recreated(repr(options), path, "Its entries after the archive are lost.")
        return _reader(spark, TailraceDataSource, given).load()
    given = {**given, "startingOffsets": just_above(last.end)}
    if not options.fail_on_data_loss or (incarnation := incarnation_of(state)) is None:
        return _reader(spark, TailraceDataSource, given).load()
    return _reader(spark, LiveDataSource, {**given, INCARNATION: incarnation, PATH: path}).load()


def _reader(spark: SparkSession, source: type[DataSource], given: Mapping[str, str]) -> DataFrameReader:
    spark.dataSource.register(source)
    return spark.read.format(source.name()).options(**given)


# --- the live part ---------------------------------------------------------------------------------------


class LiveDataSource(TailraceDataSource):
    """The data source of the live part of a history. Only `read_history` uses it."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "tailrace_history"

    def schema(self) -> StructType:
        """Return the columns of the live part."""
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of the live part."""
        given = {name.casefold(): value for name, value in self.options.items()}
        incarnation, path = (given.pop(name.casefold()) for name in (INCARNATION, PATH))
        return _LiveReader(TailraceDataSource(given).reader(schema), read_options(given), incarnation, path)


class _LiveReader(DataSourceReader):
    """A batch read of one incarnation of a stream."""

    def __init__(self, reader: DataSourceReader, options: ReadOptions, incarnation: str, path: str) -> None:
        self._reader = reader
        self._options = options
        self._incarnation = incarnation
        self._path = path

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts of the range. Raises `DataLoss` if they are parts of another stream."""
        parts = self._reader.partitions()
        if incarnation_of(SourceStream(self._options).state()) != self._incarnation:
            raise recreated(repr(self._options), self._path, "Its entries after the archive are lost.")
        return parts

    def read(self, partition: InputPartition) -> Any:
        """Read one part, in a task."""
        return self._reader.read(partition)
