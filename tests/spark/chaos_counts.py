"""Count the rows of an archive and of its live stream with DuckDB, and tell what is lost or doubled.

The archive is the files that the manifests name. Spark takes no part in the count.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from tailrace_client import Tailrace
from tests.spark.chaos_plan import DECOYS_FROM

FILES = """
    set variable files = (
      select list('{path}/' || file.path)
      from (select unnest(files) as file from read_json('{path}/_tailrace/*.json'))
    )"""
ARCHIVED = """
    create table archived as
    select _id as id, fields['n']::bigint as n from read_parquet(getvariable('files'))"""
LINES = """
    create table live as
    select id, fields['n']::bigint as n
    from read_json(?, format = 'newline_delimited',
                   columns = {'id': 'varchar', 'fields': 'map(varchar, varchar)'})"""
COUNTS = """
    with found as (select n, count(*) as times from (from archived union all from live) group by n)
    select
      (select count(*) from archived),
      (select count(*) from live),
      (select count(*) from archived semi join live using (id)),
      count(*) filter (n < $decoys),
      coalesce(sum(times) filter (n < $decoys), 0),
      count(*) filter (n >= $decoys),
      coalesce(sum(times) filter (n >= $decoys), 0),
      count(*) filter (n is null or n < 0 or (n >= $rows and n < $decoys) or n >= $decoys + $rows)
    from found"""


@dataclass(frozen=True, slots=True)
class Counts:
    """What archive and live part of a stream have. `both`: ids in both of them. `lost`: rows that are in
    neither. `doubled`: more of a row, or of a decoy, than one. `strange`: numbers that no one wrote."""

    rows: int
    archived: int
    live: int
    both: int
    lost: int
    doubled: int
    decoys: int
    strange: int

    @property
    def is_right(self) -> bool:
        return self.both == self.lost == self.doubled == self.strange == 0


def counts_of(url: str, stream: str, archive: Path, rows: int) -> Counts:
    """Count the stream and its archive, which must have the rows from 0 up to `rows` once."""
    lines = archive.with_name(f"{archive.name}.ndjson")
    with Tailrace(url) as tailrace, lines.open("wb") as file:
        file.writelines(tailrace.stream(stream).export_lines())
    with duckdb.connect() as connection:
        connection.execute(FILES.format(path=archive))
        connection.execute(ARCHIVED)
        connection.execute(LINES, [str(lines)])
        found = connection.execute(COUNTS, {"decoys": DECOYS_FROM, "rows": rows}).fetchone()
    assert found is not None
    archived, live, both, different, times, decoys, decoy_times, strange = map(int, found)
    doubled = times - different + decoy_times - decoys
    return Counts(rows, archived, live, both, rows - different, doubled, decoys, strange)
