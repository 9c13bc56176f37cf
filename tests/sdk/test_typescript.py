"""The TypeScript SDK: its own tests against a running server, its generated code, and its published files.

Each file of its tests runs under Node with a server of its own, which asks for tokens and which the tests may
have restarted. Without Node or the package's dependencies a test says so and is skipped; under CI that is a
failure.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from signal import SIGTERM
from typing import Any, Final

import msgspec
import pytest

from tailrace.app import __version__
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import ALL_SCOPES, make_token
from tests.support.typescript import PACKAGE, built, node, npm

pytestmark = pytest.mark.usefixtures("typescript_package")

TEST_FILES: Final = sorted(path.stem for path in PACKAGE.glob("test/*.test.ts"))
WITHIN_S: Final = 300


class Steward:
    """A server that can be stopped and started again at the same address, with the same data."""

    def __init__(self, stack: ExitStack, directory: Path) -> None:
        self._stack = stack
        self._directory = directory
        tokens = directory / "tokens.json"
        self._token = make_token(tokens, *ALL_SCOPES)
        self._reader_token = make_token(tokens, "read")
        self._options = ("--tokens-file", str(tokens))
        self.server: ServerProcess = stack.enter_context(running_server(directory, *self._options))

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the tests read."""
        return {
            "TAILRACE_URL": self.server.base_url,
            "TAILRACE_TOKEN": self._token,
            "TAILRACE_READER_TOKEN": self._reader_token,
        }

    def restart(self) -> None:
        self.server.signal(SIGTERM)
        assert self.server.wait() == 0, self.server.log_text
        options = (*self._options, "--port", str(self.server.port))
        self.server = self._stack.enter_context(running_server(self._directory, *options))


@contextmanager
def stewarded(directory: Path) -> Iterator[tuple[Steward, str]]:
    """A server and the address to which a POST restarts it."""
    with ExitStack() as stack:
        steward = Steward(stack, directory)

        class Order(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                steward.restart()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing: what fails, the tests say."""

        orders = ThreadingHTTPServer(("127.0.0.1", 0), Order)
        threading.Thread(target=orders.serve_forever, daemon=True).start()
        stack.callback(orders.shutdown)
        yield steward, f"http://127.0.0.1:{orders.server_port}"


@pytest.mark.parametrize("name", TEST_FILES)
def test_the_tests_of_the_sdk_hold_against_a_running_server(name: str, tmp_path: Path) -> None:
    package = built()
    with stewarded(tmp_path) as (steward, orders):
        result = subprocess.run(
            [node(), "--test", "--test-reporter=spec", "--test-timeout=60000", f"build/test/{name}.js"],
            cwd=package,
            env={**os.environ, **steward.environment, "STEWARD_URL": orders},
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "skipped 0" in result.stdout


def test_there_are_tests_of_every_way_to_the_server() -> None:
    assert TEST_FILES == [
        "consumer.test",
        "every-operation.test",
        "http.test",
        "tail.test",
        "tokens.test",
        "websocket.test",
    ]


def test_what_is_generated_is_generated_from_the_published_document(tmp_path: Path) -> None:
    anew = tmp_path / "generated"
    npm("run", "generate", environment={"TAILRACE_GENERATED": str(anew)})
    assert _texts(anew) == _texts(PACKAGE / "src/generated")


def test_what_is_written_by_hand_is_formatted() -> None:
    npm("run", "format:check")


def test_the_package_has_the_version_of_the_server() -> None:
    assert _json("package.json")["version"] == __version__
    assert _json("package-lock.json")["version"] == __version__


def test_the_lock_file_names_digests_and_no_addresses() -> None:
    packages = _json("package-lock.json")["packages"]
    wanted = {path: entry for path, entry in packages.items() if path}
    assert len(wanted) > 10
    assert all("integrity" in entry and "resolved" not in entry for entry in wanted.values())


def test_the_packed_package_is_installed_and_imported_elsewhere(tmp_path: Path) -> None:
    built()
    printed = npm("pack", "--json", "--pack-destination", str(tmp_path))
    [packed] = msgspec.json.decode(printed[printed.index("[") :])  # the bundle's size comes first
    names = {file["path"] for file in packed["files"]}
    assert {"dist/index.js", "dist/index.d.ts", "README.md", "LICENSE", "NOTICE"} <= names
    assert not any(name.startswith(("test/", "build/", "node_modules/")) for name in names)
    unpacked = tmp_path / "elsewhere/node_modules/tailrace-client"
    unpacked.mkdir(parents=True)
    archive = tmp_path / packed["filename"]
    subprocess.run(["tar", "-xf", archive, "-C", unpacked, "--strip-components=1"], check=True)  # noqa: S607
    script = "import('tailrace-client').then(({Tailrace}) => console.log(typeof Tailrace))"
    result = subprocess.run(
        [node(), "--eval", script], cwd=tmp_path / "elsewhere", capture_output=True, text=True, check=False
    )
    assert result.stdout == "function\n", result.stderr


def _json(name: str) -> Any:
    return msgspec.json.decode((PACKAGE / name).read_bytes())


def _texts(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): path.read_text() for path in directory.rglob("*") if path.is_file()
    }
