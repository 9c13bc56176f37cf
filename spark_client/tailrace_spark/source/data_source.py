"""`format("tailrace")`: what Spark finds under the name, for reading and writing, batches and streams.

It owns the name, the schema without one of the user's, and which options go where. Each of the four
directions has a module of its own: `reader`, `reader_stream`, `source_writer`.
"""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from tailrace_spark.source.batch_reader import TailraceReader
from tailrace_spark.source.columns import SCHEMA, Columns
from tailrace_spark.source.options import ReadOptions, read_options, write_options
from tailrace_spark.source.stream_reader import TailraceStreamReader
from tailrace_spark.source.writer import TailraceStreamWriter, TailraceWriter


class TailraceDataSource(DataSource):
    """Register it with `spark.dataSource.register(TailraceDataSource)`."""

    @classmethod
    def name(cls) -> str:
        """As in `format("tailrace")`."""
        return "tailrace"

    def schema(self) -> StructType:
        """Of a read without a schema of the user's."""
        read_options(self.options)
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """Of a batch."""
        options = read_options(self.options)
        return TailraceReader(options, _columns(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Of a stream."""
        options = read_options(self.options)
        return TailraceStreamReader(options, _columns(options, schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001
        """Of a batch."""
        return TailraceWriter(write_options(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001, N802
        """Of a stream."""
        return TailraceStreamWriter(write_options(self.options), schema, overwrite=overwrite)


def _columns(options: ReadOptions, schema: StructType) -> Columns:
    return Columns(schema, options.stream, options.mode)
