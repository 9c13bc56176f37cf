"""The Python program of `docs/consuming.md`, run against a fresh server, with a poison entry."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.server_process import running_server
from tests.support.waiting_readers import Server, until

PAGE = (Path(__file__).parents[2] / "docs" / "consuming.md").read_text()
ADDRESS_ON_PAGE = "localhost:8080"


@contextmanager
def worker(base_url: str, directory: Path) -> Iterator[Path]:
    """Run the program of the page, with its output in the given file."""
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    output = directory / "output"
    with output.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", program.replace(f"http://{ADDRESS_ON_PAGE}", base_url)],
            stdout=stream,
            stderr=stream,
        )
    try:
        yield output
    finally:
        process.kill()
        process.wait()


def test_the_program_of_the_page_works_off_what_it_can_and_gives_up_a_poison_entry(tmp_path: Path) -> None:
    with running_server(tmp_path) as process, Server(process.base_url) as api:
        with worker(process.base_url, tmp_path) as output:
            until(lambda: api.blocked() == 1)
            api.command("XADD", "chores", "1-0", "task", "paint")
            api.command("XADD", "chores", "2-0", "tool", "glue")
            api.command("XADD", "chores", "3-0", "task", "saw")
            until(lambda: api.command("XLEN", "chores:dead") == 1)
            until(lambda: api.command("XPENDING", "chores", "workers")[0] == 0)
            printed = output.read_text()
        assert printed.startswith("paint\n")
        assert "saw\n" in printed
        assert printed.count("left pending: 2-0") == 3
        ((_, words),) = api.command("XRANGE", "chores:dead", "-", "+")
        assert words == ["id", "2-0", "tool", "glue"]
