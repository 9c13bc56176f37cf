"""The console of an empty server: three steps, and a button that takes them."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import browsing
from tests.support.console import Console
from tests.support.server_process import running_server


def test_an_empty_server_greets_and_the_race_example_is_one_press_away(tmp_path: Path) -> None:
    with (
        running_server(tmp_path) as server,
        browsing("about:blank", tmp_path / "profile") as page,
    ):
        console = Console(page, server.base_url)
        console.open()
        console.until_text("This server has no streams yet")
        assert page.evaluate("document.querySelectorAll('ol li').length") == 3
        for scheme in ("light", "dark"):
            page.emulate_scheme(scheme)
            assert console.violations() == []
        console.press("Append the race example")
        console.until_text("12 entries shown")
        assert page.complaints == []
        assert console.command("XLEN", "race:france") == 12
        assert len(console.command("XINFO", "GROUPS", "race:france")) == 1
