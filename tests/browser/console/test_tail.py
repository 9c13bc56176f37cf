"""The live tail of the console: it shows new entries, loses nothing in a pause, and outlives the server."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

from tests.support.browser import browsing
from tests.support.console import Console
from tests.support.server_process import ServerProcess, running_server

BATCHES: Final = 30
ENTRIES_PER_BATCH: Final = 100


def follow(console: Console, key: str) -> None:
    console.open("stream", key=key, live="1")
    console.page.until("document.querySelector('.live[data-open=true]')")


def received(console: Console) -> int:
    return int(console.page.evaluate("document.querySelector('.live').dataset.received"))


def until_received(console: Console, count: int) -> None:
    console.page.until(f"document.querySelector('.live').dataset.received >= {count}")


def test_an_entry_that_is_appended_meanwhile_is_shown(console: Console) -> None:
    key = "tail:shown"
    console.append(key, [{"rider": "before"}])
    follow(console, key)
    [appended] = console.append(key, [{"rider": "Castilla"}])
    console.until_text(appended)
    assert "before" not in console.text("table")


def test_only_matching_entries_are_shown_if_there_is_a_filter(console: Console) -> None:
    key = "tail:filter"
    console.append(key, [{"rider": "first"}])
    console.open("stream", key=key, live="1", field="rider", value="Norem")
    console.page.until("document.querySelector('.live[data-open=true]')")
    console.append(key, [{"rider": "Castilla"}, {"rider": "Norem"}])
    until_received(console, 1)
    assert "Castilla" not in console.text("table")


def test_a_pause_loses_nothing_at_a_high_rate(console: Console) -> None:
    key = "tail:pause"
    console.append(key, [{"n": "first"}])
    follow(console, key)
    entries = [[{"n": str(batch)}] * ENTRIES_PER_BATCH for batch in range(BATCHES)]
    for batch in entries[:10]:
        console.append(key, batch)
    console.press("Pause")
    console.until_text("Paused")
    last = [console.append(key, batch)[-1] for batch in entries[10:]][-1]
    # At most the entry that was on its way when the reader paused: the rest stays on the server.
    before = received(console)
    assert before < BATCHES * ENTRIES_PER_BATCH
    console.press("Resume")
    console.until_text(last)
    assert received(console) == BATCHES * ENTRIES_PER_BATCH
    assert console.page.evaluate("document.querySelectorAll('tbody tr').length") == 200


def test_a_gap_of_trimmed_entries_is_reported(console: Console) -> None:
    key = "tail:gap"
    console.append(key, [{"n": "first"}])
    follow(console, key)
    console.press("Pause")
    for _ in range(40):
        console.append(key, [{"n": "x" * 20}] * ENTRIES_PER_BATCH)
    console.command("XTRIM", key, "MAXLEN", "10")
    console.press("Resume")
    console.until_text("were trimmed before they could be shown")
    [last] = console.append(key, [{"n": "last"}])
    console.until_text(last)


def restarted(server: ServerProcess, directory: Path) -> ServerProcess:
    """A server on the port and the data of another one, which has ended."""
    options = ("--port", str(server.port), "--data-dir", str(directory / "data"))
    return ServerProcess(options, directory / "restarted.log")


def test_the_tail_goes_on_after_a_restart_of_the_server(tmp_path: Path) -> None:
    with (
        running_server(tmp_path) as server,
        browsing("about:blank", tmp_path / "profile") as page,
    ):
        console = Console(page, server.base_url)
        console.append("race", [{"rider": "Castilla"}])
        follow(console, "race")
        [first] = console.append("race", [{"rider": "Norem"}])
        console.until_text(first)
        server.signal(signal.SIGTERM)
        server.wait()
        console.until_text("No connection to the server")
        console.until_text("Reconnecting", ".live")
        again = restarted(server, tmp_path)
        try:
            missed = console.append("race", [{"rider": "Prickett"}] * 5)
            console.until_text(missed[-1])
            until_received(console, 6)
            page.until("!document.querySelector('.problem')")
            assert received(console) == 6
            console.until_text("Live", ".live")
        finally:
            again.kill()


def test_a_consumer_in_the_page_goes_on_after_a_restart_of_the_server(tmp_path: Path) -> None:
    with (
        running_server(tmp_path) as server,
        browsing("about:blank", tmp_path / "profile") as page,
    ):
        console = Console(page, server.base_url)
        alice = "section[aria-label='Consumer alice']"
        console.append("race", [{"rider": "Castilla"}])
        console.command("XGROUP", "CREATE", "race", "judges", "0")
        console.open("consume", key="race")
        console.press("Start", alice)
        console.until_text("holds 1 entry", alice)
        server.signal(signal.SIGTERM)
        server.wait()
        again = restarted(server, tmp_path)
        try:
            [later] = console.append("race", [{"rider": "Norem"}])
            console.until_text(later, alice)
            console.press(f"Acknowledge {later}", alice)
            console.until_text("1 acknowledged", alice)
        finally:
            again.kill()


def test_the_overview_goes_on_after_a_restart_of_the_server(tmp_path: Path) -> None:
    with (
        running_server(tmp_path) as server,
        browsing("about:blank", tmp_path / "profile") as page,
    ):
        console = Console(page, server.base_url)
        console.append("race", [{"rider": "Castilla"}])
        console.open()
        console.until_text("race")
        server.signal(signal.SIGTERM)
        server.wait()
        console.until_text("No connection to the server")
        again = restarted(server, tmp_path)
        try:
            console.append("race:later", [{"rider": "Norem"}])
            console.until_text("race:later")
            page.until("!document.querySelector('.problem')")
        finally:
            again.kill()
