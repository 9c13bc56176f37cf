"""The programs of `docs/typescript.md` and of the package's README compile and run, with the documented
output."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.support.server_process import ServerProcess
from tests.support.typescript import PACKAGE, built, node, npm

pytestmark = pytest.mark.usefixtures("typescript_package")

PAGES: Final = {
    "docs": PACKAGE.parents[1] / "docs/typescript.md",
    "readme": PACKAGE / "README.md",
}
ADDRESS_ON_PAGE: Final = "http://127.0.0.1:8080"
WITHIN_S: Final = 60
_PROGRAM: Final = re.compile(r"^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_SETTINGS: Final = """\
{"extends": "../../tsconfig.test.json",
 "compilerOptions": {"rootDir": ".", "outDir": "."}, "include": ["*.ts"], "exclude": []}
"""


class Program(NamedTuple):
    """A program of a page, and what the page says that it prints, if it says so."""

    name: str
    source: str
    printed: str


def programs() -> list[Program]:
    return [
        Program(f"{page}-{number}", source, printed)
        for page, path in PAGES.items()
        for number, (source, printed) in enumerate(_PROGRAM.findall(path.read_text()), start=1)
    ]


@pytest.fixture(scope="module")
def compiled(base_url: str) -> Path:
    """The folder of all programs, compiled, with the address of the server under test."""
    folder = built() / "build/page"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "tsconfig.json").write_text(_SETTINGS)
    for program in programs():
        (folder / f"{program.name}.ts").write_text(program.source.replace(ADDRESS_ON_PAGE, base_url))
    npm("exec", "--", "tsc", "--project", "build/page")
    return folder


def test_the_pages_hold_programs() -> None:
    assert [program.name for program in programs()] == [*(f"docs-{n}" for n in range(1, 11)), "readme-1"]


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_program_of_the_page_prints_what_the_page_says(
    program: Program, compiled: Path, server: ServerProcess
) -> None:
    result = subprocess.run(
        [node(), f"{program.name}.js"],
        cwd=compiled,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert result.returncode == 0, f"{result.stderr}\n{server.log_text[-2000:]}"
    assert result.stdout == (program.printed or "paint\n")
