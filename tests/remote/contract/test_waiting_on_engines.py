"""The tests of `tests/contract/test_waiting.py` against gateways."""

from itertools import count

import pytest

from tests.contract.test_waiting import *  # noqa: F403

_keys = count()


@pytest.fixture  # type: ignore[no-redef] # instead of the imported one
def key() -> str:
    """A key whose new name is in its slot: a test renames it."""
    return f"{{waiting:{next(_keys)}}}"
