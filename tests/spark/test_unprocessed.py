"""Entries that a query sets aside have the form of a group's dead letters, so the server sends them back."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink, dead_letters
from tailrace_spark.errors import BadOption
from tests.cli.shell import shell
from tests.spark.queries import once_started
from tests.support.pages import fenced

NAMES: Final = ["_source_stream", "_source_id", "_group", "_deliveries", "_last_consumer", "_reason"]
_numbers = count()


def entries_of(spark: SparkSession, url: str, stream: str, schema: str | None = None) -> DataFrame:
    spark.dataSource.register(TailraceDataSource)
    reader = spark.read.format("tailrace").options(url=url, stream=stream)
    return (reader if schema is None else reader.schema(schema)).load()


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_a_letter_has_the_fields_of_the_entry_byte_for_byte_and_then_six_more(
    spark: SparkSession, base_url: str, kind: str
) -> None:
    stream = f"aside:{kind}:{next(_numbers)}"
    pairs: list[tuple[Any, Any]] = [("speed", "x"), ("speed", b"\xff\x00"), ("_reason", "its own")]
    with Tailrace(base_url) as tailrace:
        words = [stream, "1-0", *(word for pair in pairs for word in pair)]
        tailrace.command("XADD", *words)
        entries = entries_of(
            spark, base_url, stream, f"_id string, _stream string, fields map<{kind},{kind}>, speed string"
        )
        letters = dead_letters(entries, group="pace", reason=entries._stream)
        TailraceSink(base_url, f"{stream}:dead", producer_id=stream)(letters, 0)
        [(_, fields)] = tailrace.stream(f"{stream}:dead").read()
        added = zip(NAMES, [stream, "1-0", "pace", "1", "spark", stream], strict=True)
        expected = [(_bytes(name), _bytes(value)) for name, value in (*pairs, *added)]
        assert list(fields.pairs) == expected  # type: ignore[attr-defined]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def test_letters_need_the_parts_of_an_entry(spark: SparkSession) -> None:
    with pytest.raises(BadOption, match=r"needs the columns _id string.*the columns are id bigint"):
        dead_letters(spark.range(1), group="g", reason="")


def test_the_example_of_the_page_sets_entries_aside_and_the_command_sends_them_back(
    spark: SparkSession, base_url: str, tmp_path: Path
) -> None:
    spark.dataSource.register(TailraceDataSource)
    [example] = [block for block in fenced("docs/spark.md", "python") if "(dead_letters(" in block]
    # The query of the page runs without end; here it ends with the entries that are there.
    example = example.replace("/checkpoints/pace", str(tmp_path / "checkpoint")).replace(".start()", "")
    named: dict[str, Any] = {"spark": spark, "url": base_url}
    with Tailrace(base_url) as tailrace:
        readings, letters = tailrace.stream("readings"), tailrace.stream("readings:dead")
        readings.append_many([{"rider": "Castilla", "speed": "30.5"}, {"rider": "Norem", "speed": "fast"}])
        readings.group("pace").create("0")
        dead = ("--max-deliveries", "1", "--dead-letter-stream", "readings:dead")
        assert shell(base_url, "configure", "readings", "pace", *dead).returncode == 0
        exec(example, named)  # noqa: S102 - the code of the page
        once_started(named["query"].trigger(availableNow=True), StreamingQuery.awaitTermination)
        assert [fields for _, fields in tailrace.stream("pace").read()] == [
            {"rider": "Castilla", "speed": "30.5"}
        ]
        [(_, letter)] = letters.read()
        assert list(letter)[-6:] == NAMES
        redriven = shell(base_url, "redrive", "readings:dead")
        assert (redriven.returncode, redriven.stderr) == (0, b"")
        assert list(letters.read()) == []
        assert [fields for _, fields in readings.read()][2:] == [{"rider": "Norem", "speed": "fast"}]
