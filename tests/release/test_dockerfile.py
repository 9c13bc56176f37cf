"""The images, tested without a container engine: a linter checks the Dockerfiles. The steps of the server's
Dockerfile run in a clean directory, and the result starts as in a container."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import trustme

from tailrace.app.settings import ENVIRONMENT_PREFIX, Settings
from tests.support.dockerfile import (
    ROOT,
    Image,
    build,
    copied_from_the_context,
    files_let_through,
    instructions_of,
    words_of,
)
from tests.support.server_process import ServerProcess, running_server

SERVER: Final = ROOT / "Dockerfile"
SPARK: Final = ROOT / "docker/spark.Dockerfile"
HEALTH_CHECK: Final = ROOT / "docker/healthcheck.py"
BOTH: Final = pytest.mark.parametrize("file", [SERVER, SPARK], ids=["server", "spark"])
CLOSED_PORT: Final = "1"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build(SERVER, tmp_path_factory.mktemp("image") / "root")


@BOTH
def test_the_linter_finds_nothing(file: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@BOTH
def test_the_build_context_lets_through_what_is_copied(file: Path) -> None:
    copies = list(copied_from_the_context(instructions_of(file)))
    assert copies
    for sources, _ in copies:
        for source in sources:
            assert files_let_through(source), source


@BOTH
def test_the_build_context_holds_no_caches_tests_or_data(file: Path) -> None:
    copied = {
        path.relative_to(ROOT).as_posix()
        for sources, _ in copied_from_the_context(instructions_of(file))
        for source in sources
        for path in files_let_through(source)
    }
    assert not [name for name in copied if "__pycache__" in name or name.startswith(("tests/", "data/"))]
    assert not files_let_through(".git")
    assert not files_let_through("tests")


@BOTH
def test_containers_run_as_the_same_unprivileged_user(file: Path) -> None:
    users = [each.plain for each in instructions_of(file) if each.word == "USER"]
    assert users == ["10001:10001"]


@BOTH
def test_every_base_image_is_the_same_and_has_a_version(file: Path) -> None:
    bases = {each.plain.partition(" AS ")[0] for each in instructions_of(file) if each.word == "FROM"}
    assert bases == {"python:3.11-slim-bookworm"}


def test_the_image_sets_only_what_the_server_knows() -> None:
    named = {
        word.partition("=")[0]
        for each in instructions_of(SERVER)
        if each.word == "ENV"
        for word in each.plain.split()
        if word.startswith(ENVIRONMENT_PREFIX)
    }
    assert named
    assert {name.removeprefix(ENVIRONMENT_PREFIX).lower() for name in named} <= Settings.model_fields.keys()


def test_the_published_port_is_the_one_that_is_served(image: Image) -> None:
    assert image.last("EXPOSE").plain == image.environment["TAILRACE_PORT"]


def test_what_the_image_starts_is_in_it(image: Image) -> None:
    started = words_of(image.last("ENTRYPOINT")) + words_of(image.last("CMD"))
    assert started == ["tailrace", "serve"]
    assert image.run("tailrace", "--version").returncode == 0
    assert Path(image.here(words_of(image.last("HEALTHCHECK"))[-1])).is_file()


def test_a_container_without_tokens_refuses_to_serve_and_says_how_to_make_one(
    image: Image, tmp_path: Path
) -> None:
    refused = image.run("tailrace", "serve", TAILRACE_DATA_DIR=str(tmp_path))
    assert refused.returncode == 2
    assert "tailrace token create" in " ".join(refused.stderr.replace("│", " ").split())


def test_a_container_with_a_token_serves_and_writes_nowhere_but_to_its_volume(image: Image) -> None:
    before = files_outside_the_volume(image)
    token = succeeded(image.run("tailrace", "token", "create", "ops", "--scope", "append"))
    loopback = {**image.environment, "TAILRACE_HOST": "127.0.0.1"}
    with running_server(image.root, environment=loopback, program=program(image)) as server:
        append = ("cli", "--url", server.base_url, "XADD", "race:france", "*", "rider", "Castilla")
        succeeded(image.run("tailrace", *append, TAILRACE_TOKEN=token.strip()))
        succeeded(image.run(*words_of(image.last("HEALTHCHECK")), TAILRACE_PORT=str(server.port)))
        succeeded(image.run("tailrace", "backup", "/data", "/data/backup-monday"))
    succeeded(image.run("tailrace", "check", "/data/backup-monday"))
    assert {path.name for path in (image.root / "data").iterdir()} >= {"tokens.json", "tailrace.db"}
    assert files_outside_the_volume(image) == before


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a command, which must succeed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(image: Image) -> Path:
    return image.root / "opt/tailrace/bin/tailrace"


def files_outside_the_volume(image: Image) -> set[Path]:
    return {path for folder in ("opt", "tmp") for path in (image.root / folder).rglob("*")}


def health(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", HEALTH_CHECK], env=environment, capture_output=True, text=True, check=False
    )


def test_the_health_check_passes_where_requests_are_taken(server: ServerProcess) -> None:
    checked = health(TAILRACE_PORT=str(server.port))
    assert (checked.returncode, checked.stdout) == (0, '200 {"status":"ready"}\n')


def test_the_health_check_speaks_tls_where_the_server_does(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("streams.example")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    certificate.private_key_pem.write_to_path(key)
    for part in certificate.cert_chain_pems:
        part.write_to_path(chain, append=True)
    with running_server(tmp_path, "--tls-cert", str(chain), "--tls-key", str(key)) as server:
        checked = health(TAILRACE_PORT=str(server.port), TAILRACE_TLS_CERT=str(chain))
    assert checked.returncode == 0, checked.stdout


def test_the_health_check_fails_in_one_line_where_nothing_answers() -> None:
    checked = health(TAILRACE_PORT=CLOSED_PORT)
    assert (checked.returncode, checked.stderr) == (1, "")
    assert checked.stdout.startswith("no answer: ConnectionRefusedError")
