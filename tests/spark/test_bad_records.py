"""Entries whose text a column cannot hold: a copy of the entry, no row, or an error, as `mode` says."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructType

from tailrace_spark import TailraceDataSource
from tailrace_spark.errors import BadOption, BadValue
from tailrace_spark.source.columns import Columns
from tailrace_spark.source.options import Mode, read_options

GOOD = b'{"id":"1-0","fields":{"n":"1","speed":"30.2"}}\n'
BAD = b'{"id":"2-0","fields":{"n":"2","speed":"fa\\"st"}}\n'
TWICE = b'{"id":"3-0","pairs":[["n","x"],["n","y"]]}\n'
BYTES = b'{"id":"4-0","fields":{"bg==":"/w=="},"encoding":"base64"}\n'
LINES = GOOD + BAD + TWICE + BYTES
N = ("n", "integer")
RECORD = ("_corrupt_record", "string")
SCHEMA = (RECORD, N, ("speed", "double"))


def schema_of(*columns: tuple[str, str]) -> StructType:
    schema = StructType()
    for name, kind in columns:
        schema = schema.add(name, kind)
    return schema


def read(columns: tuple[tuple[str, str], ...], mode: Mode, name: str = "_corrupt_record") -> pa.Table:
    batches = Columns(schema_of(*columns), "s", mode, name).batches(iter([LINES]))
    return pa.Table.from_batches(batches)


def test_permissive_keeps_the_good_values_and_copies_the_entry_as_an_export_has_it() -> None:
    found = read(SCHEMA, "permissive").to_pydict()
    assert found["n"] == [1, 2, None, None]
    assert found["speed"] == [30.2, None, None, None]
    assert [text and text.encode() + b"\n" for text in found["_corrupt_record"]] == [None, BAD, TWICE, BYTES]


def test_the_column_of_corrupt_records_has_the_name_that_the_option_gives() -> None:
    found = read((N, ("wrong", "string")), "permissive", "wrong").to_pydict()
    assert found["wrong"][:2] == [None, None]
    assert found["wrong"][2] is not None
    assert read((N, RECORD), "permissive", "wrong").to_pydict()["_corrupt_record"] == [None] * 4


def test_without_the_column_permissive_only_makes_nulls() -> None:
    assert read((N,), "permissive").to_pydict() == {"n": [1, 2, None, None]}


def test_dropmalformed_drops_the_entries_with_bad_text() -> None:
    assert read(SCHEMA, "dropmalformed").to_pydict() == {"_corrupt_record": [None], "n": [1], "speed": [30.2]}


def test_failfast_names_the_entry_the_field_and_the_text() -> None:
    with pytest.raises(
        BadValue, match=r"entry 2-0: the field 'speed' is 'fa\"st', which is not a valid double"
    ):
        read((("speed", "double"),), "failfast")


def test_good_entries_have_no_corrupt_record() -> None:
    columns = Columns(schema_of(*SCHEMA), "s", "permissive", "_corrupt_record")
    [batch] = columns.batches(iter([GOOD]))
    assert batch.column("_corrupt_record").to_pylist() == [None]


def test_the_column_of_corrupt_records_must_be_a_string() -> None:
    source = TailraceDataSource(CaseInsensitiveDict({"url": "http://127.0.0.1:1", "stream": "s"}))
    with pytest.raises(BadOption, match="columnNameOfCorruptRecord: the column '_corrupt_record' is int"):
        source.reader(schema_of(("_corrupt_record", "integer")))


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DropMalformed", "failfast"])
def test_the_mode_is_a_word_in_any_case(mode: str) -> None:
    assert read_options({"url": "http://h", "stream": "s", "mode": mode}).mode == mode.casefold()


def test_another_mode_is_refused() -> None:
    with pytest.raises(BadOption, match="mode: 'strict' is not one of permissive, dropmalformed, failfast"):
        read_options({"url": "http://h", "stream": "s", "mode": "strict"})
