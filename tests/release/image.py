"""Builds the image of the server with buildah, and runs it as an engine does. Run it with ``make
image-test``.

Containers share the network of this machine; the server listens on loopback. `tests.release.image_build`
builds the image. It needs root.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from tests.release.image_build import (
    IMAGE,
    PLACE,
    STORAGE,
    WITHIN_S,
    base_of_the_dockerfile,
    build,
    buildah,
    make_base,
    said,
)

USER_ID: Final = 10001


def free_port() -> int:
    """Return a port that no socket uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Container:
    """A container of the image, with `data` as its volume. It runs what the image says, as the image's
    user."""

    def __init__(self, data: Path) -> None:
        self.port = free_port()
        self._id = buildah("from", "--pull-never", IMAGE)
        inspected: dict[str, Any] = json.loads(buildah("inspect", self._id))
        self.config = inspected["Docker"]["config"]
        self.root = Path(buildah("mount", self._id))
        self._options = [
            *("--isolation", "chroot", "--cap-drop", "ALL", "--user", self.config["User"]),
            *(
                "--volume",
                f"{data}:/data",
                "--env",
                f"TAILRACE_PORT={self.port}",
            ),
        ]

    def command(self, *words: str) -> list[str]:
        """Return the command that runs `words` in the container."""
        return ["buildah", *STORAGE, "run", *self._options, self._id, "--", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the container to its end."""
        return subprocess.run(
            self.command(*words), capture_output=True, text=True, timeout=WITHIN_S, check=False
        )

    def entry(self, *words: str) -> list[str]:
        """Return the image's entry point with `words`, or with its default command."""
        return [*self.config["Entrypoint"], *(words or self.config["Cmd"])]

    @contextmanager
    def serving(self) -> Iterator[int]:
        """Run the server; yield its process id. It is stopped by the signal that the image names."""
        on_loopback = ("env", "TAILRACE_HOST=127.0.0.1", *self.entry())
        with (
            (PLACE / "server.log").open("ab") as log,
            subprocess.Popen(
                self.command(*on_loopback), stdout=subprocess.PIPE, stderr=log, text=True
            ) as process,
        ):
            assert process.stdout is not None
            assert "is ready" in process.stdout.readline()
            server = server_of(process.pid)
            try:
                yield server
            finally:
                os.kill(server, signal.Signals[self.config["StopSignal"]])
            assert process.wait(WITHIN_S) == 0

    def files(self) -> set[str]:
        """Return the paths of all files of the image, outside the volume and places of the run."""
        places = ("data", "tmp", "proc", "sys", "dev", "run", "etc")
        return {
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.relative_to(self.root).parts[0] not in places
        }

    def close(self) -> None:
        """Remove the container."""
        buildah("umount", self._id)
        buildah("rm", self._id)


def server_of(process_id: int) -> int:
    """Return the server among the descendants of a process: the last program whose command is `serve`."""
    found = [each for each in leaves_of(process_id) if command_of(each)[-1:] == ["serve"]]
    assert len(found) == 1, [command_of(each) for each in leaves_of(process_id)]
    return found[0]


def leaves_of(process_id: int) -> Iterator[int]:
    """Yield the descendants of a process that have no children of their own."""
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    for child in children:
        yield from leaves_of(child)
    if not children:
        yield process_id


def command_of(process_id: int) -> list[str]:
    return Path(f"/proc/{process_id}/cmdline").read_bytes().decode().split("\0")[:-1]


def status_of(process_id: int) -> dict[str, str]:
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def check(container: Container) -> None:
    """Start and stop the server, and check what it must do."""
    refused = container.run(*container.entry())
    assert refused.returncode == 2, refused
    said("without a token the server refuses to start")
    created = container.run(
        *container.entry("token", "create", "ops", "--scope", "read", "--scope", "append")
    )
    assert created.returncode == 0, created
    client = httpx.Client(
        base_url=f"http://127.0.0.1:{container.port}",
        headers={"Authorization": f"Bearer {created.stdout.strip()}"},
    )
    before = container.files()
    with container.serving() as server:
        status = status_of(server)
        assert status["Uid"].split() == [str(USER_ID)] * 4, status
        assert int(status["CapEff"], 16) == 0, status
        said(f"it serves as user {USER_ID} without capabilities")
        healthy = container.run(*container.config["Healthcheck"]["Test"][1:])
        assert healthy.returncode == 0, healthy
        said(f"its health check passes: {healthy.stdout.strip()}")
        appended = client.post("/v1/streams/race:france/entries", json={"fields": {"rider": "Castilla"}})
        assert appended.is_success, appended.text
    assert container.run(*container.config["Healthcheck"]["Test"][1:]).returncode == 1
    said("it stops by the image's signal with status 0, and the health check then fails")
    with container.serving():
        found = client.get("/v1/streams/race:france/entries").json()["entries"]
        assert [entry["id"] for entry in found] == [appended.json()["id"]]
    said("after a restart the entry is still there")
    assert container.files() == before
    said("it has written to its volume only")


def main(words: Sequence[str]) -> int:
    """Build the image and check it. With `--clean`, remove everything that earlier runs left."""
    if "--clean" in words:
        shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    make_base(base_of_the_dockerfile())
    began_s = time.monotonic()
    build()
    said(f"built {IMAGE} in {time.monotonic() - began_s:.0f} s")
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        data = Path(scratch) / "data"
        data.mkdir(mode=0o700)
        Path(scratch).chmod(0o711)
        os.chown(data, USER_ID, USER_ID)
        container = Container(data)
        try:
            check(container)
            size = sum(path.lstat().st_size for path in (container.root / "opt/tailrace").rglob("*"))
            said(f"the virtual environment has {size / 1e6:.0f} MB")
        finally:
            container.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
