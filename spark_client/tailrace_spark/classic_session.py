"""Check that a session runs in the driver's own process, and not over Spark Connect.

The sink takes the id of the query from the context of the session, and the archive lists files with Hadoop's
own classes. A Spark Connect session offers neither. Reads and writes with `format("tailrace")` work with
every session. This module never changes a session.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from tailrace_spark.errors import BadOption


def check_classic(session: object, what: str, instead: str) -> None:
    """Raise `BadOption` if the session uses Spark Connect. `what` does not work then; `instead` does."""
    if not isinstance(session, SparkSession):
        raise BadOption(f"{what} does not work with a Spark Connect session; {instead}")
