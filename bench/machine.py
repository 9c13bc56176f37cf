"""The conditions of a run: the machine, the versions on both sides, the load at the start.

It only reads. A missing program is listed as missing; the bench that needs it fails later.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from bench.engine import REQUIREMENT as FAKEREDIS
from bench.rows import machine_load

PROGRAMS: Final = {
    "redis-server": ("redis-server", "--version"),
    "webdis": ("dpkg-query", "--show", "--showformat=${Version}", "webdis"),
    "wrk": ("wrk", "--version"),
}
PACKAGES: Final = ("uvicorn", "uvloop", "httptools", "msgspec", "websockets", "redis", "hiredis")
MISSING: Final = "missing"


def described() -> dict[str, str]:
    """Return each fact by its name, in the order in which they are printed."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory_gib():.0f} GiB",
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "load before": machine_load(),
        "Python": f"{platform.python_version()}, configured {configured(_config_arguments())}",
        **{name: _package(name) for name in PACKAGES},
        **{name: _program(*words) for name, words in PROGRAMS.items()},
        "fakeredis": FAKEREDIS.partition("==")[2],
    }


def configured(arguments: str) -> str:
    """Return the parts of a Python's configure arguments that affect its speed; distributions differ in
    them."""
    options = {"--enable-optimizations": "PGO", "--with-lto": "LTO"}
    return ", ".join(
        f"{'with' if option in arguments else 'without'} {name}" for option, name in options.items()
    )


def _config_arguments() -> str:
    return str(sysconfig.get_config_var("CONFIG_ARGS"))


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown")


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return MISSING


def _program(*words: str) -> str:
    """Return the first line of a program's version output."""
    if shutil.which(words[0]) is None:
        return MISSING
    # wrk prints its version with exit status 1.
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    return (result.stdout.splitlines() or [MISSING])[0]
