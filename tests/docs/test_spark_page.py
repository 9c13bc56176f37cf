"""The table of Kafka options in docs/spark.md lists all options of the package, and only these."""

from __future__ import annotations

import re
from typing import Final

from tailrace_spark.source.options import READING, WRITING
from tests.support.pages import text_of

SECTION: Final = "\n## Kafka source against Tailrace source\n"
OPTIONS: Final = {*READING, *WRITING}
OF_KAFKA: Final = frozenset(
    {
        *("assign", "subscribe", "subscribePattern", "kafka.bootstrap.servers"),
        *("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets", "failOnDataLoss"),
        *("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", "includeHeaders", "topic"),
        *("kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs"),
        *("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions"),
        *("maxRecordsPerPartition", "groupIdPrefix", "kafka.group.id", "startingOffsetsByTimestampStrategy"),
    }
)
"""All options of Spark's Kafka source and sink, apart from those that it passes on to Kafka."""


def column(number: int) -> set[str]:
    """The words of a column of the table that are written as code, without names of columns."""
    table = text_of("docs/spark.md").partition(SECTION)[2].partition("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")]
    cells = [cell[number] for cell in rows[1:] if not cell[number].strip().startswith("column")]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def test_each_option_of_tailrace_that_the_table_names_exists() -> None:
    assert column(2) - {"fields"} <= OPTIONS


def test_each_option_of_tailrace_is_in_the_table() -> None:
    assert column(2) >= OPTIONS


def test_each_option_of_sparks_kafka_source_and_sink_is_in_the_table() -> None:
    assert column(1) >= OF_KAFKA
