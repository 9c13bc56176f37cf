"""The Python program of `docs/websocket.md` runs on a fresh server and acknowledges the entries that it has
processed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import httpx

from tests.support.pages import fenced
from tests.support.python_blocks import run_program
from tests.support.server_process import running_server
from tests.support.waiting_readers import until

HANDLER: Final = """
def handle(entry):
    print(entry["fields"]["rider"])
    if entry["fields"]["rider"] == "Norem":
        raise SystemExit
"""
"""Ends the program in the midst of the second entry."""


def test_the_python_program_acknowledges_what_it_handled_and_gives_back_the_rest(tmp_path: Path) -> None:
    (program,) = fenced("docs/websocket.md", "python")
    with running_server(tmp_path) as server, httpx.Client(base_url=f"{server.base_url}/v1") as http:
        group = "/streams/race:france/groups/judges"
        http.put(group, json={"after": "0", "create_stream": True}).raise_for_status()
        riders = [{"fields": {"rider": rider}} for rider in ("Castilla", "Norem")]
        http.post("/streams/race:france/entries:batch", json={"entries": riders}).raise_for_status()
        printed = run_program(HANDLER + program.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"))
        assert printed == "Castilla\nNorem\n"
        # The program does not wait to hear of its last acknowledgment.
        until(lambda: http.get(group).json()["pending"] == 1)
