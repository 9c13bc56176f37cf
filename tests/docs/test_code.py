"""The code on the pages: shell commands and Python programs run here. Every other block has a test
elsewhere.

All pages run on one server, one after another. `make test` also gives a third of the pages a server of their
own, others every day.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from tests.support.console_blocks import check_commands, steps_of
from tests.support.pages import PAGES, ROOT, fenced, languages_of, text_of
from tests.support.python_blocks import check_programs, run_program
from tests.support.seeds import FIRST_SEED, some_each_day
from tests.support.server_process import running_server

SHOWN: Final = {"text", "json", "mermaid", "nginx", "caddy", "bash"}
"""Not code to run: output, diagrams, settings of other servers, and the commands of `test_shown_commands`."""

RUN_IN: Final = {
    ("docs/start.md", "js"): "tests/docs/test_browser_code.py",
    ("docs/websocket.md", "js"): "tests/docs/test_browser_code.py",
    ("docs/security.md", "js"): "tests/docs/test_browser_code.py",
    ("docs/go.md", "go"): "tests/third_party/test_generated_clients.py",
    ("docs/rust.md", "rust"): "tests/third_party/test_rust_page.py",
    ("docs/rust.md", "toml"): "tests/third_party/test_rust_page.py",
    ("docs/java.md", "java"): "tests/third_party/test_java_http_client.py",
    ("docs/consuming.md", "javascript"): "tests/docs/test_browser_code.py",
    ("docs/consuming.md", "python"): "tests/contract/test_consuming_page.py",
    ("docs/websocket.md", "python"): "tests/docs/test_websocket_page.py",
    ("docs/from-redis.md", "python"): "tests/docs/test_from_redis.py",
    ("docs/semantics.md", "redis"): "tests/docs/test_semantics_page.py",
    ("docs/semantics.md", "tailrace"): "tests/docs/test_semantics_page.py",
    ("docs/spark.md", "duckdb"): "tests/spark/test_archive_readers.py",
    ("docs/spark.md", "sql"): "tests/spark/test_source_tables.py",
    ("docs/typescript.md", "ts"): "tests/sdk/test_typescript_page.py",
    ("docs/typescript.md", "html"): "tests/sdk/test_typescript_in_a_browser.py",
    ("docs/errors.md", "http"): "tests/unit/test_problem_pages.py",
    ("openapi/typescript/README.md", "ts"): "tests/sdk/test_typescript_page.py",
}
"""What needs more than a fresh server runs in a test of its own."""

ON_A_CLUSTER: Final = ("docs/spark.md", "spark_client/README.md")
"""Fragments of Spark jobs: they compile here, and what they import is there; `tests/spark` runs its like."""

ELSEWHERE: Final = {page for page, language in RUN_IN if language == "python"}.union(ON_A_CLUSTER)
PYTHON: Final = [page for page in PAGES if "python" in languages_of(page) and page not in ELSEWHERE]
SHELL: Final = [page for page in PAGES if "sh" in languages_of(page)]
STEPS_AT_LEAST: Final = 60


@pytest.mark.parametrize("page", some_each_day(SHELL, 3))
def test_every_command_of_a_page_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        check_commands(text_of(page), server.base_url)


PASTED: Final = [page for page in PAGES if page in {*SHELL, *PYTHON}]
SHUFFLED: Final = random.Random(FIRST_SEED).sample(PASTED, len(PASTED))


@pytest.mark.parametrize(
    "pages",
    [
        PASTED,
        pytest.param(PASTED[::-1], marks=pytest.mark.long),
        pytest.param(SHUFFLED, marks=pytest.mark.long),
    ],
    ids=["forward", "backward", f"shuffled-{FIRST_SEED}"],
)
def test_a_reader_can_paste_all_pages_one_after_another_into_one_server(
    pages: list[str], tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:
        for page in pages:
            check_commands(text_of(page), server.base_url)
            if page in PYTHON:
                check_programs(text_of(page), server.base_url, directory=tmp_path)


@pytest.mark.parametrize("page", some_each_day(PYTHON, 3))
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        check_programs(text_of(page), server.base_url, directory=tmp_path)


@pytest.mark.parametrize("page", ON_A_CLUSTER)
def test_the_fragments_of_spark_jobs_compile_and_import_what_is_there(page: str) -> None:
    blocks = fenced(page, "python")
    for block in blocks:
        compile(block, page, "exec")
    imports = [
        line for block in blocks for line in block.splitlines() if line.startswith(("from ", "import "))
    ]
    run_program("\n".join(imports))
    assert imports


def test_a_test_runs_every_code_block_of_the_pages() -> None:
    code = {(page, language) for page in PAGES for language in languages_of(page) - SHOWN}
    here = {(page, "sh") for page in SHELL}
    here |= {(page, "python") for page in (*PYTHON, *ON_A_CLUSTER)}
    assert code == here | set(RUN_IN)
    assert [test for test in RUN_IN.values() if not (ROOT / test).is_file()] == []


def test_the_commands_are_found() -> None:
    assert sum(len(list(steps_of(text_of(page)))) for page in SHELL) >= STEPS_AT_LEAST


def test_commands_can_be_pasted() -> None:
    blocks = [(page, block) for page in PAGES for block in (*fenced(page, "sh"), *fenced(page, "bash"))]
    lines = [(page, line) for page, block in blocks for line in block.splitlines()]
    assert [each for each in lines if each[1].startswith(("$ ", "> "))] == []
