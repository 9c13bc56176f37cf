"""The version is defined in `app.__version__`; every released artifact and the changelog have the same."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any, Final

import msgspec
import pytest

from tailrace import app
from tests.support.distributions import ROOT, Release

HEADING: Final = re.compile(r"^## (?P<version>\S+) - (?P<date>\d{4}-\d\d-\d\d|unreleased)$", re.MULTILINE)
SEMANTIC: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
KINDS: Final = {"Upgrade", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
CHANGELOG: Final = (ROOT / "CHANGELOG.md").read_text()


def json_in(path: str) -> Any:
    return msgspec.json.decode((ROOT / path).read_bytes())


def test_all_distributions_of_a_release_have_one_version(release: Release) -> None:
    assert sorted(path.name for path in release.directory.iterdir() if path.is_file()) == sorted(
        [
            f"tailrace-{app.__version__}-py3-none-any.whl",
            f"tailrace-{app.__version__}.tar.gz",
            f"tailrace-client-{app.__version__}.tgz",
            f"tailrace_client-{app.__version__}-py3-none-any.whl",
            f"tailrace_client-{app.__version__}.tar.gz",
            f"tailrace_spark-{app.__version__}-py3-none-any.whl",
            f"tailrace_spark-{app.__version__}.tar.gz",
        ]
    )


@pytest.mark.parametrize("document", ["openapi.json", "openapi.sdk.json", "asyncapi.json"])
def test_the_published_documents_have_the_servers_version(document: str) -> None:
    assert json_in(f"openapi/{document}")["info"]["version"] == app.__version__


def test_the_npm_package_and_its_lock_file_have_the_servers_version() -> None:
    assert json_in("openapi/typescript/package.json")["version"] == app.__version__
    lock = json_in("openapi/typescript/package-lock.json")
    assert (lock["version"], lock["packages"][""]["version"]) == (app.__version__, app.__version__)


@pytest.mark.parametrize("distribution", ["tailrace", "tailrace-client", "tailrace-spark"])
def test_what_is_installed_here_has_the_version_of_the_sources(distribution: str) -> None:
    assert version(distribution) == app.__version__, "the version changed: make setup"


def test_the_changelog_begins_with_this_version_and_goes_back_in_time() -> None:
    headings = list(HEADING.finditer(CHANGELOG))
    assert len(headings) == len(re.findall(r"^## ", CHANGELOG, re.MULTILINE))
    assert headings[0]["version"] == app.__version__
    numbers = [tuple(map(int, SEMANTIC.fullmatch(each["version"]).groups())) for each in headings]  # type: ignore[union-attr]
    assert numbers == sorted(numbers, reverse=True)
    assert all(each["date"] != "unreleased" for each in headings[1:])


def test_the_changelog_has_sections_of_the_known_kinds() -> None:
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS
