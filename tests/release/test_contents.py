"""The contents of the distributions are complete, contain nothing else, and have correct metadata."""

from __future__ import annotations

import shutil
import sys
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tailrace import app
from tests.support.distributions import ROOT, Release, finished, metadata_of, names_in, outside

SOURCES: Final = {
    "tailrace": (ROOT, ("core", "api", "app", "tailrace")),
    "tailrace_client": (ROOT / "openapi/python", ("tailrace_client",)),
    "tailrace_spark": (ROOT / "spark_client", ("tailrace_spark", "pyspark_tailrace")),
}
IN_WHEELS: Final = {folder: f"tailrace/{folder}" for folder in ("core", "api", "app")}
"""Folders that have another path in a wheel than in the work tree."""
EVERY_PYTHON_ONE: Final = pytest.mark.parametrize("name", SOURCES)
LICENCES: Final = ("LICENSE", "NOTICE")
CONSOLE: Final = ROOT / "app/console"
COMMITTED_AT_S: Final = "1700000000"


def sources_of(name: str) -> set[str]:
    """The files of a distribution's packages, as they are in the work tree. Of the console only what is
    built."""
    root, packages = SOURCES[name]
    return {
        path.relative_to(root).as_posix()
        for package in packages
        for path in (root / package).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__" and not is_source_of_console(path)
    }


def is_source_of_console(path: Path) -> bool:
    """Whether the console is built from this file, so that no distribution has it."""
    if not path.is_relative_to(CONSOLE):
        return False
    return path.suffix != ".py" and not path.is_relative_to(CONSOLE / "static")


def installed_from(name: str) -> set[str]:
    """The paths at which a wheel has these files."""
    return {
        f"{IN_WHEELS.get(folder, folder)}/{rest}"
        for folder, _, rest in (source.partition("/") for source in sources_of(name))
    }


@EVERY_PYTHON_ONE
def test_a_wheel_holds_its_packages_its_licences_and_no_more(release: Release, name: str) -> None:
    names = set(names_in(release.wheel(name)))
    information = {each for each in names if ".dist-info/" in each}
    assert names - information == installed_from(name)
    assert {each.rpartition("dist-info/")[2] for each in information} <= {
        *("METADATA", "WHEEL", "RECORD", "entry_points.txt"),
        *(f"licenses/{licence}" for licence in LICENCES),
    }
    assert {Path(each).name for each in information} >= set(LICENCES)


@EVERY_PYTHON_ONE
def test_an_sdist_holds_what_its_wheel_is_built_from_and_no_tests_or_caches(
    release: Release, name: str
) -> None:
    names = set(names_in(release.sdist(name)))
    assert names >= {*sources_of(name), *LICENCES, "README.md", "pyproject.toml", "PKG-INFO"}
    rest = {each.partition("/")[0] for each in names - sources_of(name)}
    assert rest <= {
        *(*LICENCES, "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"),
        *("CHANGELOG.md", "constraints.txt", "docs"),
    }


@EVERY_PYTHON_ONE
def test_the_metadata_is_complete(release: Release, name: str) -> None:
    metadata = metadata_of(release.wheel(name))
    assert metadata["Name"] == name.replace("_", "-")
    assert metadata["Version"] == app.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == list(LICENCES)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    for field in ("Summary", "Author", "Keywords", "Classifier"):
        assert metadata[field], field
    assert len(str(metadata.get_payload())) > len(metadata["Summary"])


def test_the_npm_package_holds_what_runs_its_types_its_sources_and_its_licences(release: Release) -> None:
    names = names_in(release.npm_package)
    sources = {name for name in names if name.startswith("src/")}
    written = ROOT / "openapi/typescript"
    assert sources == {path.relative_to(written).as_posix() for path in (written / "src").rglob("*.ts")}
    compiled = {f"dist/{name.removeprefix('src/').removesuffix('.ts')}" for name in sources}
    assert set(names) >= {f"{stem}{end}" for stem in compiled for end in (".js", ".d.ts")}
    rest = set(names) - sources - {name for name in names if name.startswith("dist/")}
    assert rest == {*LICENCES, "README.md", "package.json"}


@pytest.mark.parametrize("licence", LICENCES)
@pytest.mark.parametrize("folder", ["openapi/python", "spark_client"])
def test_packages_of_their_own_carry_the_projects_licence(folder: str, licence: str) -> None:
    assert (ROOT / folder / licence).read_text() == (ROOT / licence).read_text()


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (built_from_a_copy(tmp_path / name) for name in ("first", "second"))
    assert [path.name for path in first] == [path.name for path in second]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def built_from_a_copy(directory: Path) -> list[Path]:
    """The sdist and the wheel of the smallest distribution, from files that are new."""
    for folder in ("spark_client", "app"):
        shutil.copytree(ROOT / folder, directory / folder, copy_function=shutil.copyfile)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", "spark_client"]
    finished(command, directory, {**outside(), "SOURCE_DATE_EPOCH": COMMITTED_AT_S})
    return sorted((directory / "dist").iterdir())


@EVERY_PYTHON_ONE
def test_nothing_in_an_sdist_says_who_built_it_or_when(release: Release, name: str) -> None:
    with tarfile.open(release.sdist(name)) as tarball:
        members = list(tarball)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
    assert len({member.mtime for member in members}) == 1
