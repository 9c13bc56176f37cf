"""The live part of a history: a batch read that must find the stream that `read_history` saw.

Spark plans a read when a DataFrame is used, which can be long after `read_history` returned it. If the stream
is deleted and created again in between, the entries that were live then are lost, and the plan fails with
`DataLoss`. Otherwise the read is the data source's own. This module never reads the files of the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tailrace_spark.archive.incarnations import incarnation_of, recreated
from tailrace_spark.source.columns import SCHEMA
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.options import ReadOptions, read_options
from tailrace_spark.source.stream_requests import SourceStream

INCARNATION: Final = "historyIncarnation"
"""The option with the incarnation that the stream must have."""
PATH: Final = "historyPath"
"""The option with the path of the archive, for the error."""


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
