"""@upstash/redis, the usual client for Redis over REST, works unchanged with a running server.

It sends headers of its own (a token, `Upstash-Encoding`, a sync token, telemetry), numbers and booleans as
JSON has them, and pipelines what is asked at once. What it makes of a reply is asserted here.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from tests.support.browser import browsing
from tests.support.server_process import running_server
from tests.support.site import serving_files
from tests.support.tokens import make_token
from tests.support.typescript import node

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / "build/third-party/package.json"
WITHIN_S = 60


def told(base_url: str, scenario: str) -> Any:
    """The client's results in a scenario of `upstash.mjs`."""
    assert INSTALLED.exists(), "it is not installed: make build/third-party/.installed"
    command = [node(), str(HERE / "upstash.mjs"), base_url, scenario, str(INSTALLED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def test_it_appends_and_reads(base_url: str) -> None:
    seen = told(base_url, "appends_and_reads")
    castilla = {"rider": "Castilla", "speed": 30.2, "wins": 3, "won": True, "note": "é"}
    assert (seen["first"], seen["second"], seen["nowhere"]) == ("1-1", "2-0", None)
    assert (seen["length"], seen["nothing"], seen["waited"]) == (2, None, None)
    assert seen["range"] == {"1-1": castilla, "2-0": {"rider": "Norem"}}
    assert seen["firstOfRange"] == {"1-1": castilla}
    assert list(seen["reversed"]) == ["2-0", "1-1"]
    assert seen["read"] == [["upstash:appends_and_reads", [["2-0", ["rider", "Norem"]]]]]
    assert (
        "ERR The ID specified in XADD is equal or smaller than the target stream top item" in seen["refused"]
    )


def test_it_reads_acknowledges_and_claims_as_a_group(base_url: str) -> None:
    seen = told(base_url, "reads_as_a_group")
    first, second = ["1-1", ["rider", "Castilla"]], ["2-1", ["rider", "Norem"]]
    assert (seen["created"], seen["consumer"], seen["nothing"]) == ("OK", 1, None)
    assert "BUSYGROUP Consumer Group name already exists" in seen["again"]
    assert seen["given"] == [["upstash:reads_as_a_group", [first, second]]]
    assert [[*row[:2], row[3]] for row in seen["pending"]] == [["1-1", "alice", 1], ["2-1", "alice", 1]]
    assert seen["claimed"] == [first]
    assert seen["scanned"] == ["2-1", [first], []]
    assert seen["justIds"] == ["0-0", ["1-1", "2-1"], []]
    assert (seen["acknowledged"], seen["acknowledgedAndDeleted"]) == (1, [1])
    assert seen["groups"][0][:2] == ["name", "judges"]
    assert [consumer[1] for consumer in seen["consumers"]] == ["alice", "bob", "carol"]
    assert (seen["moved"], seen["dropped"], seen["destroyed"]) == ("OK", 0, 1)
    assert "NOGROUP No such key 'upstash:reads_as_a_group' or consumer group 'judges'" in seen["refused"]


def test_it_trims_and_deletes(base_url: str) -> None:
    key = "upstash:trims_and_deletes"
    seen = told(base_url, "trims_and_deletes")
    assert (seen["deleted"], seen["deletedByPolicy"], seen["trimmed"]) == (1, [1, -1], 1)
    assert seen["left"] == {"4-0": {"lap": 4}, "5-0": {"lap": 5}}
    assert (seen["kind"], seen["keys"], seen["scanned"]) == ("stream", [key], [key])
    assert (seen["renamed"], seen["gone"], seen["removed"]) == ("OK", 0, 1)
    assert (seen["pong"], seen["echoed"]) == ("PONG", "grüezi")


def test_it_pipelines_and_transacts(base_url: str) -> None:
    seen = told(base_url, "pipelines")
    appended, refused, length = seen["outcomes"]
    assert (appended["result"], length["result"]) == ("1-1", 1)
    assert "ERR The ID specified in XADD is equal or smaller" in refused["error"]
    assert seen["transacted"] == ["2-1", {"1-1": {"rider": "Castilla"}, "2-1": {"rider": "Wood"}}, 2]
    assert "EXECABORT Transaction discarded because of previous errors." in seen["refused"]
    assert seen["together"] == [2, 2, "PONG"]


def test_with_the_bare_address_it_is_told_where_commands_are_sent(base_url: str) -> None:
    seen = told(base_url, "bare_base_url")
    assert list(seen) == ["command", "pipeline", "transaction", "together"]
    for message in seen.values():
        assert "does not accept Redis commands" in message
        assert f"send them to {base_url}/v1/command: that is the base URL" in message


def test_with_a_token_that_is_not_known_it_is_told_so(tmp_path: Path) -> None:
    tokens_file = tmp_path / "tokens.json"
    make_token(tokens_file, "read")
    with running_server(tmp_path, "--tokens-file", str(tokens_file)) as server:
        seen = told(server.base_url, "bare_base_url")
        assert "NOAUTH the token is unknown" in seen["pipeline"]
        assert f"send them to {server.base_url}/v1/command" in seen["command"]


IMPORTS = {
    "@upstash/redis": "/node_modules/@upstash/redis/nodejs.mjs",
    "uncrypto": "/node_modules/uncrypto/dist/crypto.web.mjs",
}

PAGE_SCRIPT = """
(async () => {
  const { Redis } = await import("@upstash/redis");
  const redis = new Redis({ url: "%s/v1/command", token: "unused", retry: false });
  const written = await redis.xadd("page:upstash", "1-1", { rider: "Castilla" });
  const [length, range] = await redis.pipeline().xlen("page:upstash").xrange("page:upstash", "-", "+").exec();
  return { written, length, range };
})()
"""


def test_with_its_defaults_it_works_in_a_page_of_an_allowed_origin(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "node_modules").symlink_to(INSTALLED.with_name("node_modules"))
    imports = json.dumps({"imports": IMPORTS})
    (folder / "index.html").write_text(f'<!doctype html><script type="importmap">{imports}</script>')
    with (
        serving_files(folder) as origin,
        running_server(tmp_path, "--allowed-origin", origin) as server,
        browsing(origin, tmp_path / "profile") as page,
    ):
        seen = page.evaluate(PAGE_SCRIPT % server.base_url)
    assert seen == {"written": "1-1", "length": 1, "range": {"1-1": {"rider": "Castilla"}}}
