"""The options of tables: `CREATE TABLE ... USING tailrace OPTIONS (...)`.

Spark passes the options of a table to a Python data source once: when the table is created and the data
source names the columns. For a read it passes only the columns, with their metadata, and for a write only
the columns of the query. So the metadata of `_id` keeps the options of the table, and a write must name them
again.

What can go wrong, and what happens then:

* Columns are copied with their metadata: after `CREATE TABLE b ... AS SELECT ... FROM a`, `b` would read the
  stream of `a`. `_id` is NOT NULL in a table of its own. Spark makes all copied columns nullable, and such a
  table is refused.
* Metadata is copied into every file that is written from the table. A token is refused.

This module owns where the options are kept. `options` checks their values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from pyspark.sql.types import StructField, StructType

from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import refuse_unknown

KEPT_AS: Final = "tailrace"
"""The name of the options in the metadata of a column."""

CREATED: Final = "provider"
"""A property that Spark adds if it creates a table."""

OPTION: Final = "option."
"""The prefix of the options among the properties of a table."""

NAMED: Final = "url"
"""An option that every read and write needs. If it is missing, Spark passed no options."""

WITH_OPTIONS: Final = (
    "use CREATE TEMPORARY VIEW ... USING tailrace OPTIONS (...), or name them after the table in the query: "
    "WITH (url = '...', stream = '...')"
)


def is_created(given: Mapping[str, str]) -> bool:
    """Return whether Spark passed the properties of a table that it creates."""
    return CREATED in given


def options_of_new_table(properties: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """Return the options among the properties of a new table. Raises `BadOption`."""
    names = {name.casefold(): name for name in known}
    given = {name[len(OPTION) :]: value for name, value in properties.items() if name.startswith(OPTION)}
    options = {names.get(name.casefold(), name): value for name, value in given.items()}
    refuse_unknown(options, known)
    if "token" in options:
        raise BadOption("token: the catalog would show it to all its users; use tokenFile or tokenEnv")
    return options


def keeping(schema: StructType, options: Mapping[str, str]) -> StructType:
    """Return the columns of a new table, which keep its options."""
    first, *others = schema
    return StructType(
        [StructField(first.name, first.dataType, nullable=False, metadata={KEPT_AS: dict(options)}), *others]
    )


def options_of_read(given: Mapping[str, str], schema: StructType) -> dict[str, str]:
    """Return the options of a read: `given`, and if it is a table, the options that its columns keep. Raises
    `BadOption` if the columns keep none."""
    if NAMED in given:
        return dict(given)
    kept = [field for field in schema if KEPT_AS in field.metadata]
    if not kept:
        raise BadOption(
            "url: the option is missing. If this is a table, Spark passes its options only if CREATE TABLE "
            f"names no columns: leave them out, or {WITH_OPTIONS}"
        )
    if kept[0].nullable:
        raise BadOption(
            "this table was created AS SELECT from another table of this format, and Spark keeps the options "
            "of that other table: create the table without AS SELECT, and without columns"
        )
    return {**kept[0].metadata[KEPT_AS], **given}


def check_write(given: Mapping[str, str]) -> None:
    """Raise `BadOption` if Spark passes no options to a write."""
    if NAMED not in given:
        raise BadOption(
            "url: the option is missing. If this is a table, Spark passes its options to no write: "
            f"{WITH_OPTIONS}"
        )
