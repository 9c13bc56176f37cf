"""The class that Spark loads for `format("tailrace")`: the name of the format, the default schema, and the
options that Spark passes to each direction (`batch_reader`, `stream_reader` and `writer`).

Spark passes the options of a table (`CREATE TABLE ... USING tailrace OPTIONS (...)`) to a Python data source
once: when the table is created and the data source names the columns. For a read it passes only the columns,
with their metadata, and for a write only the columns of the query. So the metadata of `_id` keeps the options
of the table, and a write must name them again. What can go wrong, and what happens then:

* Columns are copied with their metadata: after `CREATE TABLE b ... AS SELECT ... FROM a`, `b` would read the
  stream of `a`. `_id` is NOT NULL in a table of its own. Spark makes all copied columns nullable, and such a
  table is refused.
* Metadata is copied into every file that is written from the table. A token is refused.

Spark copies the files of `--py-files` to one directory on each machine, and puts them on the path of its
Python processes there. The process of a streaming read on the driver is an exception: it looks for the files
in a directory inside that one, which Spark leaves empty. So a data source that runs from such a file links
the files there, before the streaming read starts.

This module owns where the options come from. `options` checks their values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructField, StructType
from pyspark.util import is_remote_only

from tailrace_spark.errors import BadOption, sentence_first
from tailrace_spark.option_checks import refuse_unknown
from tailrace_spark.source.batch_reader import FilteringReader, TailraceReader
from tailrace_spark.source.columns import SCHEMA, Columns
from tailrace_spark.source.options import READING, ReadOptions, read_options, write_options
from tailrace_spark.source.stream_reader import TailraceStreamReader
from tailrace_spark.source.writer import TailraceStreamWriter, TailraceWriter


@sentence_first
class TailraceDataSource(DataSource):
    """The data source. Spark finds it by itself where the package is installed. Elsewhere, register it with
    `spark.dataSource.register(TailraceDataSource)`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        link_shipped_files()

    @classmethod
    def name(cls) -> str:
        """Return the name that `format("tailrace")` uses."""
        return "tailrace"

    def schema(self) -> StructType:
        """Return the schema of a read, or of a new table, for which the user gives no schema."""
        if not is_created(self.options):
            read_options(self.options)
            return SCHEMA
        options = options_of_new_table(self.options, READING)
        read_options(options)
        return keeping(SCHEMA, options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch query."""
        options = read_options(options_of_read(self.options, schema))
        reader = FilteringReader if options.pushes_filters else TailraceReader
        return reader(options, _columns(options, schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return the reader of a streaming query."""
        options = read_options(options_of_read(self.options, schema))
        return TailraceStreamReader(options, _columns(options, schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001
        """Return the writer of a batch query."""
        check_write(self.options)
        return TailraceWriter(write_options(self.options), schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: FBT001, N802
        """Return the writer of a streaming query."""
        check_write(self.options)
        return TailraceStreamWriter(write_options(self.options), schema, overwrite=overwrite)


def _columns(options: ReadOptions, schema: StructType) -> Columns:
    return Columns(schema, ", ".join(options.streams), options.mode, options.corrupt_record)


# --- the options of tables --------------------------------------------------------------------------------


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


# --- files of --py-files ----------------------------------------------------------------------------------


OF_STREAMING_READS: Final = "streaming_job"
"""The name of the directory in which the process of a streaming read looks for files."""


def link_shipped_files() -> None:
    """Link the files that Spark sent to this machine, if this package is in one of them."""
    if is_remote_only():
        return
    from pyspark.core.files import SparkFiles  # noqa: PLC0415 - a client of Spark Connect does not have it

    if not SparkFiles._is_running_on_worker:  # noqa: SLF001 - a process that has no files of a job
        return
    sent = Path(SparkFiles.getRootDirectory())
    if not Path(__file__).is_relative_to(sent):
        return
    links = sent / OF_STREAMING_READS
    links.mkdir(exist_ok=True)
    for file in filter(Path.is_file, sent.iterdir()):
        with suppress(FileExistsError):
            (links / file.name).symlink_to(file)
