"""The package as a whole: it is generated from the published document, and imports nothing of the server."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GENERATED = ROOT / "openapi/python/tailrace_client/generated"
GENERATOR = ROOT / "build/sdk-generator"

IMPORTS = """
import sys
sys.modules["msgspec"] = None if "without-msgspec" in sys.argv else sys.modules.get("msgspec")
if sys.modules["msgspec"] is None and "without-msgspec" not in sys.argv:
    del sys.modules["msgspec"]
import tailrace_client
print(*sorted({name.partition(".")[0] for name in sys.modules}))
print(tailrace_client.json_lines.encode_lines.__module__)
"""


def python_files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*.py"))


@pytest.mark.skipif(not GENERATOR.exists(), reason="`make test` installs the generator")
def test_the_generated_code_is_what_the_generator_makes_of_the_document(tmp_path: Path) -> None:
    subprocess.run(
        [ROOT / "openapi/python/generate", tmp_path / "generated"],
        env={**os.environ, "SDK_GENERATOR": str(GENERATOR)},
        check=True,
        capture_output=True,
        timeout=120,
    )
    names = python_files(GENERATED)
    assert names == python_files(tmp_path / "generated"), "run `make sdk-python`"
    _, changed, missing = filecmp.cmpfiles(GENERATED, tmp_path / "generated", names, shallow=False)
    assert (changed, missing) == ([], []), "run `make sdk-python`"


def imported(*arguments: str) -> tuple[set[str], str]:
    """The modules that importing the client brings, and the one that writes JSON."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    modules, codec = done.stdout.splitlines()
    return set(modules.split()), codec


def test_the_client_brings_nothing_of_the_server() -> None:
    modules, codec = imported()
    assert not modules & {
        "tailrace",
        "fastapi",
        "starlette",
        "pydantic",
        "uvicorn",
        "sortedcontainers",
    }
    assert codec == "tailrace_client.with_msgspec"


def test_the_client_works_without_msgspec() -> None:
    modules, codec = imported("without-msgspec")
    assert codec == "tailrace_client.without_msgspec"
    assert "tailrace_client" in modules


def test_the_package_is_typed() -> None:
    assert (GENERATED.parent / "py.typed").exists()
