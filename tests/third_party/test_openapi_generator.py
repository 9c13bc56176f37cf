"""openapi-generator accepts the document for generators without a warning, and leaves nothing out.

`test_generated_clients` compiles its clients. The Java one needs Jackson and annotations, which PySpark has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

DOCUMENT = Path(__file__).parents[2] / "openapi/openapi.sdk.json"
GENERATOR = Path(sys.executable).with_name("openapi-generator-cli")
JARS = Path(pyspark.__file__).with_name("jars")
NEEDED = (
    "jackson-annotations",
    "jackson-core-2",
    "jackson-databind",
    "jackson-datatype-jsr310",
    "jakarta.annotation",
)
OPTIONS = "hideGenerationTimestamp=true,openApiNullable=false,useJakartaEe=true,containerDefaultToNull=true"
WITHIN_S = 300

HARMLESS = (
    "Failed to get the schema name: null",  # a body that is an array has no name, and needs none
    "Ignoring complex example on request body",  # the examples of arrays are not copied into the Javadoc
)


@pytest.fixture(scope="module")
def java_client(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the generated client, and the output of the generator."""
    target = tmp_path_factory.mktemp("java")
    options = ("--generator-name", "java", "--library", "native", "--additional-properties", OPTIONS)
    return target, generator("generate", *options, "--input-spec", str(DOCUMENT), "--output", str(target))


def test_the_document_is_valid_without_a_warning() -> None:
    said = generator("validate", "--recommend", "--input-spec", str(DOCUMENT))
    assert "No validation issues detected." in said
    assert "warning" not in said.lower()


def test_nothing_is_left_out_of_the_generated_client(java_client: tuple[Path, str]) -> None:
    target, said = java_client
    warnings = [line for line in said.splitlines() if "WARN" in line or "ERROR" in line]
    assert [line for line in warnings if not line.endswith(HARMLESS)] == []
    written = "".join(path.read_text() for path in target.rglob("api/*Api.java"))
    for operation in ("importEntries", "exportEntries", "xadd", "xreadgroup", "tail", "command"):
        assert f" {operation}(" in written


def generator(*arguments: str) -> str:
    """All that the generator said; it needs a `java`."""
    found("java")
    ran = run(str(GENERATOR), *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)


def found(program: str) -> str:
    path = shutil.which(program)
    if path is not None:
        return path
    told = f"there is no {program} on this machine: apt-get install openjdk-17-jdk-headless"
    if os.environ.get("CI") == "true":
        pytest.fail(told)
    pytest.skip(told)
