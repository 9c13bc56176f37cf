"""The files of a release, and empty environments to install them into.

Owns how the distributions are built, found, and installed where nothing of this repository is visible. It
contains nothing about their contents.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.typescript import PATH, node, package_alone

ROOT: Final = Path(__file__).parents[2]
WITHIN_S: Final = 300
PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
_SHARED: Final = frozenset({"HOME", "LANG", "TMPDIR", "SSL_CERT_FILE"})
"""The environment variables that a program inherits, besides those that configure pip and npm."""


class Release(NamedTuple):
    """The files of one release, in one directory."""

    directory: Path

    def wheel(self, name: str) -> Path:
        return self._one(f"{name}-*.whl")

    def sdist(self, name: str) -> Path:
        return self._one(f"{name}-*.tar.gz")

    @property
    def npm_package(self) -> Path:
        return self._one("tailrace-client-*.tgz")

    def _one(self, pattern: str) -> Path:
        found = sorted(self.directory.glob(pattern))
        assert len(found) == 1, f"{pattern} in {self.directory}: {[path.name for path in found]}"
        return found[0]


def make_release(directory: Path) -> Release:
    node()  # raises an error that names the missing program
    with package_alone():
        finished([str(ROOT / ".ci/dist"), str(directory)], ROOT, {**os.environ, "PYTHON": sys.executable})
    return Release(directory)


def names_in(archive: Path) -> list[str]:
    """Return the names of the files in an archive. For a tarball, they are relative to its single top
    folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return sorted(wheel.namelist())
    with tarfile.open(archive) as tarball:
        return sorted(member.name.partition("/")[2] for member in tarball if member.isfile())


def metadata_of(wheel: Path) -> Message:
    (name,) = (name for name in names_in(wheel) if name.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(wheel) as content:
        return BytesParser().parsebytes(content.read(name))


class Environment(NamedTuple):
    """A Python environment with the installed distributions only, and an empty working directory."""

    directory: Path

    @property
    def bin(self) -> Path:
        return self.directory / "venv/bin"

    @property
    def empty(self) -> Path:
        return self.directory / "empty"

    def python(self, program: str, *arguments: str, **environment: str) -> str:
        """Return the output of a Python program."""
        command = [str(self.bin / "python"), "-c", program, *arguments]
        return finished(command, self.empty, {**outside(), **environment})

    def installed(self) -> set[str]:
        """Return the names of the installed distributions."""
        listed = finished([*PIP, "--python", str(self.bin / "python"), "freeze"], self.empty, outside())
        return {line.partition("==")[0].partition(" @ ")[0].lower() for line in listed.splitlines()}


def environment_with(directory: Path, distributions: Sequence[Path | str]) -> Environment:
    """Return a new environment with these distributions and their dependencies, pinned by the constraints
    file."""
    made = Environment(directory)
    made.empty.mkdir(parents=True)
    finished([sys.executable, "-m", "venv", "--without-pip", str(directory / "venv")], made.empty, outside())
    options = ("--no-compile", "--constraint", str(ROOT / "constraints.txt"))
    pip = (*PIP, "--python", str(made.bin / "python"), "install", *options)
    finished([*pip, *map(str, distributions)], made.empty, outside())
    return made


def outside() -> dict[str, str]:
    """Environment variables that hide this repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _SHARED or name.startswith(("PIP_", "NPM_CONFIG_", "npm_config_", "http", "HTTP"))
    }
    return {**kept, "PATH": PATH}


def finished(command: Sequence[str], cwd: Path, environment: dict[str, str]) -> str:
    """Return the output of a command, which must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
