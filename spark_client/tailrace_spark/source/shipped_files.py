"""Let streaming reads find the package if `--py-files` sent it.

Spark copies the files of `--py-files` to one directory on each machine, and puts them on the path of its
Python processes there. The process of a streaming read on the driver is an exception: it looks for the files
in a directory inside that one, which Spark leaves empty. So a data source that runs from such a file links
the files there, before the streaming read starts.

This module does nothing where the package is installed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from pyspark.util import is_remote_only

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
