"""A real browser's WebSocket: Debian's chromium, headless, on a page of the server itself.

The page's script posts what it saw back to the server. Without chromium the test says so and is skipped;
under CI that is a failure.
"""

from __future__ import annotations

import queue
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tests.support.browser import browsing
from tests.support.live_server import live_server

PAGE_PATH = "/browser-test"
WITHIN_S = 60

SCRIPT = """
const seen = [];
const socket = new WebSocket(`ws://${location.host}/v1/ws`, ["tailrace.v1.json"]);
const say = (request) => socket.send(JSON.stringify(request));
socket.onclose = ({code}) => {
  const body = JSON.stringify({protocol: socket.protocol, seen, code});
  fetch(location, {method: "POST", body});
};
socket.onmessage = ({data}) => {
  const message = JSON.parse(data);
  seen.push(message);
  if (message.hello) {
    say({id: 1, op: "subscribe", streams: [{key: "race:france", after: "0"}], credit: 10});
    const append = {id: 2, op: "append", key: "race:france", fields: {rider: "Castilla \\u00e9"}};
    say([append, {id: 3, op: "ping"}]);
  }
  if (seen.some((each) => Array.isArray(each)) && seen.some((each) => each.entries)) {
    socket.send("no document");
  }
};
"""


class Page:
    """The page that runs the script, and the data that it posted."""

    def __init__(self) -> None:
        self.posted: queue.Queue[bytes] = queue.Queue()

    async def __call__(self, request: Request) -> Response:
        if request.method == "POST":
            self.posted.put(await request.body())
            return Response(status_code=204)
        return HTMLResponse(f"<!doctype html><body></body><script>{SCRIPT}</script>")


def test_a_browser_subscribes_appends_and_is_told_why_it_is_closed(tmp_path: Path) -> None:
    page = Page()
    route = Route(PAGE_PATH, page.__call__, methods=["GET", "POST"])
    with live_server([route]) as server, browsing(f"{server.url}{PAGE_PATH}", tmp_path):
        seen = msgspec.json.decode(page.posted.get(timeout=WITHIN_S))
    assert seen["protocol"] == "tailrace.v1.json"
    assert seen["code"] == 1007
    [push] = [message for message in seen["seen"] if "entries" in message]
    assert (push["sub"], push["entries"][0]["fields"]) == (1, {"rider": "Castilla \u00e9"})
    [replies] = [message for message in seen["seen"] if isinstance(message, list)]
    assert [reply["id"] for reply in replies] == [2, 3]
