"""Tables of the pages: each is one block of lines, which a page shows as one table."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.pages import PAGES, text_of

SPLIT: Final = re.compile(r"^\|.*\n\n(\|.*)\n(?!\|[ :|-]+$)", re.MULTILINE)
"""A row, an empty line, and a row under which no line of dashes makes it the head of another table."""


@pytest.mark.parametrize("page", PAGES)
def test_no_empty_line_splits_a_table(page: str) -> None:
    assert SPLIT.findall(text_of(page)) == []
