"""Read and write Tailrace streams from Spark, over HTTP.

The package owns what runs in Spark: the sink for `foreachBatch` (`sink`), the data source
`format("tailrace")` (`source`) and the archive job (`archive`). All three share the modules on this level:
exceptions, option checks, tokens and the connection. The package never imports the server and defines no
stream semantics: the server decides what an append or a range means.
"""

from __future__ import annotations

from tailrace_spark.archive.history import read_history
from tailrace_spark.archive.job import archive_stream
from tailrace_spark.errors import BadArchive, BadOption, BadValue, DataLoss, SinkError, SourceError
from tailrace_spark.sink.sink import TailraceSink
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.unprocessed import dead_letters

__all__ = [
    "BadArchive",
    "BadOption",
    "BadValue",
    "DataLoss",
    "SinkError",
    "SourceError",
    "TailraceDataSource",
    "TailraceSink",
    "archive_stream",
    "dead_letters",
    "read_history",
]
