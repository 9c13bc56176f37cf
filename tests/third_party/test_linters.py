"""The published documents pass the linters that users of OpenAPI and AsyncAPI run, without a warning.

The rules that are off, with the reason for each, are in the files of rules next to this file.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tests.support.seeds import some_each_day
from tests.support.typescript import node

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
PACKAGES: Final = ROOT / "build/third-party/node_modules"
SPECTRAL: Final = PACKAGES / "@stoplight/spectral-cli/dist/index.js"
REDOCLY: Final = PACKAGES / "@redocly/cli/bin/cli.js"
OPENAPI: Final = ("openapi.json", "openapi.sdk.json")
QUIET: Final = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
WITHIN_S: Final = 120


def ran(program: Path, *arguments: str) -> str:
    """Return the output of a linter, which must succeed."""
    assert program.exists(), "it is not installed: make build/third-party/.installed"
    done = subprocess.run(
        [node(), str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
        env=os.environ | QUIET,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize(
    ("document", "rules"),
    some_each_day(
        [*((name, "spectral.yaml") for name in OPENAPI), ("asyncapi.json", "spectral-asyncapi.yaml")], 3
    ),
)
def test_spectral_finds_nothing(document: str, rules: str) -> None:
    options = ("--ruleset", str(HERE / rules), "--fail-severity", "hint")
    ran(SPECTRAL, "lint", str(ROOT / "openapi" / document), *options)


@pytest.mark.parametrize("document", OPENAPI)
def test_redocly_finds_nothing(document: str) -> None:
    said = ran(REDOCLY, "lint", "--extends", "recommended", str(ROOT / "openapi" / document))
    assert "Your API description is valid." in said
    assert "You have" not in said, said


def test_the_parser_of_asyncapi_reads_the_document_with_all_its_operations() -> None:
    file = ROOT / "openapi/asyncapi.json"
    found, version, *operations = ran(
        HERE / "asyncapi.mjs", str(file), str(PACKAGES.parent / "package.json")
    ).splitlines()
    # AsyncAPI 3.1 changes nothing that the document uses, and fewer tools read it.
    assert found == "asyncapi-latest-version asyncapi"
    assert version == "valid 3.0.0"
    named = msgspec.json.decode(file.read_bytes())["operations"]
    assert operations == [f"{name} true" for name in named]
