"""The archive job: it writes entries to Parquet by the day and hour of their ids, then trims them from the
stream.

How it works. The job proceeds in steps of at most `entries_per_step` entries. A step reads the range (after,
end] with the data source and writes it to Parquet. It reads the files back and compares their counts with the
count of the stream. It then writes the manifest, and finally trims the stream up to the end of the step.
`after` is the end of the last manifest.

What can go wrong, and what happens then:

* The driver dies before it writes the manifest: all entries are still in the stream. The next run deletes the
  leftover files and repeats the step.
* The driver dies after it wrote the manifest: the entries are in the archive. The next run trims the stream
  first.
* Files that a manifest lists are missing or have another size: the job trims nothing and stops.
* Another client trims entries that are not archived yet: the job stops with `DataLoss`, unless
  `failOnDataLoss` is false.
* Two jobs write to one path: the job that writes the manifest of a step second stops. Run one job at a time.

The job never trims entries that it has not read back. It also trims entries that consumer groups have not
acknowledged, unless `trim` is "acknowledged": then those entries stay in the stream (and are in the archive
too).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from tailrace_client import RetryPolicy, TailraceError
from tailrace_spark.archive.files import ArchiveFiles, Manifest
from tailrace_spark.classic_session import check_classic
from tailrace_spark.errors import BadArchive
from tailrace_spark.option_checks import integer_within, one_of
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.offsets import earlier, ending_bound, just_above, later
from tailrace_spark.source.options import ReadOptions, read_options
from tailrace_spark.source.request_errors import source_error
from tailrace_spark.source.stream_requests import SourceStream

Trimming = Literal["all", "acknowledged", "nothing"]
References = Literal["keep", "acknowledged"]

ENTRIES_PER_STEP: Final = 1_000_000
ENTRIES_PER_STEP_MAX: Final = 1 << 40
MS_A_DAY: Final = 86_400_000
MS_AN_HOUR: Final = 3_600_000
COLUMNS: Final = ("_id", "_timestamp", "fields")

log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """The result of a run.

    `steps`, `entries` and `bytes` count what this run archived. `trimmed`: how many entries it removed from
    the stream. `end`: the id up to which the stream is archived; None if the archive is empty.
    """

    steps: int
    entries: int
    bytes: int
    trimmed: int
    end: str | None
    duration_s: float

    def __str__(self) -> str:
        rate = self.entries / self.duration_s
        return (
            f"{self.entries} entries in {self.steps} steps, {self.bytes} bytes of Parquet, "
            f"{self.trimmed} trimmed, up to {self.end}; {self.duration_s:.2f} s, {rate:.0f} entries/s"
        )


def archive_stream(
    spark: SparkSession,
    url: str,
    stream: str,
    path: str,
    *,
    until: str = "latest",
    entries_per_step: int = ENTRIES_PER_STEP,
    trim: Trimming = "all",
    **options: str,
) -> ArchiveReport:
    """Archive the entries up to `until`, trim them from the stream, and return a report.

    `until`: `latest` for the entries that exist now, an id, or a time. `trim`: "all" trims every archived
    entry, "acknowledged" trims those that no consumer group still needs, "nothing" trims none. `options` are
    options of the data source, such as `tokenFile`. Raises `BadOption`, `BadArchive` and `SourceError`.
    """
    check_classic(spark, "archive_stream", "submit archive_job.py with spark-submit")
    integer_within("entries_per_step", entries_per_step, 1, ENTRIES_PER_STEP_MAX)
    one_of("trim", trim, get_args(Trimming))
    given = {**options, "url": url, "stream": stream}
    spark.dataSource.register(TailraceDataSource)
    job = _Job(spark, ArchiveFiles(spark, path), given, read_options(given), trim)
    return job.run(ending_bound(until).id, entries_per_step)


@dataclass
class _Job:
    """One run of the archive job. `manifests`: the manifests that this run wrote. `trimmed`: how many entries
    it trimmed."""

    spark: SparkSession
    files: ArchiveFiles
    given: Mapping[str, str]
    options: ReadOptions
    trim: Trimming
    manifests: list[Manifest] = field(default_factory=list)
    trimmed: int = 0

    def run(self, until: str, entries_per_step: int) -> ArchiveReport:
        began_s = time.monotonic()
        source = SourceStream(self.options)
        known = self.files.manifests(self.options.stream)
        after = known[-1].end if known else source.start_of()
        last_id = source.state().last_id
        source.check_not_recreated(last_id, after)
        if known:
            self._trim(known[-1])
        until = earlier(until, last_id)
        while later(after, until) != after and (end := source.page_end(after, entries_per_step)) is not None:
            end = earlier(end, until)
            self._step(source, len(known) + len(self.manifests), after, end)
            after = end
        return self._report(known, time.monotonic() - began_s)

    def _step(self, source: SourceStream, number: int, after: str, end: str) -> None:
        log.info("step %d: writing (%s, %s]", number, after, end)
        self.files.forget(number)
        most = source.count(after, end)
        _by_day_and_hour(self._entries(after, end), number, self.files.path)
        log.info("step %d: written", number)
        manifest = self._checked(number, after, end, source.count(after, end), most)
        log.info("step %d: read back, %d entries", number, manifest.count)
        self.files.write(manifest)
        log.info("step %d: a part of the archive", number)
        self.manifests.append(manifest)
        self._trim(manifest)

    def _entries(self, after: str, end: str) -> DataFrame:
        reader = self.spark.read.format(TailraceDataSource.name()).options(**self.given)
        return reader.options(startingOffsets=just_above(after), endingOffsets=end).load()

    def _checked(self, number: int, after: str, end: str, least: int, most: int) -> Manifest:
        """Return the manifest of the step, after reading its files back.

        Entries that a client deletes one by one while the step is written may be in the files or not. Any
        other difference between the files and the stream raises `BadArchive`.
        """
        files = self.files.files_of(number)
        count, distinct = 0, 0
        if files:
            frame = self.spark.read.parquet(*map(self.files.absolute, files))
            count, distinct = frame.agg(F.count("_id"), F.count_distinct("_id")).head() or (0, 0)
        if not (least <= count <= most and count == distinct):
            raise BadArchive(
                f"{self.files.path}: step {number} has {count} entries, {distinct} of them distinct, but the "
                f"stream has {least} to {most} in ({after}, {end}]. Nothing was trimmed; run the job again"
            )
        return Manifest(number, self.options.stream, after, end, count, tuple(files))

    def _trim(self, manifest: Manifest) -> None:
        """Check that the files of the manifest exist, then trim the stream up to the end of the manifest."""
        if self.trim == "nothing":
            return
        self.files.check(manifest)
        references: References = "acknowledged" if self.trim == "acknowledged" else "keep"
        client = self.options.endpoint.client(retry=RetryPolicy(deadline_s=self.options.retry_deadline_s))
        stream = client.stream(self.options.stream)
        try:
            gone = stream.trim(min_id=just_above(manifest.end), approximate=False, references=references)
        except TailraceError as error:
            raise source_error(error, repr(self.options)) from error
        self.trimmed += gone
        log.info("step %d: %d entries trimmed", manifest.step, gone)

    def _report(self, known: list[Manifest], duration_s: float) -> ArchiveReport:
        manifests = self.manifests
        report = ArchiveReport(
            steps=len(manifests),
            entries=sum(manifest.count for manifest in manifests),
            bytes=sum(file.bytes for manifest in manifests for file in manifest.files),
            trimmed=self.trimmed,
            end=[*known, *manifests][-1].end if known or manifests else None,
            duration_s=duration_s,
        )
        log.info("%s", report)
        return report


def _by_day_and_hour(entries: DataFrame, step: int, path: str) -> None:
    """Write the entries to Parquet by day and hour in UTC, in any session time zone.

    An id whose time is too late for a timestamp has neither day nor hour.
    """
    ms = F.unix_millis("_timestamp")
    day = F.date_add(F.lit("1970-01-01").cast("date"), F.floor(ms / MS_A_DAY).cast("int"))
    hour = F.floor(F.pmod(ms, F.lit(MS_A_DAY)) / MS_AN_HOUR).cast("int")
    placed = entries.select(*COLUMNS, day.alias("day"), hour.alias("hour"), F.lit(step).alias("step"))
    placed.write.partitionBy("day", "hour", "step").mode("append").parquet(path)
