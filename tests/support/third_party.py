"""Data of the npm packages in build/third-party, such as the cases of a test suite."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.support.typescript import node

PACKAGES: Final = Path(__file__).parents[2] / "build/third-party/node_modules"
WITHIN_S: Final = 60


def package_file(path: str) -> Path:
    """Return a file of a package."""
    file = PACKAGES / path
    assert file.exists(), "it is not installed: make build/third-party/.installed"
    return file


def exports_of(path: str) -> Any:
    """Return what a JavaScript module of a package exports, which must be plain data."""
    address = json.dumps(package_file(path).as_uri())
    script = f"import * as all from {address}; process.stdout.write(JSON.stringify(all))"
    command = [node(), "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, timeout=WITHIN_S, check=False)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)
