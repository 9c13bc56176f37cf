"""Finding streams and entries in the console: searches that can be stopped, and ranges chosen by keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from tests.support.console import Console

STREAMS: Final = 12_000
"""More than one request of the search examines."""
SEARCHED: Final = "999"
"""A text within some of the keys."""


def pipeline(console: Console, commands: Sequence[Sequence[str]]) -> None:
    assert console.http.post("/v1/command/pipeline", json=commands).status_code == 200


@pytest.fixture
def many_streams(console: Console) -> Iterator[set[str]]:
    """The keys that have the text, among thousands."""
    keys = [f"zz:{number:05}" for number in range(STREAMS)]
    for at in range(0, STREAMS, 6_000):
        pipeline(console, [["XADD", key, "1-0", "n", "1"] for key in keys[at : at + 6_000]])
    yield {key for key in keys if SEARCHED in key}
    pipeline(console, [["DEL", *keys[at : at + 500]] for at in range(0, STREAMS, 500)])


def shown_keys(console: Console) -> list[str]:
    keys: list[str] = console.page.evaluate(
        "[...document.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    )
    return keys


def test_a_search_finds_each_stream_once_in_the_order_of_the_keys(
    console: Console, many_streams: set[str]
) -> None:
    console.open(search=SEARCHED)
    console.until_text(f"{len(many_streams)} streams contain this text")
    assert shown_keys(console) == sorted(many_streams)


def test_a_search_is_stopped_and_continued(console: Console, many_streams: set[str]) -> None:
    console.open()
    console.until_text("New stream")
    hold(console, "SCAN")
    console.fill("Search for streams", SEARCHED)
    console.select("How to search", "search")
    console.press("Search")
    console.until_text("0 matches so far, about 0 % of the keys searched")
    console.press("Stop")
    console.until_text("of the keys searched, stopped")
    release(console)
    console.press("Continue")
    console.until_text(f"{len(many_streams)} streams contain this text")
    assert shown_keys(console) == sorted(many_streams)


def test_a_search_for_more_than_a_page_says_so(console: Console, many_streams: set[str]) -> None:
    assert many_streams
    console.open(search="zz:")
    console.until_text("The first 100 matches; there are more")
    assert len(shown_keys(console)) == 100


def test_a_filter_says_what_it_has_read_and_is_stopped_and_continued(console: Console) -> None:
    key = "finding:filter"
    console.append(key, [{"n": str(number % 2)} for number in range(40)])
    console.open("stream", key=key)
    console.until_text("40 entries shown")
    hold(console, "filter=")
    console.fill("Name of the field to filter by", "n")
    console.fill("Value of the field", "1")
    console.press("Filter")
    console.until_text("0 matches in 0 entries read")
    console.press("Stop")
    console.until_text("older entries were not searched yet")
    release(console)
    console.press("Search older entries")
    console.until_text("20 matches in 40 entries read, newest first; the whole range was searched")


def test_a_range_of_the_histogram_is_selected_with_the_keyboard(console: Console) -> None:
    key = "finding:histogram"
    for number in range(10):
        console.command("XADD", key, f"{1692632086000 + 1000 * number}-0", "n", str(number))
    console.open("stream", key=key)
    console.page.until("document.querySelector('.brushed')")
    press(console, "Home")
    press(console, "ArrowRight", shift=True)
    console.until_text("Press Enter to select", ".histogram")
    press(console, "Escape")
    console.until_text("use the arrow keys", ".histogram")
    press(console, "Home")
    for _ in range(30):
        press(console, "ArrowRight", shift=True)
    press(console, "Enter")
    console.page.until("new URLSearchParams(location.search).has('start')")
    console.until_text("4 entries shown")


def test_a_failed_head_request_is_shown_with_a_retry(console: Console) -> None:
    key = "finding:head"
    console.append(key, [{"n": "1"}])
    console.open()
    console.until_text("New stream")
    console.page.evaluate(
        "{ window.sent = fetch; window.fetch = (request, options) => request.method === 'HEAD'"
        " ? Promise.reject(new TypeError('the connection was cut')) : window.sent(request, options); }"
    )
    console.page.evaluate(
        f"{{ history.pushState(null, '', '/console/stream?key={key}');"
        " dispatchEvent(new Event('popstate')); }"
    )
    console.until_text("No connection to the server")
    console.page.evaluate("{ window.fetch = window.sent; }")
    console.press("Try again")
    console.page.until("!document.querySelector('.problem')")
    console.until_text("First entry")


def press(console: Console, key: str, *, shift: bool = False) -> None:
    """Press a key on the histogram, and wait until the page has drawn what it did."""
    console.page.evaluate(
        "new Promise((drawn) => { const plot = document.querySelector('.brushed'); plot.focus();"
        f" plot.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', shiftKey: {str(shift).lower()},"
        " bubbles: true, cancelable: true})); requestAnimationFrame(() => setTimeout(drawn)); })"
    )


def hold(console: Console, text: str) -> None:
    """Let the requests of the page that have a text wait until `release`, as on a slow network."""
    console.page.evaluate(
        "{ window.sent = fetch; window.held = new Promise((free) => { window.free = free; });"
        " window.fetch = async (request, options) => {"
        f" if (`${{request.url}} ${{await request.clone().text()}}`.includes('{text}'))"
        " await Promise.race([window.held, new Promise((_, cut) =>"
        " request.signal.addEventListener('abort', () => cut(request.signal.reason)))]);"
        " return window.sent(request, options); }; }"
    )


def release(console: Console) -> None:
    console.page.evaluate("{ window.free(); window.fetch = window.sent; }")
