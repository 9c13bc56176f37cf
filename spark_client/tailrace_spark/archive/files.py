"""The files of an archive, in any file system that Spark can write: a local disk, HDFS, an object store.

    <path>/day=2026-02-03/hour=04/step=7/part-....parquet
    <path>/_tailrace/00000000000000000007.json

Each step of the archive job writes its own Parquet files, and then its manifest, which lists the files with
their sizes. A file that no manifest lists is not part of the archive: an interrupted job left it. A manifest
is written under a temporary name and then renamed, so a manifest is always complete. It never changes
afterwards.

An archive belongs to one incarnation of its stream. The server gives a stream a new incarnation when the
stream is deleted and created again, and gives every stream a new one when a backup is restored. Ids are
times, so such a stream looks like a continuation of the earlier one, but entries are missing between the two.
The manifests keep the incarnation, and a change is `DataLoss`. Manifests of earlier releases have none: for
them, a stream that ends below its archive was created again.

This module owns the names, the form of a manifest, the rule of incarnations, and the access to Hadoop's file
systems. It never reads a stream and never counts entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from tailrace_client.replies import StreamState
from tailrace_spark.entry_ids import later
from tailrace_spark.errors import BadArchive, BadOption, DataLoss

MANIFESTS: Final = "_tailrace"
"""The directory of the manifests. Spark's readers ignore names that begin with an underscore."""
FORMAT: Final = 2
FORMATS_READ: Final = (1, FORMAT)
"""Manifests of format 1 have neither `in_pairs` nor `incarnation`; see `parquet` for their files."""
STEP_DIGITS: Final = 20
PATTERN: Final = frozenset("*?[]{}\\")
"""Characters that Hadoop and Spark read as a pattern of several paths."""
UNFINISHED: Final = "_temporary"
"""Where Hadoop's committer keeps the files of finished tasks until their job ends. A later job to the same
path moves them into place together with its own."""


@dataclass(frozen=True, slots=True)
class File:
    """A Parquet file of the archive. `path`: relative to the path of the archive. `bytes`: the size of the
    file."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of one step: it archived the entries (after, end] of a stream, `count` of them, in
    `files`. `in_pairs`: how many of them are in the column `pairs`. `incarnation`: that of the stream; None
    if it is unknown."""

    step: int
    stream: str
    after: str
    end: str
    count: int
    files: tuple[File, ...]
    in_pairs: int = 0
    incarnation: str | None = None

    def text(self) -> str:
        """Return the content of the manifest's file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)


class ArchiveFiles:
    """The archive at `path`. The path need not exist yet. Raises `BadOption`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        if PATTERN.intersection(path):
            raise BadOption(
                f"path: {path!r} contains a character of {' '.join(sorted(PATTERN))}, which Spark reads as a "
                "pattern; use a path without them"
            )
        self.path = path.rstrip("/")
        jvm: Any = spark._jvm  # noqa: SLF001 - Python has no other access to Hadoop's file systems
        configuration = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        self._jvm = jvm
        self._fs = self._path("").getFileSystem(configuration)

    def manifests(self, stream: str) -> list[Manifest]:
        """Return all manifests in order. Raises `BadArchive` if one is missing or belongs to another
        stream."""
        found = [self._manifest(status) for status in self._listed(MANIFESTS, "*.json")]
        found.sort(key=lambda manifest: manifest.step)
        for number, manifest in enumerate(found):
            if manifest.step != number:
                raise BadArchive(f"{self.path}: the manifest of step {number} is missing; restore it")
            if manifest.stream != stream:
                raise BadArchive(
                    f"{self.path}: the archive holds the stream {manifest.stream!r}, not {stream!r}; "
                    "use another path"
                )
        return found

    def write(self, manifest: Manifest) -> None:
        """Write the manifest, which makes its step part of the archive. Raises `BadArchive` if the step has a
        manifest already, which another job wrote."""
        final = self._path(self._name_of(manifest.step))
        beside = self._path(f"{MANIFESTS}/.{uuid4().hex}")
        stream = self._fs.create(beside, False)  # noqa: FBT003 - Java's parameter: overwrite
        try:
            stream.write(bytearray(manifest.text().encode()))
        finally:
            stream.close()
        if self._fs.exists(final) or not self._fs.rename(beside, final):
            raise BadArchive(
                f"{self.path}: step {manifest.step} has a manifest already; run one job at a time"
            )

    def check(self, manifest: Manifest) -> None:
        """Raise `BadArchive` if a file of the step is missing or has another size."""
        sizes = {file.path: file.bytes for file in self.files_of(manifest.step)}
        for file in manifest.files:
            if sizes.get(file.path) != file.bytes:
                raise BadArchive(
                    f"{self.path}/{file.path}: the manifest says {file.bytes} bytes, "
                    f"found {sizes.get(file.path, 'no file')}"
                )

    def files_of(self, step: int) -> list[File]:
        """Return the Parquet files that exist for a step, from any run of the job."""
        root = self._path("").makeQualified(self._fs.getUri(), self._fs.getWorkingDirectory()).toString()
        return [
            File(status.getPath().toString().removeprefix(root).lstrip("/"), int(status.getLen()))
            for status in self._listed(f"day=*/hour=*/step={step}", "*.parquet")
        ]

    def forget(self, step: int) -> None:
        """Delete the files that an interrupted run left of a step without a manifest, and those of its tasks
        that no job moved into place."""
        assert not self._fs.exists(self._path(self._name_of(step)))
        leftovers = [("day=*/hour=*", f"step={step}"), (MANIFESTS, ".*"), ("", UNFINISHED)]
        for status in [status for place in leftovers for status in self._listed(*place)]:
            self._fs.delete(status.getPath(), True)  # noqa: FBT003 - Java's parameter: recursive

    def absolute(self, file: File) -> str:
        """Return the full path of a file."""
        return f"{self.path}/{file.path}"

    def _listed(self, directory: str, pattern: str) -> Iterator[Any]:
        yield from self._fs.globStatus(self._path(f"{directory}/{pattern}")) or ()

    def _manifest(self, status: Any) -> Manifest:
        stream = self._fs.open(status.getPath())
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return _parsed(text, status.getPath().toString())

    def _name_of(self, step: int) -> str:
        return f"{MANIFESTS}/{step:0{STEP_DIGITS}d}.json"

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}" if name else self.path)


def _parsed(text: str, name: str) -> Manifest:
    try:
        found = json.loads(text)
        is_known = found.pop("format") in FORMATS_READ
        if is_known:
            return Manifest(**{**found, "files": tuple(File(**file) for file in found["files"])})
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadArchive(f"{name}: the file is not a manifest; restore it") from None
    raise BadArchive(f"{name}: a later version wrote this manifest; update tailrace-spark")


# --- incarnations -----------------------------------------------------------------------------------------


def incarnation_of(state: StreamState) -> str | None:
    """Return the incarnation of a stream; None from a server that reports none."""
    return state.incarnation or None


def continues(last: Manifest, state: StreamState) -> bool:
    """Return whether the stream is the one that the archive ends with."""
    found = incarnation_of(state)
    if last.incarnation is None or found is None:
        return later(state.last_id, last.end) == state.last_id
    return found == last.incarnation


def recreated(where: str, path: str, done: str) -> DataLoss:
    """Return the error for a stream that is another one than that of the archive at `path`. `done`: what was
    not done, a sentence."""
    return DataLoss(
        f"{where}: the stream was deleted and created again, or restored from a backup, after {path} was "
        f"written. {done} Archive the new stream to another path. To add it to this archive instead, from "
        "its first entry on, set failOnDataLoss to false"
    )
