"""The package as a whole: it is generated from the published document, and imports nothing of the server."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tailrace_client
from tailrace_client.generated import models
from tailrace_client.generated.api import entries, streams

ROOT = Path(__file__).parents[3]
BLOCKING = ROOT / "openapi/python/tailrace_client/blocking"
GENERATED = ROOT / "openapi/python/tailrace_client/generated"
GENERATOR = ROOT / "build/sdk-generator"

IMPORTS = """
import sys
sys.modules["msgspec"] = None if "without-msgspec" in sys.argv else sys.modules.get("msgspec")
if sys.modules["msgspec"] is None and "without-msgspec" not in sys.argv:
    del sys.modules["msgspec"]
from tailrace_client import Consumer, json_lines
print(*sorted({name.partition(".")[0] for name in sys.modules}))
print(json_lines.encode_lines.__module__)
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


@pytest.mark.skipif(not GENERATOR.exists(), reason="`make test` installs the generator")
def test_the_blocking_modules_are_what_the_asynchronous_ones_become(tmp_path: Path) -> None:
    program = ROOT / "openapi/python/blocking_twin.py"
    subprocess.run([GENERATOR / "bin/python", program, tmp_path / "blocking"], check=True, timeout=60)
    names = python_files(BLOCKING)
    assert names == python_files(tmp_path / "blocking"), "run `make sdk-python`"
    _, changed, missing = filecmp.cmpfiles(BLOCKING, tmp_path / "blocking", names, shallow=False)
    assert (changed, missing) == ([], []), "run `make sdk-python`"


def test_the_results_are_what_the_document_says() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "openapi/python/replies_of_document.py", ROOT / "openapi/openapi.sdk.json"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert printed.stdout == (GENERATED.parent / "replies.py").read_bytes(), "run `make sdk-python`"


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


COST = """
import time
before = time.process_time()
import tailrace_client
print(time.process_time() - before)
import sys
print(*(name for name in sys.modules if name.startswith("tailrace_client.")))
tailrace_client.Tailrace
print(*(name for name in sys.modules if name.startswith("tailrace_client.generated.")))
"""


def test_the_import_of_the_package_loads_none_of_its_modules_and_a_client_no_model() -> None:
    cost, loaded, generated = subprocess.run(
        [sys.executable, "-c", COST], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split("\n", 2)
    assert loaded == "", cost
    assert not [name for name in generated.split() if ".models." in name or name.count(".") > 3]


def test_the_public_names_are_all_there_and_no_others() -> None:
    assert dir(tailrace_client) == sorted(tailrace_client.__all__)
    for name in tailrace_client.__all__:
        assert getattr(tailrace_client, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Stram'"):
        _ = tailrace_client.Stram


def test_every_generated_name_is_loaded_when_it_is_used() -> None:
    for package in (models, entries, streams):
        assert dir(package) == sorted(package.__all__)
        for name in package.__all__:
            assert getattr(package, name) is not None
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = package.nothing
