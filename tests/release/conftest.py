"""The release that the tests of this folder examine: RELEASE_DIRECTORY, or one that is built for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.distributions import Release, make_release


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    made = os.environ.get("RELEASE_DIRECTORY")
    return Release(Path(made).absolute()) if made else make_release(tmp_path_factory.mktemp("release"))
