"""Registers `format("tailrace")` with Spark, which looks for `DefaultSource` in packages named `pyspark_*`.

The package owns this one name. `tailrace_spark` owns the data source.
"""

from __future__ import annotations

from tailrace_spark.source.data_source import TailraceDataSource as DefaultSource

__all__ = ["DefaultSource"]
