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
* The stream is deleted and created again before the job starts: the job stops with `DataLoss`. If
  `failOnDataLoss` is false, it begins at the first entry of the new stream.
* The stream is deleted and created again during a step: the job stops with `DataLoss` before it writes the
  manifest, or before it trims. It looks at the stream right before and after each trim. A stream that is
  created again between look and trim loses only entries with ids up to the last archived one; the ids that
  the server takes from its clock are greater. The look after the trim raises `DataLoss` then.
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

from tailrace_client import RetryPolicy, TailraceError
from tailrace_spark.archive.files import ArchiveFiles, Manifest, continues, incarnation_of, recreated
from tailrace_spark.archive.parquet import counts_of, write_step
from tailrace_spark.entry_ids import earlier, just_above, later
from tailrace_spark.errors import BadArchive, DataLoss
from tailrace_spark.option_checks import check_classic, integer_within, one_of
from tailrace_spark.source.data_source import TailraceDataSource
from tailrace_spark.source.options import ReadOptions, read_options
from tailrace_spark.source.requests import SourceStream, source_error
from tailrace_spark.source.selection import ending_bound

Trimming = Literal["all", "acknowledged", "nothing"]
References = Literal["keep", "acknowledged"]

ENTRIES_PER_STEP: Final = 1_000_000
ENTRIES_PER_STEP_MAX: Final = 1 << 40

log: Final = logging.getLogger(__name__)


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
    bound = ending_bound(until).id
    return _Job(spark, ArchiveFiles(spark, path), given, read_options(given), trim).run(
        bound, entries_per_step
    )


@dataclass
class _Job:
    """One run of the archive job. `incarnation`: that of the stream when the run began. `manifests`: the
    manifests that this run wrote. `trimmed`: how many entries it trimmed."""

    spark: SparkSession
    files: ArchiveFiles
    given: Mapping[str, str]
    options: ReadOptions
    trim: Trimming
    incarnation: str | None = None
    manifests: list[Manifest] = field(default_factory=list)
    trimmed: int = 0

    def run(self, until: str, entries_per_step: int) -> ArchiveReport:
        began_s = time.monotonic()
        source = SourceStream(self.options)
        known = self.files.manifests(self.options.stream)
        state = source.state()
        self.incarnation = incarnation_of(state)
        is_continued = bool(known) and continues(known[-1], state)
        if known and not is_continued and self.options.fail_on_data_loss:
            raise self._recreated("Nothing was written or trimmed.")
        if is_continued:
            self._trim(source, known[-1])
        after = known[-1].end if is_continued else source.start_of()
        until = later(earlier(until, state.last_id), after)
        progress = Progress(source.count(after, until), entries_per_step)
        log.info("archiving (%s, %s]: %s", after, until, progress)
        while after != until and (end := source.page_end(after, entries_per_step)) is not None:
            end = earlier(end, until)
            progress.add_step(self._step(source, len(known) + len(self.manifests), after, end))
            log.info("%s", progress)
            after = end
        return self._report(known, time.monotonic() - began_s)

    def _step(self, source: SourceStream, number: int, after: str, end: str) -> int:
        log.info("step %d: writing (%s, %s]", number, after, end)
        self.files.forget(number)
        most = source.count(after, end)
        write_step(self._entries(after, end), number, self.files.path)
        log.info("step %d: written", number)
        manifest = self._checked(number, after, end, source.count(after, end), most)
        log.info("step %d: read back, %d entries", number, manifest.count)
        self._check_same(source, "The archive is as before; nothing was trimmed.")
        self.files.write(manifest)
        log.info("step %d: a part of the archive", number)
        self.manifests.append(manifest)
        self._trim(source, manifest)
        return manifest.count

    def _entries(self, after: str, end: str) -> DataFrame:
        reader = self.spark.read.format(TailraceDataSource.name()).options(**self.given)
        return reader.options(startingOffsets=just_above(after), endingOffsets=end).load()

    def _checked(self, number: int, after: str, end: str, least: int, most: int) -> Manifest:
        """Return the manifest of the step, after reading its files back.

        Entries that a client deletes one by one while the step is written may be in the files or not. Any
        other difference between the files and the stream raises `BadArchive`.
        """
        files = self.files.files_of(number)
        counts = counts_of(self.spark, [self.files.absolute(file) for file in files])
        if not (least <= counts.entries <= most and counts.entries == counts.ids):
            raise BadArchive(
                f"{self.files.path}: step {number} has {counts.entries} entries, {counts.ids} of them "
                f"distinct, but the stream has {least} to {most} in ({after}, {end}]. Nothing was trimmed; "
                "run the job again"
            )
        return Manifest(
            step=number,
            stream=self.options.stream,
            after=after,
            end=end,
            count=counts.entries,
            files=tuple(files),
            in_pairs=counts.in_pairs,
            incarnation=self.incarnation,
        )

    def _trim(self, source: SourceStream, manifest: Manifest) -> None:
        """Check that the files of the manifest exist and that the stream is still the archived one, then trim
        the stream up to the end of the manifest."""
        if self.trim == "nothing":
            return
        self.files.check(manifest)
        references: References = "acknowledged" if self.trim == "acknowledged" else "keep"
        deadline_s = self.options.retry_deadline_s
        client = self.options.endpoint.client(
            retry=RetryPolicy(deadline_s=deadline_s, first_connection_s=deadline_s)
        )
        stream = client.stream(self.options.stream)
        self._check_same(source, "Its archived entries are gone; nothing was trimmed.")
        try:
            gone = stream.trim(min_id=just_above(manifest.end), approximate=False, references=references)
        except TailraceError as error:
            raise source_error(error, repr(self.options)) from error
        self._check_same(source, f"Entries up to {manifest.end} may have been trimmed from the new stream.")
        self.trimmed += gone
        log.info("step %d: %d entries trimmed", manifest.step, gone)

    def _check_same(self, source: SourceStream, done: str) -> None:
        """Raise `DataLoss` if the stream is no longer the one that this run began with; with any options,
        because the next run begins in order."""
        if incarnation_of(source.state()) != self.incarnation:
            raise self._recreated(done)

    def _recreated(self, done: str) -> DataLoss:
        return recreated(repr(self.options), self.files.path, done)

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


# --- progress and report ----------------------------------------------------------------------------------


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


@dataclass(slots=True)
class Progress:
    """How far a run is. `entries`: how many the range had when the run began; clients may delete some of
    them. `entries_per_step`: the most entries of a step."""

    entries: int
    entries_per_step: int
    entries_done: int = 0
    steps_done: int = 0

    @property
    def steps(self) -> int:
        """How many steps the run needs."""
        return -(-self.entries // self.entries_per_step)

    def add_step(self, entries: int) -> None:
        """Count a step that has become part of the archive."""
        self.entries_done += entries
        self.steps_done += 1

    def __str__(self) -> str:
        percent = self.entries_done * 100 // self.entries if self.entries else 100
        return (
            f"{self.steps_done} of {self.steps} steps, {self.entries_done} of {self.entries} entries, "
            f"{percent} %"
        )
