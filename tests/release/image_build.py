"""Builds the image of the server with buildah, on a base image made from Debian's packages.

The base image has the name that the Dockerfile names, and is made by debootstrap with python3, so no registry
of images is needed. The build uses pip's configuration of this machine. It needs root, and Debian's packages
buildah and debootstrap.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.support.dockerfile import ROOT, instructions_of

PLACE: Final = ROOT / "build" / "image-test"
IMAGE: Final = "tailrace:test"
WITHIN_S: Final = 120
BUILT_WITHIN_S: Final = 3600
CERTIFICATES: Final = Path("/etc/ssl/certs")
NETWORK_SETTINGS: Final = frozenset({"trusted-host", "proxy", "cert", "timeout"})
"""Settings of pip that say how to reach the index, besides those that end with `-url`."""
PACKAGES: Final = "python3,python3-venv,python3-pip,ca-certificates"
BASE_PATH: Final = "PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
STORAGE: Final = (
    *("--storage-driver", "vfs"),
    *("--root", str(PLACE / "storage"), "--runroot", str(PLACE / "run")),
)


def said(step: str) -> None:
    print(step, flush=True)  # noqa: T201 - what the command prints


def buildah(*words: str | Path, within_s: float = WITHIN_S) -> str:
    """Run one command of buildah, which must succeed, and return its output."""
    command = ["buildah", *STORAGE, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=within_s, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


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
        f"{name} = {value}"
        for name, value in values
        if (name in NETWORK_SETTINGS or name.endswith("-url")) and "file:" not in value
    ]
    return "\n".join(["[global]", *kept, ""])


def base_of_the_dockerfile() -> str:
    """Return the name of the base image."""
    (base,) = {each.plain.split()[0] for each in instructions_of(ROOT / "Dockerfile") if each.word == "FROM"}
    return base
