"""The layout of the code: the map of packages in CONTRIBUTING.md, and the length of each file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.support import package_map
from tests.support.pages import ROOT

CODE: Final = (*package_map.FOLDERS, "openapi/python/tailrace_client", "bench", "docker")
PRINTED: Final = "openapi/python/tailrace_client/replies.py"
LINES_MAX: Final = 500


def test_the_map_names_each_package_in_the_words_of_its_docstring() -> None:
    page = package_map.PAGE.read_text()
    assert page == package_map.with_map(page), "run `python -m tests.support.package_map`"


def sources() -> Iterator[str]:
    """Each file of Python that is written by hand."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT)
            if "generated" not in name.parts and str(name) != PRINTED:
                yield str(name)


def test_a_file_that_is_written_by_hand_has_at_most_500_lines() -> None:
    long = {name for name in sources() if len((ROOT / name).read_text().splitlines()) > LINES_MAX}
    assert not long, "a file is one idea that a reader looks for: does each of these hold several?"
