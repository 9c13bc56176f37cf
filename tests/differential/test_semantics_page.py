"""The examples of `docs/semantics.md` on a real Redis 8.10.2: Redis replies as the page says."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.differential.redis_peer import alike, redis_peer
from tests.differential.versions import REDIS_8_10, Peer
from tests.support.pages import fenced
from tests.support.redis_blocks import OWN, check_block
from tests.support.semantics_page import OF_REDIS, PAGE, code_in, commands_of, rows

IN_8_10: Final = pytest.mark.parametrize("peer", [REDIS_8_10], indirect=True, ids=[REDIS_8_10.name])


@IN_8_10
@pytest.mark.parametrize("block", fenced(PAGE, "redis"))
def test_an_example_gets_the_replies_of_redis_8_10(peer: Peer, block: str) -> None:
    with redis_peer(peer.server) as redis:
        check_block(block, redis, alike)


@IN_8_10
@pytest.mark.parametrize("row", rows(OF_REDIS), ids=lambda row: row[2])
def test_a_line_of_the_table_of_errors_is_that_of_redis_8_10(peer: Peer, row: list[str]) -> None:
    with redis_peer(peer.server) as redis:
        replies = [redis.execute(OWN, words) for words in commands_of(row)]
    assert [str(replies[-1])] == code_in(row[0])


@IN_8_10
def test_the_arities_and_first_versions_of_the_page_are_those_of_redis_8_10(peer: Peer) -> None:
    for row in rows("## Commands"):
        name = code_in(row[0])[0].lower().replace(" ", "|")
        ((_, arity, *_),) = answer_to(peer, "COMMAND", "INFO", name)
        assert str(arity) == row[1], name
        _, described = answer_to(peer, "COMMAND", "DOCS", name)
        since = described[described.index(b"since") + 1].decode()
        assert since.split(".")[:2] == row[4].split(";")[0].split("."), name


def answer_to(peer: Peer, *words: str) -> Any:
    return peer.server.run(*words)
