"""What commands print of replies: nothing in them controls the terminal, and no reply is a traceback."""

from __future__ import annotations

import io
import ssl
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import quote

import httpx
import msgspec
import pytest

from tailrace.app.cli import application
from tests.cli.shell import environment

HOSTILE: Final = "\x1b]0;title\x07\x9b31m\u202egnp\u2066\x7f\nforged\tcell\r"

COMMANDS: Final = (
    "append {key} a=1",
    "append {key} a=1 --json",
    "ls",
    "ls --json",
    "info {key}",
    "info {key} --json",
    "groups {key}",
    "groups {key} {group}",
    "groups {key} {group} --json",
    "consumers {key} {group}",
    "pending {key} {group}",
    "ack {key} {group} 1-0",
    "nack {key} {group} 1-0",
    "claim {key} {group} c 1-0",
    "extend {key} {group} c 1-0",
    "configure {key} {group} --unset filter",
    "redrive {dead}",
    "redrive {key} {group} 1-0",
    "retention {key}",
    "retention {key} --max-age 7d",
    "scheduled {key}",
    "scheduled {key} --cancel s1-1",
    "read {key}",
    "read {key} --json",
    "read {key} --last 2",
    "read {key} 1-0",
    "tail {key}",
    "tail {key} --json",
    "tail {key} --format {{id}}/{{rider}}/{{fields}}/{{key}}",
    "tail *",
    "tail {key} --group {group} --consumer c --ack",
    "top --once -i 0.1",
    "stats --once -i 0.1",
    "slowlog",
    "slowlog --json",
    "export {key}",
    "export {key} --format csv",
    "import {file} --stream {key}",
    "bench append -n 1 -c 1",
    "cli --no-raw XRANGE {key} - +",
    "cli --no-raw XINFO STREAM {key} FULL",
    "cli --json XRANGE {key} - +",
    "cli --no-raw INFO",
    "cli --no-raw NO SUCH",
    "cli --scan --no-raw",
    "cli --stat -r 2 -i 0.1",
    "trim {key} --max-length 100 --yes",
    "rm {key} 1-1",
    "rm {key} --yes",
)
"""A command of each kind, with every form that it prints."""


class Terminal(io.TextIOWrapper):
    """Standard output of a command that runs in this process. `is_terminal`: what it says that it is."""

    def __init__(self, path: Path, *, is_terminal: bool) -> None:
        super().__init__(path.open("wb"), encoding="utf-8", errors="strict", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Ran:
    """A command that has run: its exit status and what it printed."""

    def __init__(
        self,
        words: list[str],
        url: str,
        directory: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        is_terminal: bool,
    ) -> None:
        with monkeypatch.context() as patched:
            for name, value in environment(TAILRACE_URL=url, TERM="dumb", NO_COLOR="1").items():
                patched.setenv(name, value)
            paths = [directory / name for name in ("stdout", "stderr")]
            streams = [Terminal(path, is_terminal=is_terminal) for path in paths]
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            patched.setattr(sys, "stdin", io.StringIO())
            # Loading the certificates of authorities takes longer than a command.
            patched.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
            patched.chdir(directory)
            with pytest.raises(SystemExit) as ended:
                application(words, prog_name="tailrace")
            for stream in streams:
                stream.close()
        self.status = ended.value.code
        self.output, self.errors = (path.read_bytes().decode() for path in paths)

    def assert_visible(self, words: str) -> None:
        shown = (self.output + self.errors).replace("\r\n", "\n")
        odd = [each for each in shown if not (each.isprintable() or each in "\n\t")]
        assert not odd, f"{words}: {shown!r}"


def words_of(command: str, names: dict[str, str]) -> list[str]:
    return [word.format(**names) for word in command.split()]


@pytest.mark.parametrize("output", ["terminal", "pipe"])
def test_nothing_that_is_stored_controls_a_terminal(
    base_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    names = store_hostile_names(base_url, f"{HOSTILE}:{output}", tmp_path)
    for command in COMMANDS:
        ran = Ran(words_of(command, names), base_url, tmp_path, monkeypatch, is_terminal=output == "terminal")
        assert ran.status in {0, 1}, ran.errors
        ran.assert_visible(command)
        assert "\nforged" not in ran.output + ran.errors, command


def store_hostile_names(url: str, key: str, directory: Path) -> dict[str, str]:
    """Store `HOSTILE` wherever a client can; return the arguments of `COMMANDS`."""
    group, dead = f"g{HOSTILE}", f"dead{key}"
    file = directory / "rows.ndjson"
    file.write_bytes(msgspec.json.encode({"a": HOSTILE}) + b"\n")
    origin = {
        "_source_stream": key,
        "_source_id": "1-0",
        "_group": group,
        "_deliveries": "1",
        "_last_consumer": HOSTILE,
        "_reason": HOSTILE,
    }
    commands: list[list[str]] = [
        ["XADD", key, "1-0", HOSTILE, HOSTILE, "rider", HOSTILE],
        ["XADD", key, "1-1", "rider", "x"],
        ["XGROUP", "CREATE", key, group, "0"],
        ["XREADGROUP", "GROUP", group, HOSTILE, "COUNT", "1", "STREAMS", key, ">"],
        ["XADD", dead, "2-0", *chain.from_iterable(origin.items())],
    ]
    with httpx.Client(base_url=url) as client:
        for words in commands:
            client.post("/v1/command", json=words).raise_for_status()
        settings = {
            "filter": 'fields.rider == "x\u202ey"',
            "order_by": HOSTILE,
            "max_deliveries": 5,
            "dead_letter_stream": dead,
        }
        path = f"/v1/streams/{quote(key, safe='')}"
        client.post(f"{path}/groups/{quote(group, safe='')}:configure", json=settings).raise_for_status()
        body = {"fields": {HOSTILE: HOSTILE}, "delay_ms": 3_600_000}
        client.post(f"{path}/entries", json=body).raise_for_status()
    return {"key": key, "group": group, "dead": dead, "file": str(file)}


# --- a server that is none ---------------------------------------------------------------------------------


MEMBERS: Final = frozenset(
    [
        "id",
        "scheduled_id",
        "new_id",
        "key",
        "name",
        "length",
        "last_id",
        "first_id",
        "entries_added",
        "max_deleted_id",
        "groups",
        "blocks",
        "lag",
        "pending",
        "consumers",
        "consumer",
        "idle_ms",
        "inactive_ms",
        "deliveries",
        "claimable_at_ms",
        "trimmed",
        "deleted",
        "acknowledged",
        "nacked",
        "skipped",
        "deliver_at_ms",
        "engine_ms",
        "commit_ms",
        "other_ms",
        "operation",
        "at_ms",
        "command",
        "command_count",
        "filter",
        "order_by",
        "result",
        "incarnation",
        "scheduled",
        "lag_ms",
        "last_delivered_id",
        "fields",
        "ids",
        "extended",
        "lost",
    ]
)
LISTS: Final = frozenset(
    ["streams", "entries", "groups", "consumers", "pending", "redriven", "scheduled", "operations", "results"]
)


def shaped(leaf: Any) -> dict[str, Any]:
    """A reply with every member that a command reads, each with the value `leaf`."""
    members: dict[str, Any] = dict.fromkeys(MEMBERS, leaf)
    item = {**members, "commands": [members], "idempotency": members}
    ids = {name: [leaf] for name in ("ids", "extended", "lost")}
    return {**item, **{name: [item] for name in LISTS}, **ids, "next": None}


BODIES: Final = (
    b"<html>\x1b[31m</html>",
    *map(msgspec.json.encode, (5, [], {}, shaped(None), shaped(5), shaped(HOSTILE), shaped([{}]))),
)


class Fake(ThreadingHTTPServer):
    """Answers each request with `status` and `body`."""

    status = 200
    body = b""
    headers: Final[dict[str, str]] = {}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Fake

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST = do_DELETE = do_PUT = do_HEAD = _answer  # noqa: N815 - names of the library

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_reply_of_another_form_is_one_sentence(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.ndjson"
    file.write_text('{"a": "1"}\n')
    names = {"key": "k", "group": "g", "dead": "d", "file": str(file)}
    url = f"http://127.0.0.1:{fake.server_port}"
    problems = [(command, 400, BODIES[-2]) for command in COMMANDS[:3]]
    replies = [(command, 200, body) for command in COMMANDS if "--json" not in command for body in BODIES]
    for command, fake.status, fake.body in problems + replies:
        ran = Ran(words_of(command, names), url, tmp_path, monkeypatch, is_terminal=False)
        what = f"{command} {fake.body[:60]!r}: {ran.output}{ran.errors}"
        assert ran.status in {0, 1}, what
        ran.assert_visible(what)
        assert ran.errors.count("\n") <= 1, what
        assert ran.status == 0 or ran.errors.startswith("tailrace: ") or ran.output, what
