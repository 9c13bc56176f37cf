"""Tailrace streams at both ends of Spark, over HTTP alone.

It owns what runs in Spark: the sink for `foreachBatch`, and what it shares with the data source and the
archive job (options, tokens, the connection). It never imports the server, and holds no stream semantics:
what an append or a range means is the server's to say.
"""

from __future__ import annotations

from tailrace_spark.archive.history import read_history
from tailrace_spark.archive.job import archive_stream
from tailrace_spark.sink.sink import TailraceSink
from tailrace_spark.source.data_source import TailraceDataSource

__all__ = ["TailraceDataSource", "TailraceSink", "archive_stream", "read_history"]
