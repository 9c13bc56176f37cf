"""The program of docs/rust.md compiles without a warning, and does what the page says.

crates.io is not needed: the Makefile fetches the crates as packages of Debian, whose sources are a registry
for cargo.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.pages import ROOT, fenced
from tests.support.server_process import running_server
from tests.third_party.test_openapi_generator import found

CRATES: Final = ROOT / "build/rust-crates"
SOURCES: Final = CRATES / "usr/share/cargo/registry"
WITHIN_S: Final = 600


def build(project: Path) -> Path:
    """Compile the project with cargo, and return the program."""
    if not (CRATES / ".installed").exists():
        missing = "the crates are not installed: make build/rust-crates/.installed"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    target = CRATES / "target"
    command = (
        *(found("cargo"), "build", "--quiet", "--offline"),
        *("--config", 'source.crates-io.replace-with="debian"'),
        *("--config", f'source.debian.directory="{SOURCES}"'),
    )
    ran = subprocess.run(
        command,
        cwd=project,
        env={
            **os.environ,
            "CARGO_HOME": str(CRATES / "home"),
            "CARGO_TARGET_DIR": str(target),
            "RUSTFLAGS": "--deny warnings",
        },
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return target / "debug/tour"


def test_the_program_of_the_rust_page_prints_what_the_page_says(tmp_path: Path) -> None:
    (manifest,), (source,) = fenced("docs/rust.md", "toml"), fenced("docs/rust.md", "rust")
    (output,) = fenced("docs/rust.md", "text")
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(manifest)
    (tmp_path / "src/main.rs").write_text(source)
    program = build(tmp_path)
    with running_server(tmp_path, "--durability", "none") as server:
        ran = subprocess.run(
            [str(program), server.base_url], capture_output=True, text=True, timeout=60, check=False
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == output.splitlines()


def test_the_list_of_crates_has_those_that_the_page_names() -> None:
    (manifest,) = fenced("docs/rust.md", "toml")
    named = re.findall(r"^(\w+) = ", manifest.partition("[dependencies]")[2], re.MULTILINE)
    listed = Path(__file__).with_name("crates.txt").read_text().split()
    assert named
    assert {name.replace("_", "-") for name in named} <= set(listed)
