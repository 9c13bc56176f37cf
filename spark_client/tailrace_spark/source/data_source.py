"""The class that Spark loads for `format("tailrace")`.

This module owns the name of the format and the default schema, and passes the options to the reader or writer
of each direction: `batch_reader`, `stream_reader` and `writer`.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from tailrace_spark.errors import sentence_first
from tailrace_spark.source.batch_reader import FilteringReader, TailraceReader
from tailrace_spark.source.columns import SCHEMA, Columns
from tailrace_spark.source.options import READING, ReadOptions, read_options, write_options
from tailrace_spark.source.shipped_files import link_shipped_files
from tailrace_spark.source.stream_reader import TailraceStreamReader
from tailrace_spark.source.tables import (
    check_write,
    is_created,
    keeping,
    options_of_new_table,
    options_of_read,
)
from tailrace_spark.source.writer import TailraceStreamWriter, TailraceWriter


@sentence_first
class TailraceDataSource(DataSource):
    """The data source. Spark finds it by itself where the package is installed. Elsewhere, register it with
    `spark.dataSource.register(TailraceDataSource)`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        link_shipped_files()

    @classmethod
    def name(cls) -> str:
        """Return the name that `format("tailrace")` uses."""
        return "tailrace"

    def schema(self) -> StructType:
        """Return the schema of a read, or of a new table, for which the user gives no schema."""
        if not is_created(self.options):
            read_options(self.options)
            return SCHEMA
        options = options_of_new_table(self.options, READING)
        read_options(options)
        return keeping(SCHEMA, options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        options = read_options(options_of_read(self.options, schema))
        reader = FilteringReader if options.pushes_filters else TailraceReader
        return reader(options, _columns(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the reader of a streaming query."""
        options = read_options(options_of_read(self.options, schema))
        return TailraceStreamReader(options, _columns(options, schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001
        """Return the writer of a batch query."""
        check_write(self.options)
        return TailraceWriter(write_options(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001, N802
        """Return the writer of a streaming query."""
        check_write(self.options)
        return TailraceStreamWriter(write_options(self.options), schema, overwrite=overwrite)


def _columns(options: ReadOptions, schema: StructType) -> Columns:
    return Columns(schema, ", ".join(options.streams), options.mode, options.corrupt_record)
