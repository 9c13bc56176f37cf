"""Convert the rows of a DataFrame to the lines that the server imports.

This module owns the order of the steps: `entry_form` decides what each column becomes, `values` converts the
values to text, and `lines` or `entry_lines` write the lines. It sends no requests.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tailrace_spark.errors import SinkError
from tailrace_spark.sink.entry_form import ID, EntryForm
from tailrace_spark.sink.entry_lines import entry_lines, with_ids
from tailrace_spark.sink.lines import holds_bytes, lines_of
from tailrace_spark.values.texts import texts_of

COMPLETE_ID: Final = r"^[0-9]{1,20}-[0-9]{1,20}$"


def row_lines(batch: pa.RecordBatch, form: EntryForm) -> pa.Array:
    """Return one line for each row, with its newline. Raises `SinkError` for a row without a complete id, if
    the ids are kept."""
    ids = None if form.id is None else checked_ids(batch.column(form.id))
    if form.all_fields is not None:
        return entry_lines(batch.column(form.all_fields), ids)
    contents = _texts(batch, form)
    lines = lines_of(contents)
    return lines if ids is None else with_ids(lines, ids, are_whole=holds_bytes(contents.schema))


def checked_ids(ids: pa.Array) -> pa.Array:
    """Return the ids. Raises `SinkError` if one of them is null or no complete id."""
    is_id = pc.match_substring_regex(ids, COMPLETE_ID).fill_null(False)  # noqa: FBT003 - Arrow's parameter
    if not pc.all(is_id).as_py():
        wrong = ids.filter(pc.invert(is_id))[0].as_py()
        raise SinkError(
            f"keep_ids: the {ID!r} of a row is {wrong!r}, which is not a complete id like 1692632086370-0"
        )
    return ids


def _texts(batch: pa.RecordBatch, form: EntryForm) -> pa.RecordBatch:
    fields = [form.schema[number] for number in form.fields]
    if not fields:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    texts = [
        texts_of(batch.column(number), field.dataType)
        for number, field in zip(form.fields, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(texts, names=[field.name for field in fields])
