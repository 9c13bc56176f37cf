"""The help for every problem code is complete, is served at the path in `type`, and is on the page
docs/errors.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tailrace.api.http.pages import content_security_policy
from tailrace.api.problems.help import HELP, code_of_slug
from tailrace.api.problems.help.pages import errors_markdown, problem_html
from tailrace.api.problems.table import KINDS, ProblemCode, problem
from tests.support.api_client import ApiClient, assert_problem
from tests.support.server_process import tailrace

ERRORS = Path(__file__).parents[2] / "docs/errors.md"

each_code = pytest.mark.parametrize("code", list(KINDS), ids=str)


@pytest.fixture(scope="module")
def api() -> ApiClient:
    return ApiClient()


def test_every_code_has_its_help() -> None:
    assert set(HELP) == set(KINDS)


@each_code
def test_help_is_made_of_whole_sentences_and_a_request(code: ProblemCode) -> None:
    for text in (HELP[code].happened, HELP[code].cause, HELP[code].remedy):
        assert text[0].isupper() or text[0] == "`"
        assert text.endswith(".")
        assert text.count("`") % 2 == 0
    assert re.match(r"(GET|PUT|POST|DELETE) /", HELP[code].request)


@each_code
def test_the_type_of_a_problem_is_the_address_of_its_page(api: ApiClient, code: ProblemCode) -> None:
    page = api.get(problem(code, "", None)["type"])
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.text == problem_html(code)
    assert f"<code>{code}</code>" in page.text


@each_code
def test_a_page_runs_nothing_and_fetches_nothing(code: ProblemCode) -> None:
    html = problem_html(code)
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!/docs"|data:,")', html)
    policy = content_security_policy(html)
    assert "script-src 'none'" in policy
    assert re.search(r"style-src 'sha256-[^']+'", policy)


@each_code
def test_the_request_that_works_is_accepted(code: ProblemCode) -> None:
    head, _, body = HELP[code].request.partition("\n\n")
    (method, target), *lines = (line.split(" ", 1) for line in head.split("\n"))
    if "/tail" in target or ":tail" in target or target == "/v1/ws":
        return  # a tail would not end, and a handshake needs a connection of its own
    headers = {"Content-Type": "application/json"} | {
        name.removesuffix(":"): value for name, value in lines if name not in {"Origin:", "Host:"}
    }
    answer = ApiClient.with_race().request(method, target, content=body.encode(), headers=headers)
    assert answer.is_success, answer.text


def test_the_code_itself_leads_to_its_page_too(api: ApiClient) -> None:
    pages = {api.get(f"/problems/{code}").text for code in ("ID_NOT_GREATER", "id-not-greater")}
    assert len(pages) == 1


@pytest.mark.parametrize("unknown", ["nothing", "id-not-greater2", "%FF", "id_not%2Fgreater", "x" * 600])
def test_an_unknown_code_has_no_page(api: ApiClient, unknown: str) -> None:
    assert code_of_slug(unknown) is None
    assert_problem(api.get(f"/problems/{unknown}"), 404, "NOT_FOUND")


def test_the_page_of_the_docs_is_what_the_program_prints() -> None:
    assert ERRORS.read_text() == errors_markdown(), "docs/errors.md is out of date: make documents"
    assert tailrace("openapi", "--errors").stdout == errors_markdown()


def test_the_page_of_the_docs_has_every_code() -> None:
    assert re.findall(r"^## (\S+)$", errors_markdown(), re.MULTILINE) == [str(code) for code in KINDS]
