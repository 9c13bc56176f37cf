"""Builds the image of the server with buildah, and runs it as an engine does. Run it with ``make
image-test``.

The base image has the name that the Dockerfile names, and is made from Debian's packages (debootstrap and
python3), so no registry of images is needed. Containers share the network of this machine; the server listens
on loopback. The build uses pip's configuration of this machine. It needs root, and Debian's packages buildah
and debootstrap.
"""

from __future__ import annotations

import json
import os
import re
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

from tests.support.dockerfile import ROOT, instructions_of

PLACE: Final = ROOT / "build" / "image-test"
IMAGE: Final = "tailrace:test"
USER_ID: Final = 10001
WITHIN_S: Final = 120
BUILT_WITHIN_S: Final = 3600
CERTIFICATES: Final = Path("/etc/ssl/certs")
NETWORK_SETTINGS: Final = frozenset(
    {"index-url", "extra-index-url", "trusted-host", "proxy", "cert", "timeout"}
)
"""Settings of pip that say how to reach the index."""
PACKAGES: Final = "python3,python3-venv,python3-pip,ca-certificates"
BASE_PATH: Final = "PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
_STORAGE: Final = (
    *("--storage-driver", "vfs"),
    *("--root", str(PLACE / "storage"), "--runroot", str(PLACE / "run")),
)


def said(step: str) -> None:
    print(step, flush=True)  # noqa: T201 - what the command prints


def free_port() -> int:
    """Return a port that no socket uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def buildah(*words: str | Path, within_s: float = WITHIN_S) -> str:
    """Run one command of buildah, which must succeed, and return its output."""
    command = ["buildah", *_STORAGE, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


# --- building ------------------------------------------------------------------------------------------


def make_base(name: str) -> None:
    """Make the base image `name` from Debian's packages, unless it exists."""
    if buildah("images", "--quiet", "--filter", f"reference={name}"):
        return
    said(f"making {name} from Debian's packages")
    release = name.rpartition("-")[2]
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        root, archive = Path(scratch) / "root", Path(scratch) / "root.tar"
        debootstrap = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", release, str(root)]
        subprocess.run(debootstrap, check=True, stdout=subprocess.DEVNULL, timeout=BUILT_WITHIN_S)
        tar = ["tar", "-C", str(root), "-cf", str(archive), "--exclude=./var/cache/apt", "."]
        subprocess.run(tar, check=True)
        container = buildah("from", "scratch")
        buildah("add", container, archive, "/", within_s=BUILT_WITHIN_S)
        buildah(
            "run",
            "--isolation",
            "chroot",
            container,
            "--",
            "ln",
            "-s",
            "/usr/bin/python3",
            "/usr/local/bin/python",
        )
        buildah("config", "--env", BASE_PATH, container)
        buildah("commit", "--rm", container, name, within_s=BUILT_WITHIN_S)


def build() -> None:
    """Build the Dockerfile. Files of this machine's pip are visible during the build only."""
    with tempfile.TemporaryDirectory(dir=PLACE) as scratch:
        configuration = Path(scratch) / "pip.conf"
        configuration.write_text(pip_configuration())
        volumes = [f"{configuration}:/etc/pip.conf:ro", f"{CERTIFICATES}:{CERTIFICATES}:ro"]
        options = [word for volume in volumes for word in ("--volume", volume)]
        words = ("--isolation", "chroot", "--format", "docker", "--pull-never", *options)
        buildah("bud", *words, "--build-arg", "VERSION=test", "--tag", IMAGE, ROOT, within_s=BUILT_WITHIN_S)


def pip_configuration() -> str:
    """Return the configuration of pip on this machine as a file, without settings that name its
    directories."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    values = re.findall(r"^global\.([\w-]+)='(.*)'$", listed, re.MULTILINE)
    kept = [
        f"{name} = {value}" for name, value in values if name in NETWORK_SETTINGS and "file:" not in value
    ]
    return "\n".join(["[global]", *kept, ""])


# --- running -------------------------------------------------------------------------------------------


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
        return ["buildah", *_STORAGE, "run", *self._options, self._id, "--", *words]

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
        with subprocess.Popen(self.command(*on_loopback), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert "is ready" in process.stdout.readline()
            server = deepest(process.pid)
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


def deepest(process_id: int) -> int:
    """Return the last descendant of a process: the program in the container."""
    children = Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()
    return deepest(int(children[0])) if children else process_id


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
        assert status["Uid"].split() == [str(USER_ID)] * 4
        assert int(status["CapEff"], 16) == 0
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
    (base,) = {each.plain.split()[0] for each in instructions_of(ROOT / "Dockerfile") if each.word == "FROM"}
    make_base(base)
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
