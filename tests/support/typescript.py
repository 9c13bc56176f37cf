"""The TypeScript SDK as its developers use it: its folder, Node, npm, and the compiled package.

Owns how these are found and run, and that test processes take turns with them. `make test` installs them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[2] / "openapi/typescript"
WITHIN_S: Final = 300
PATH: Final = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
"""The search path for Node: `make test` installs Node next to Python if the machine has none."""


@contextmanager
def package_alone() -> Iterator[None]:
    """Keep the package's folder from other test processes, which would compile into the same files."""
    with (_with_dependencies() / "node_modules/.tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def node() -> str:
    return _program("node")


def npm(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of one npm command in the package."""
    result = subprocess.run(
        [_program("npm"), "--silent", *arguments],
        cwd=_with_dependencies(),
        env={**os.environ, "PATH": PATH, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@cache
def built() -> Path:
    """Return the folder of the package, compiled with its tests in strict mode, which also checks its
    types."""
    npm("run", "build:test")
    return PACKAGE


@cache
def bundled() -> str:
    """Bundle the package for browsers, and return the size that the command prints."""
    return npm("run", "bundle")


def _program(name: str) -> str:
    found = shutil.which(name, path=PATH)
    return found if found is not None else _missing(f"there is no {name} on this machine")


def _with_dependencies() -> Path:
    if not (PACKAGE / "node_modules").is_dir():
        _missing("the dependencies of the TypeScript SDK are not installed: make sdk-typescript")
    return PACKAGE


def _missing(what: str) -> str:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)
