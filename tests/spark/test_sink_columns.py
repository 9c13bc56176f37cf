"""A frame of every type as entries, and the same values back from their texts by Spark's own casts."""

from __future__ import annotations

import base64
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import httpx
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark import TailraceSink
from tailrace_spark.errors import BadOption

INSTANT: Final = datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC)
WALL_CLOCK: Final = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - without a zone on purpose

TYPES: Final[list[tuple[str, str, Any, str]]] = [
    ("text", "string", 'say "ö"\n\\ \x01', 'say "ö"\n\\ \x01'),
    ("empty", "string", "", ""),
    ("a name with spaces", "string", "x", "x"),
    ("a.dot and a `tick`", "string", "x", "x"),
    ("tiny", "tinyint", -128, "-128"),
    ("long", "bigint", -(2**63), "-9223372036854775808"),
    ("float", "float", 0.5, "0.5"),
    ("double", "double", 1 / 3, "0.3333333333333333"),
    ("large", "double", 1e300, "1e+300"),
    ("infinite", "double", float("inf"), "inf"),
    ("decimal", "decimal(38,18)", Decimal("0.000000000000000001"), "0.000000000000000001"),
    ("whole decimal", "decimal(10,2)", Decimal("12.50"), "12.50"),
    ("flag", "boolean", True, "true"),
    ("day", "date", date(2026, 2, 3), "2026-02-03"),
    ("instant", "timestamp", INSTANT, "2026-01-02T03:04:05.000600Z"),
    ("wall clock", "timestamp_ntz", WALL_CLOCK, "2026-01-02T03:04:05.000000"),
    ("interval", "interval day to second", timedelta(days=2), "INTERVAL '2 00:00:00' DAY TO SECOND"),
    ("struct", "struct<a:int,b:string>", (1, None), '{"a":1,"b":null}'),
    ("array", "array<double>", [1.5, None], "[1.5,null]"),
    ("map", "map<string,decimal(4,2)>", {"k": Decimal("1.50")}, '{"k":1.50}'),
    (
        "nested",
        "array<struct<at:timestamp,on:timestamp_ntz,raw:binary>>",
        [(INSTANT, WALL_CLOCK, bytearray(b"\xff"))],
        '[{"at":"2026-01-02T03:04:05.000600Z","on":"2026-01-02T03:04:05.000000","raw":"/w=="}]',
    ),
]
NESTED: Final = ("struct", "array", "map")


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def frame_of_all_types(spark: SparkSession) -> DataFrame:
    schema = ", ".join(f"{quoted(name)} {kind}" for name, kind, _, _ in TYPES)
    values = tuple(value for _, _, value, _ in TYPES)
    nulls = tuple(None for _ in TYPES[1:])
    return spark.createDataFrame([values, ("only", *nulls)], schema).coalesce(1)


def entries_of(base_url: str, stream: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = httpx.get(f"{base_url}/v1/streams/{stream}/entries").json()["entries"]
    return entries


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_every_type_is_written_as_the_casting_rule_says_in_any_session_zone(
    spark: SparkSession, base_url: str, zone: str
) -> None:
    stream = f"sink:types-{zone.rpartition('/')[2]}"
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    TailraceSink(base_url, stream, producer_id="types")(frame_of_all_types(session), 0)
    first, second = entries_of(base_url, stream)
    assert first["fields"] == {name: text for name, _, _, text in TYPES}
    assert list(first["fields"]) == [name for name, _, _, _ in TYPES]
    assert second["fields"] == {"text": "only"}


def test_every_type_comes_back_from_its_text_by_sparks_own_casts(spark: SparkSession) -> None:
    texts = spark.createDataFrame([tuple(text for _, _, _, text in TYPES)], [name for name, _, _, _ in TYPES])
    back = texts.select(
        *[
            F.from_json(F.col(quoted(name)), kind).alias(name)
            if kind.startswith(NESTED)
            else F.col(quoted(name)).cast(kind).alias(name)
            for name, kind, _, _ in TYPES
        ]
    )
    assert back.collect() == frame_of_all_types(spark).limit(1).collect()


def test_bytes_arrive_as_they_were(spark: SparkSession, base_url: str) -> None:
    frame = spark.createDataFrame(
        [(1, bytearray(range(256))), (2, bytearray(b"plain")), (3, None)], "n int, raw binary"
    ).coalesce(1)
    TailraceSink(base_url, "sink:bytes", producer_id="bytes")(frame, 0)
    first, second, third = entries_of(base_url, "sink:bytes")
    assert base64.b64decode(first["fields"][base64.b64encode(b"raw").decode()]) == bytes(range(256))
    assert second["fields"] == {"n": "2", "raw": "plain"}
    assert third["fields"] == {"n": "3"}


def test_a_variant_is_written_as_json(spark: SparkSession, base_url: str) -> None:
    frame = spark.sql("""select parse_json('{"a": [1, null]}') as v""")
    TailraceSink(base_url, "sink:variant", producer_id="variant")(frame, 0)
    assert [entry["fields"] for entry in entries_of(base_url, "sink:variant")] == [{"v": '{"a":[1,null]}'}]


def test_a_name_that_stands_twice_is_refused_before_anything_is_written(
    spark: SparkSession, base_url: str
) -> None:
    with pytest.raises(BadOption, match="the column 'a' occurs twice in the DataFrame"):
        TailraceSink(base_url, "sink:twice", producer_id="twice")(spark.sql("select 1 as a, 2 as a"), 0)


def test_rows_keep_their_order_where_nothing_shuffled_them(spark: SparkSession, base_url: str) -> None:
    frame = spark.range(1000, 0, -1, 1).toDF("n")
    TailraceSink(base_url, "sink:in-order", producer_id="order", chunk_rows=100)(frame, 0)
    assert [int(entry["fields"]["n"]) for entry in entries_of(base_url, "sink:in-order")] == list(
        range(1000, 0, -1)
    )


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_bodies_may_travel_compressed(spark: SparkSession, base_url: str, compression: str) -> None:
    stream = f"sink:{compression}"
    frame = spark.range(0, 1000, 1, 1).selectExpr("id as n", "repeat('x', 50) as note")
    sink = TailraceSink(base_url, stream, producer_id="packed", compression=compression)
    report = sink.write(frame, 0)
    assert [int(entry["fields"]["n"]) for entry in entries_of(base_url, stream)] == list(range(1000))
    assert report.counts.bytes < len(json.dumps(entries_of(base_url, stream))) / 5


# --- rows that choose their stream ---------------------------------------------------------------------


def test_each_row_goes_to_the_stream_it_names_and_the_others_to_the_sinks(
    spark: SparkSession, base_url: str
) -> None:
    rows = [("sink:to-a", "1"), ("sink:to-b", "2"), (None, "3"), ("sink:to-a", "4")]
    frame = spark.createDataFrame(rows, "_stream string, n string").coalesce(1)
    sink = TailraceSink(base_url, "sink:to-rest", producer_id="routes", stream_column="_stream")
    sink(frame, 0)
    sink(frame, 0)
    found = {
        stream: [entry["fields"] for entry in entries_of(base_url, stream)]
        for stream in ("sink:to-a", "sink:to-b", "sink:to-rest")
    }
    assert found == {
        "sink:to-a": [{"n": "1"}, {"n": "4"}],
        "sink:to-b": [{"n": "2"}],
        "sink:to-rest": [{"n": "3"}],
    }


def test_a_row_without_a_stream_that_can_be_is_a_dead_letter(spark: SparkSession, base_url: str) -> None:
    rows = [("sink:to-c", "1"), (None, "2"), ("", "3"), ("n" * 513, "4")]
    frame = spark.createDataFrame(rows, "_stream string, n string")
    sink = TailraceSink(
        base_url, None, producer_id="routes", stream_column="_stream", dead_letter_stream="sink:to-nowhere"
    )
    assert sink.write(frame.coalesce(1), 0).counts.dead_letters == 3
    assert [entry["fields"]["n"] for entry in entries_of(base_url, "sink:to-c")] == ["1"]
    letters = [entry["fields"] for entry in entries_of(base_url, "sink:to-nowhere")]
    assert [(letter["code"], letter["line"]) for letter in letters] == [
        ("NO_STREAM", '{"n":"2"}'),
        ("NO_STREAM", '{"n":"3"}'),
        ("INVALID_NAME", '{"n":"4"}'),
    ]


def test_a_column_of_streams_must_be_there_and_text(spark: SparkSession, base_url: str) -> None:
    sink = TailraceSink(base_url, None, producer_id="routes", stream_column="_stream")
    with pytest.raises(BadOption, match="stream_column: '_stream' is not a string column; the columns are"):
        sink(spark.sql("select 1 as _stream, 2 as n"), 0)
