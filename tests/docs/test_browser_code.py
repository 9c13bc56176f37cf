"""The scripts of the pages run in a real browser, in the console of the server's own `/docs`.

Each script reads entries and shows them; another tab's appends are a timer in the same page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.support.browser import Page, browsing
from tests.support.pages import fenced
from tests.support.server_process import running_server
from tests.support.tokens import ALL_SCOPES, make_token

LISTEN: Final = """
globalThis.said = [];
console.log = (...words) => said.push(JSON.stringify(words));
globalThis.show = ({fields}) => console.log(fields.rider);
globalThis.handle = async (fields) => console.log(fields.rider);
"""
"""What is shown is kept; `show` and `handle` are what the pages leave to their readers."""

APPEND: Final = """
setInterval(() => fetch("/v1/streams/%s/entries", {
  method: "POST",
  headers: {"Content-Type": "application/json"},
  body: JSON.stringify({fields: {rider: "Castilla"}}),
}), 50);
"""
CONSUMING: Final = fenced("docs/consuming.md", "javascript")
SCRIPTS: Final = {
    "start: events": ("race:france", fenced("docs/start.md", "js")[0]),
    "start: socket": ("race:france", fenced("docs/start.md", "js")[1]),
    "websocket": ("race:france", "".join(fenced("docs/websocket.md", "js"))),
    "consuming: loop": ("chores", f"{CONSUMING[0]} consume(handle);"),
    "consuming: tail": ("race:france", CONSUMING[1]),
    "consuming: behind a proxy": ("race:france", CONSUMING[2]),
    "consuming: as a consumer": ("chores", CONSUMING[0] + CONSUMING[3]),
}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder: Path = tmp_path_factory.mktemp("browser")
    with running_server(folder) as server:
        group = f"{server.base_url}/v1/streams/chores/groups/workers"
        httpx.put(group, json={"after": "0", "create_stream": True}).raise_for_status()
        with browsing(f"{server.base_url}/docs", folder / "profile") as opened:
            yield opened


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_of_a_page_shows_what_is_appended(name: str, page: Page) -> None:
    stream, script = SCRIPTS[name]
    page.load(page.evaluate("location.href"))
    page.evaluate(LISTEN)
    page.evaluate(f"(() => {{ {script} }})()")
    page.evaluate(APPEND % stream)
    assert "Castilla" in page.until("said[0]")


def test_the_script_with_a_ticket_opens_a_websocket(tmp_path: Path) -> None:
    (script,) = fenced("docs/security.md", "js")
    tokens = tmp_path / "tokens.json"
    headers = f"const headers = {{Authorization: 'Bearer {make_token(tokens, *ALL_SCOPES)}'}};"
    listen = "socket.onmessage = ({data}) => console.log(data);"
    with (
        running_server(tmp_path, "--tokens-file", str(tokens)) as server,
        browsing(f"{server.base_url}/docs", tmp_path / "profile") as page,
    ):
        page.evaluate(LISTEN)
        page.evaluate(f"(async () => {{ {headers} {script} {listen} }})()")
        assert "hello" in page.until("said[0]")
