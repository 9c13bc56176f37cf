"""The Go client and the Java client of openapi-generator are compiled, and use a running server."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.pages import fenced
from tests.support.server_process import running_server
from tests.third_party.golang import go
from tests.third_party.test_openapi_generator import (
    DOCUMENT,
    HARMLESS,
    JARS,
    NEEDED,
    OPTIONS,
    found,
    generator,
    run,
)

HERE = Path(__file__).parent
WITHIN_S = 60


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> object:
    with running_server(tmp_path_factory.mktemp("server"), "--durability", "none") as server:
        yield server.base_url


def printed(*command: str) -> list[str]:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.long
def test_the_program_of_the_go_page_prints_what_the_page_says(base_url: str, tmp_path: Path) -> None:
    (source,) = fenced("docs/go.md", "go")
    (output,) = fenced("docs/go.md", "text")
    (tmp_path / "main.go").write_text(source)
    go("vet", "main.go", directory=tmp_path)
    go("build", "-o", "tour", "main.go", directory=tmp_path)
    assert printed(str(tmp_path / "tour"), base_url) == output.splitlines()


def test_the_generated_go_client_appends_reads_and_acknowledges(base_url: str, tmp_path: Path) -> None:
    target = tmp_path / "client"
    module = ("--git-host", "example.com", "--git-user-id", "tailrace", "--git-repo-id", "client")
    options = "packageName=tailrace,enumClassPrefix=true,hideGenerationTimestamp=true"
    said = generator(
        *("generate", "--generator-name", "go", *module, "--additional-properties", options),
        *("--input-spec", str(DOCUMENT), "--output", str(target)),
    )
    warnings = [line for line in said.splitlines() if "WARN" in line or "ERROR" in line]
    assert [line for line in warnings if not line.endswith(HARMLESS)] == []
    (target / "tour").mkdir()
    shutil.copy(HERE / "Generated.go", target / "tour/main.go")
    go("build", "-o", str(tmp_path / "tour"), "./tour", directory=target)
    assert printed(str(tmp_path / "tour"), base_url) == [
        "true 200 true",
        "true Castilla 0",
        "1",
        "409 BUSYGROUP",
    ]


@pytest.mark.long
def test_the_generated_java_client_appends_reads_and_acknowledges(base_url: str, tmp_path: Path) -> None:
    target, classes = tmp_path / "client", tmp_path / "classes"
    generator(
        *("generate", "--generator-name", "java", "--library", "native", "--additional-properties", OPTIONS),
        *("--input-spec", str(DOCUMENT), "--output", str(target)),
    )
    sources = [*sorted(map(str, target.glob("src/main/java/**/*.java"))), str(HERE / "Generated.java")]
    jars = ":".join(str(jar) for name in NEEDED for jar in JARS.glob(f"{name}*.jar"))
    compiled = run(found("javac"), "-nowarn", "-proc:none", "-cp", jars, "-d", str(classes), *sources)
    assert compiled.returncode == 0, compiled.stderr
    assert printed(found("java"), "-cp", f"{classes}:{jars}", "Generated", base_url) == [
        "true Castilla 0",
        "1",
        "409 true",
    ]
