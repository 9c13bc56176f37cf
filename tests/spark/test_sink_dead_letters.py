"""Rows that the server refuses are set aside with the reason, the others are written, each once."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any, Final

import httpx
import pytest
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import TailraceSink
from tailrace_spark.errors import SinkError

ROWS: Final = 3_000
POISON_EVERY: Final = 500
POISONED: Final = list(range(0, ROWS, POISON_EVERY))


def frame_with_poison(spark: SparkSession) -> DataFrame:
    """Two partitions; every 500th row has no value at all, which is no entry."""
    return spark.range(0, ROWS, 1, 2).selectExpr(f"if(id % {POISON_EVERY} = 0, null, id) as n")


def fields_of(base_url: str, stream: str) -> list[dict[str, str]]:
    fields: list[dict[str, str]] = []
    start: str | None = "-"
    while start is not None:
        page = httpx.get(f"{base_url}/v1/streams/{stream}/entries", params={"start": start}).json()
        fields += [entry["fields"] for entry in page["entries"]]
        start = page["next"] and f"({page['next']}"
    return fields


def sink_of(base_url: str, stream: str, **options: Any) -> TailraceSink:
    return TailraceSink(base_url, stream, producer_id=stream, chunk_rows=400, **options)


def test_refused_rows_are_found_and_set_aside_and_a_replay_does_so_once(
    spark: SparkSession, base_url: str
) -> None:
    sink = sink_of(base_url, "dead:empty", dead_letter_stream="dead:letters")
    reports = [sink.write(frame_with_poison(spark), 0) for _ in range(2)]
    assert [report.counts.dead_letters for report in reports] == [len(POISONED)] * 2
    assert [report.counts.rows for report in reports] == [ROWS] * 2
    assert [report.is_replay for report in reports] == [False, True]
    written = sorted(int(fields["n"]) for fields in fields_of(base_url, "dead:empty"))
    assert written == sorted(set(range(ROWS)) - set(POISONED))
    letters = fields_of(base_url, "dead:letters")
    assert len(letters) == len(POISONED)
    assert letters[0] == {
        "stream": "dead:empty",
        "row": letters[0]["row"],
        "shape": "fields",
        "code": "BODY_MISMATCH",
        "status": "422",
        "detail": letters[0]["detail"],
        "part": "1",
        "parts": "1",
        "line": "{}",
    }
    assert "an entry needs at least one field" in letters[0]["detail"]


def test_a_row_too_large_for_an_entry_is_kept_in_parts(spark: SparkSession, base_url: str) -> None:
    frame = spark.sql("select repeat('é', if(id = 1, 9000000, 1)) as v from range(0, 3, 1, 1)")
    sink = sink_of(base_url, "dead:large", dead_letter_stream="dead:parts")
    assert sink.write(frame, 0).counts.dead_letters == 1
    assert fields_of(base_url, "dead:large") == [{"v": "é"}] * 2
    parts = fields_of(base_url, "dead:parts")
    assert {part["code"] for part in parts} == {"ENTRY_TOO_LARGE"}
    assert [part["part"] for part in parts] == [str(number + 1) for number in range(int(parts[0]["parts"]))]
    line = b"".join(b64decode(part["line_base64"]) for part in parts)
    assert json.loads(line) == {"v": "é" * 9_000_000}


def test_text_that_is_not_utf8_is_kept_as_it_was(spark: SparkSession, base_url: str) -> None:
    frame = spark.sql("select cast(unhex(if(id = 1, '61ff', '61')) as string) as v from range(0, 3, 1, 1)")
    sink = sink_of(base_url, "dead:text", dead_letter_stream="dead:bytes")
    assert sink.write(frame, 0).counts.dead_letters == 1
    assert fields_of(base_url, "dead:text") == [{"v": "a"}] * 2
    (letter,) = fields_of(base_url, "dead:bytes")
    assert b64decode(letter["line_base64"]) == b'{"v":"a\xff"}'


def test_more_refused_rows_than_may_be_are_an_error(spark: SparkSession, base_url: str) -> None:
    sink = sink_of(base_url, "dead:many", dead_letter_stream="dead:cap", dead_letters_max=len(POISONED) - 1)
    count, most = len(POISONED), len(POISONED) - 1
    with pytest.raises(SinkError, match=rf"{count} rows .* were refused; `dead_letters_max` allows {most}"):
        sink(frame_with_poison(spark), 0)


def test_one_partition_does_not_go_on_far_beyond_the_cap(spark: SparkSession, base_url: str) -> None:
    sink = sink_of(base_url, "dead:all", dead_letter_stream="dead:stop", dead_letters_max=3)
    with pytest.raises(
        SinkError, match=r"4 rows of this batch were refused; .* allows 3\. The last refusal: BODY_MIS"
    ):
        sink(spark.range(0, 1000, 1, 1).selectExpr("cast(null as string) as v"), 0)
    assert len(fields_of(base_url, "dead:stop")) == 3


def test_without_a_place_for_them_a_refused_row_is_an_error_that_says_which(
    spark: SparkSession, base_url: str
) -> None:
    frame = spark.sql("select if(id = 7, null, id) as n from range(0, 10, 1, 1)")
    with pytest.raises(SinkError, match=r"BODY_MISMATCH: .*line 8.*chunk 0-0: .*no `dead_letter_stream`"):
        sink_of(base_url, "dead:nowhere")(frame, 0)
    sink_of(base_url, "dead:nowhere", dead_letter_stream="dead:somewhere")(frame, 0)
    assert len(fields_of(base_url, "dead:nowhere")) == 9


def test_two_sinks_of_one_query_may_share_a_stream_of_dead_letters(
    spark: SparkSession, base_url: str
) -> None:
    for stream, chunk_rows in (("dead:one", 5), ("dead:two", 7)):
        sink = TailraceSink(
            base_url, stream, producer_id="both", chunk_rows=chunk_rows, dead_letter_stream="dead:shared"
        )
        sink(spark.sql("select if(id = 2, null, id) as n from range(0, 10, 1, 1)"), 0)
    assert [letter["stream"] for letter in fields_of(base_url, "dead:shared")] == ["dead:one", "dead:two"]
