"""The console as it is committed: built from its sources, formatted, typed and small."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tailrace.app.console.pages import VIEWS
from tests.support.console import ROOT

CONSOLE: Final = ROOT / "app/console"
STATIC: Final = CONSOLE / "static"
COMPRESSED_BYTES_MAX: Final = 80_000


def run(*command: str) -> None:
    path = f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=CONSOLE,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_built_files_are_those_of_the_sources(tmp_path: Path) -> None:
    run("node", "build.mjs", str(tmp_path))
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built.keys() == {path.name for path in STATIC.iterdir()}
    differing = [name for name, content in built.items() if content != (STATIC / name).read_bytes()]
    assert differing == [], "run `make console` and commit app/console/static"


def test_the_files_of_a_page_are_small() -> None:
    size = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir())
    assert size < COMPRESSED_BYTES_MAX


@pytest.mark.parametrize("script", ["types", "format:check"])
def test_the_sources_pass(script: str) -> None:
    run("npm", "run", "--silent", script)


def test_the_lock_has_no_download_address() -> None:
    packages = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    assert len(packages) > 5
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_the_server_serves_the_views_that_the_router_knows() -> None:
    router = (CONSOLE / "src/router.ts").read_text()
    assert [view for view in VIEWS if f'"{view}"' not in router] == []


def test_no_source_writes_markup_or_runs_text() -> None:
    forbidden = ("dangerouslySetInnerHTML", "innerHTML", "eval(", "new Function")
    for path in (CONSOLE / "src").rglob("*.ts*"):
        assert [word for word in forbidden if word in path.read_text()] == [], path
