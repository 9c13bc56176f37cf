"""Each view of the console: it loads without a complaint of the browser, and shows its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from tests.support.console import Console

KEY: Final = "views:race"
GROUP: Final = "judges"

VIEWS: Final[dict[str, tuple[str, str]]] = {
    "": (f"prefix={KEY}", KEY),
    "stream": (f"key={KEY}", "Castilla"),
    "entry": (f"key={KEY}&id=1692632086370-0", "alice"),
    "groups": (f"key={KEY}", "Behind the newest entry"),
    "pending": (f"key={KEY}", "alice"),
    "produce": (f"key={KEY}", "Add a field"),
    "consume": (f"key={KEY}", "Start both consumers"),
    "manage": (f"key={KEY}", "Deletes the stream"),
    "command": ("", "Tab completes"),
    "server": ("", "Commits behind"),
    "access": ("", "requires no token"),
}
"""The views, with the parameters of their URLs and a text that shows that they have loaded."""
EVERY_VIEW: Final = pytest.mark.parametrize("view", VIEWS)


@pytest.fixture(autouse=True)
def race(shared_console: Console) -> None:
    if shared_console.command("EXISTS", KEY) == 0:
        for number, rider in enumerate(["Castilla", "Norem", "Prickett"]):
            shared_console.command("XADD", KEY, f"{1692632086370 + 1000 * number}-0", "rider", rider)
        shared_console.command("XGROUP", "CREATE", KEY, GROUP, "0")
        shared_console.command("XREADGROUP", "GROUP", GROUP, "alice", "COUNT", "2", "STREAMS", KEY, ">")


def show(console: Console, view: str) -> None:
    """Load a view, and wait until it shows its content."""
    query, text = VIEWS[view]
    console.open(view, **dict(pair.split("=") for pair in query.split("&") if pair))
    console.until_text(text)


@EVERY_VIEW
def test_a_view_loads_without_a_complaint_and_asks_no_other_server(console: Console, view: str) -> None:
    show(console, view)
    assert console.page.complaints == []
    origins = "performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)"
    assert set(console.page.evaluate(origins)) == {console.base_url}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@EVERY_VIEW
def test_axe_finds_no_serious_violation(console: Console, view: str, scheme: str) -> None:
    console.page.emulate_scheme(scheme)
    show(console, view)
    assert console.violations() == []


@EVERY_VIEW
def test_a_view_fits_a_phone(console: Console, view: str) -> None:
    console.page.resize(390, 844)
    show(console, view)
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("view", ["", "groups", "pending"])
def test_a_table_fits_a_phone_without_sideways_scrolling(console: Console, view: str) -> None:
    console.page.resize(390, 844)
    show(console, view)
    console.page.until("document.querySelector('.stacked tbody tr')")
    overhang = (
        "Math.max(...[...document.querySelectorAll('.scroll')].map((e) => e.scrollWidth - e.clientWidth))"
    )
    assert console.page.evaluate(overhang) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "groups", "pending"])
def test_axe_finds_no_serious_violation_on_a_phone(console: Console, view: str, scheme: str) -> None:
    console.page.resize(390, 844)
    console.page.emulate_scheme(scheme)
    show(console, view)
    assert console.violations() == []


@EVERY_VIEW
def test_the_document_of_a_view_has_a_strict_policy(console: Console, view: str) -> None:
    answer = console.http.get(f"/console/{view}" if view else "/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in policy
    assert not any("unsafe" in part or "http" in part for part in policy)
    assert "style=" not in answer.text
    assert "<script>" not in answer.text


def test_unknown_paths_keep_the_404_of_the_api(console: Console) -> None:
    for path in ("/console/nowhere", "/console/", "/nowhere", "/v1/nowhere", "/console/stream/below"):
        answer = console.http.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"].startswith("application/problem+json")


def test_a_file_that_the_browser_has_is_not_sent_again(console: Console) -> None:
    first = console.http.get("/console/static/console.js")
    again = console.http.get("/console/static/console.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_the_back_button_returns_to_the_last_view(console: Console) -> None:
    # Once only: a browser may ignore a step back that begins before the last one is complete.
    show(console, "")
    console.press(KEY)
    console.until_text("Follow live")
    console.page.evaluate("history.back()")
    console.until_text("New stream")


def test_the_back_button_returns_to_the_last_tab_of_a_stream(console: Console) -> None:
    show(console, "stream")
    console.press("Groups", ".tabs")
    console.until_text("Behind the newest entry")
    console.page.evaluate("history.back()")
    console.until_text("Follow live")


def test_a_stream_is_opened_with_the_keyboard_alone(console: Console) -> None:
    show(console, "")
    for _ in range(60):
        console.page.press("Tab")
        if console.page.evaluate("document.activeElement.textContent") == KEY:
            break
    console.page.press("Enter")
    console.until_text("Follow live")


def test_times_are_shown_in_utc_or_in_local_time_and_the_choice_is_kept(console: Console) -> None:
    show(console, "stream")
    assert "2023-08-21 15:34:46.370" in console.text()
    console.select("Times in", "local", "header")
    shown = console.page.evaluate(
        "new Date(1692632086370 - new Date(1692632086370).getTimezoneOffset() * 60000)"
        ".toISOString().slice(0, 19).replace('T', ' ')"
    )
    console.until_text(shown)
    show(console, "stream")
    assert console.page.evaluate("document.querySelector('header select').value") == "local"
    console.select("Times in", "utc", "header")


def test_the_streams_are_searched_by_prefix_and_by_a_text_within(console: Console) -> None:
    for number in range(60):
        console.command("XADD", f"search:{number:03}:item", "*", "n", str(number))
    show_rows: Callable[[], list[str]] = lambda: console.page.evaluate(  # noqa: E731
        "[...document.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    )
    console.open(prefix="search:")
    console.until_text("search:024:item")
    assert len(show_rows()) == 25
    console.press("Next page")
    console.until_text("search:049:item")
    assert show_rows()[0] == "search:025:item"
    console.open(search="59:it")
    console.until_text("1 stream contains this text")
    assert show_rows() == ["search:059:item"]
