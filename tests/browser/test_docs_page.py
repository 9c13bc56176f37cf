"""The page at /docs in a real browser: it shows every operation, sends a request, and works without a
mouse."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.browser import Page, browsing
from tests.support.server_process import running_server

KEY = "docs:page"
GUIDES = "https://docs.example/tailrace/"


class Opened:
    """The page of a server of its own."""

    def __init__(self, page: Page, base_url: str) -> None:
        self.page = page
        self.base_url = base_url


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    directory = tmp_path_factory.mktemp("docs")
    with (
        running_server(directory, "--docs-url", GUIDES) as server,
        browsing(f"{server.base_url}/docs", directory / "profile") as page,
    ):
        page.until("document.querySelector('nav a')")
        yield Opened(page, server.base_url)


def goto(page: Page, operation: str) -> None:
    """Follow the link to an operation; its parts are drawn then."""
    page.evaluate(f"location.hash = '#{operation}'")
    page.until(f"document.querySelector('#{operation} .try')")


def field(operation: str, name: str) -> str:
    """A script that finds the field of a parameter."""
    labels = f"[...document.querySelectorAll('#{operation} label')]"
    return (
        f"{labels}.find((label) => label.textContent.startsWith('{name}')).querySelector('input, textarea')"
    )


def fill(page: Page, operation: str, name: str, value: str) -> None:
    page.evaluate(f"{field(operation, name)}.select()")
    page.write(value)
    assert page.evaluate(f"{field(operation, name)}.value") == value


def give_token(page: Page, token: str) -> None:
    field = "document.querySelector('#token')"
    page.evaluate(f"{field}.value = '{token}'; {field}.dispatchEvent(new Event('input'))")


def test_the_page_links_the_guides_that_the_operator_named(opened: Opened) -> None:
    link = "[...document.querySelectorAll('main a')].find((link) => link.textContent === 'Guides')"
    assert opened.page.evaluate(f"{link}.href") == GUIDES
    document = httpx.get(f"{opened.base_url}/openapi.json").json()
    assert document["externalDocs"] == {"url": GUIDES, "description": "Guides"}


def test_every_operation_is_shown_and_can_be_opened(opened: Opened) -> None:
    document = httpx.get(f"{opened.base_url}/openapi.json").json()
    names = [spec["operationId"] for methods in document["paths"].values() for spec in methods.values()]
    page = opened.page
    assert sorted(
        page.evaluate("[...document.querySelectorAll('.operation')].map((part) => part.id)")
    ) == sorted(names)
    for name in names:
        goto(page, name)
        assert page.evaluate(f"document.querySelector('#{name} h3') !== null")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    models = "[...document.querySelectorAll('#xadd .model > summary code')].map((name) => name.textContent)"
    assert "Trimming" in page.until(f"{models}.length && {models}")


def test_the_page_needs_nothing_that_its_policy_forbids_or_another_server_has(opened: Opened) -> None:
    asked = "performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)"
    assert set(opened.page.evaluate(asked)) <= {opened.base_url}
    assert opened.page.evaluate("getComputedStyle(document.querySelector('.frame')).display") == "grid"


def test_an_operation_is_tried_and_its_answer_shown(opened: Opened) -> None:
    page = opened.page
    goto(page, "xadd")
    fill(page, "xadd", "key", KEY)
    fill(page, "xadd", "Body", '{"fields": {"rider": "Castilla"}, "id": "1-1"}')
    page.evaluate("document.querySelector('#xadd .try button').click()")
    shown = page.until(
        "document.querySelector('#xadd [aria-label=Answer]').textContent.includes('1-1')"
        " && document.querySelector('#xadd [aria-label=Answer]').textContent"
    )
    assert shown.startswith("201 ")
    answer = httpx.get(f"{opened.base_url}/v1/streams/docs%3Apage/entries").json()
    assert answer["entries"] == [{"id": "1-1", "fields": {"rider": "Castilla"}}]


def test_events_are_shown_as_they_come_until_they_are_stopped(opened: Opened) -> None:
    page = opened.page
    goto(page, "tail")
    fill(page, "tail", "key", "docs:tail")
    page.evaluate("document.querySelector('#tail .try button').click()")
    output = "document.querySelector('#tail [aria-label=Answer]').textContent"
    page.until(f"{output}.includes('retry: 2000')")
    appended = httpx.post(
        f"{opened.base_url}/v1/streams/docs:tail/entries", json={"fields": {"rider": "Norem"}}
    )
    page.until(f"{output}.includes('{appended.json()['id']}')")
    page.evaluate("document.querySelectorAll('#tail .try button')[1].click()")
    page.until(f"{output}.endsWith('(stopped)')")


def test_the_curl_command_says_the_same_and_keeps_the_token_out(opened: Opened) -> None:
    page = opened.page
    give_token(page, "tlr_secret")
    goto(page, "xtrim")
    fill(page, "xtrim", "key", "it's")
    curl = page.evaluate("document.querySelector('#xtrim [aria-label*=curl]').textContent")
    quoted = "it'\\''s"
    assert curl.startswith(f"curl -X POST '{opened.base_url}/v1/streams/{quoted}/entries:trim'")
    assert '-H "Authorization: Bearer $TAILRACE_TOKEN"' in curl
    assert "tlr_secret" not in page.evaluate("document.documentElement.innerHTML")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    give_token(page, "")


def test_the_curl_command_is_selected_to_be_copied(opened: Opened) -> None:
    page = opened.page
    goto(page, "get_limits")
    page.evaluate("[...document.querySelectorAll('#get_limits .try button')].at(-1).click()")
    assert page.evaluate("getSelection().toString()") == f"curl '{opened.base_url}/v1/limits'"


def test_an_operation_is_opened_and_tried_with_the_keyboard_alone(opened: Opened) -> None:
    page = opened.page
    page.evaluate("document.querySelector('nav a[href=\"#healthz\"]').focus()")
    page.press("Enter")
    page.until("document.activeElement === document.querySelector('#healthz > summary')")
    # The form is made when the operation opens.
    page.until("[...document.querySelectorAll('#healthz button')].some(each => each.textContent === 'Send')")
    for _ in range(50):
        page.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Send":
            break
    assert page.evaluate("document.activeElement.textContent") == "Send"
    page.press("Enter")
    page.until("document.querySelector('#healthz [aria-label=Answer]').textContent.includes('ok')")


def test_the_list_of_operations_is_narrowed_by_what_is_typed(opened: Opened) -> None:
    page = opened.page
    page.evaluate("document.querySelector('#filter').focus()")
    page.write("claim")
    shown = "[...document.querySelectorAll('nav li')].filter((item) => item.offsetParent)"
    names = page.evaluate(f"{shown}.map((item) => item.innerText.split(/\\s/).pop())")
    assert names == ["xclaim", "xautoclaim"]


def test_the_page_follows_the_readers_choice_of_dark(opened: Opened) -> None:
    page = opened.page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_dark()
    assert page.evaluate(ground) != light
