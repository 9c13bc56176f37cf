"""The grammar has every stream command of Redis 8.10.2."""

from __future__ import annotations

from typing import Final

import pytest

from tests.differential.versions import REDIS_8_10, Peer
from tests.support.command_lines import KNOWN

LIST: Final = (b"COMMAND", b"LIST", b"FILTERBY", b"ACLCAT", b"stream")
CONTAINERS: Final = {"xgroup", "xinfo"}
"""Commands that do nothing without a subcommand."""


@pytest.mark.parametrize("peer", [REDIS_8_10], indirect=True, ids=[REDIS_8_10.name])
def test_every_stream_command_of_redis_is_in_the_grammar(peer: Peer) -> None:
    (names,) = peer.server.run_all([LIST])
    assert isinstance(names, list)
    commands = {name.decode() for name in names if isinstance(name, bytes)}
    assert "xadd" in commands
    assert commands - CONTAINERS <= KNOWN
