"""The files of an archive, wherever Spark can write: a local disk, HDFS, an object store.

    <path>/day=2026-02-03/hour=04/step=7/part-....parquet
    <path>/_tailrace/00000000000000000007.json

Each step of the archive job writes its own files, and then its manifest, which names them with their sizes.
What no manifest names is no part of the archive: the leftovers of a job that died. A manifest is written
beside its place and renamed, so that it is there whole or not at all, and never changes after that.

It owns names, the manifest's form, and the way to Hadoop's file systems. It knows no stream and no counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from tailrace_spark.errors import BadArchive

MANIFESTS: Final = "_tailrace"
"""Spark's readers pass over names that begin so."""
FORMAT: Final = 1
STEP_DIGITS: Final = 20


@dataclass(frozen=True, slots=True)
class File:
    """`path`: below the archive's."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One step: the entries (after, end] of a stream, `count` of them, in `files`."""

    step: int
    stream: str
    after: str
    end: str
    count: int
    files: tuple[File, ...]

    def text(self) -> str:
        """As it is written."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)


class ArchiveFiles:
    """The archive at `path`, which need not be there yet."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path = path.rstrip("/")
        jvm: Any = spark._jvm  # noqa: SLF001 - Python has no other way to Hadoop's file systems
        configuration = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        self._jvm = jvm
        self._fs = self._path("").getFileSystem(configuration)

    def manifests(self, stream: str) -> list[Manifest]:
        """All of them, in order. Raises `BadArchive` where one is missing or is another stream's."""
        found = [self._manifest(status) for status in self._listed(MANIFESTS, "*.json")]
        found.sort(key=lambda manifest: manifest.step)
        for number, manifest in enumerate(found):
            if manifest.step != number:
                raise BadArchive(f"{self.path}: the manifest of step {number} is missing")
            if manifest.stream != stream:
                raise BadArchive(f"{self.path}: holds the stream {manifest.stream!r}, not {stream!r}")
        return found

    def write(self, manifest: Manifest) -> None:
        """Make the step a part of the archive. Raises `BadArchive` where another job was faster."""
        final = self._path(self._name_of(manifest.step))
        beside = self._path(f"{MANIFESTS}/.{uuid4().hex}")
        stream = self._fs.create(beside, False)  # noqa: FBT003 - Java's parameter: overwrite
        try:
            stream.write(bytearray(manifest.text().encode()))
        finally:
            stream.close()
        if self._fs.exists(final) or not self._fs.rename(beside, final):
            raise BadArchive(f"{self.path}: step {manifest.step} is there already: does another job run?")

    def check(self, manifest: Manifest) -> None:
        """Raise `BadArchive` where a file of the step is missing or has another size."""
        sizes = {file.path: file.bytes for file in self.files_of(manifest.step)}
        for file in manifest.files:
            if sizes.get(file.path) != file.bytes:
                raise BadArchive(
                    f"{self.path}/{file.path}: {sizes.get(file.path, 'no')} bytes are there, not {file.bytes}"
                )

    def files_of(self, step: int) -> list[File]:
        """The Parquet files that a step has written, of whichever run."""
        root = self._path("").makeQualified(self._fs.getUri(), self._fs.getWorkingDirectory()).toString()
        return [
            File(status.getPath().toString().removeprefix(root).lstrip("/"), int(status.getLen()))
            for status in self._listed(f"day=*/hour=*/step={step}", "*.parquet")
        ]

    def forget(self, step: int) -> None:
        """Remove what a run that died has left of a step that has no manifest."""
        assert not self._fs.exists(self._path(self._name_of(step)))
        for status in [*self._listed("day=*/hour=*", f"step={step}"), *self._listed(MANIFESTS, ".*")]:
            self._fs.delete(status.getPath(), True)  # noqa: FBT003 - Java's parameter: recursive

    def absolute(self, file: File) -> str:
        """Where the file stands."""
        return f"{self.path}/{file.path}"

    def _listed(self, directory: str, pattern: str) -> Iterator[Any]:
        yield from self._fs.globStatus(self._path(f"{directory}/{pattern}")) or ()

    def _manifest(self, status: Any) -> Manifest:
        stream = self._fs.open(status.getPath())
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        found = json.loads(text)
        if found.pop("format", None) != FORMAT:
            raise BadArchive(f"{status.getPath().toString()}: written by a later version")
        return Manifest(**{**found, "files": tuple(File(**file) for file in found["files"])})

    def _name_of(self, step: int) -> str:
        return f"{MANIFESTS}/{step:0{STEP_DIGITS}d}.json"

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}" if name else self.path)
