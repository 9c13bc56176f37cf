"""Claims of a gateway: every option reaches the engine, and counts are shown as clients chose them."""

from __future__ import annotations

from typing import Final

import pytest

from tailrace.app.remote.functions import pending
from tailrace.app.remote.functions.pending import stored_deliveries
from tailrace.app.remote.link.port import Resp
from tailrace.app.remote.replies.shapes import entries_of
from tailrace.app.remote.words import pending as in_words
from tailrace.core.commands import Claim, ClaimOptions
from tailrace.core.deliveries import DELIVERIES_MAX

ID: Final = 5 << 64
HIGHER: Final = (6 << 64) + 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ClaimOptions(3, (ID,)), ["3", "5-0"]),
        (ClaimOptions(3, (ID,), idle_ms=7), ["3", "5-0", "IDLE", "7"]),
        (ClaimOptions(3, (ID,), delivered_at_ms=8), ["3", "5-0", "TIME", "8"]),
        (ClaimOptions(3, (ID,), retry_count=0), ["3", "5-0", "RETRYCOUNT", "0"]),
        (ClaimOptions(3, (ID,), force=True), ["3", "5-0", "FORCE"]),
        (ClaimOptions(3, (ID,), just_id=True), ["3", "5-0", "JUSTID"]),
        (ClaimOptions(3, (ID,), last_id=HIGHER), ["3", "5-0", "LASTID", "6-1"]),
    ],
    ids=["none", "IDLE", "TIME", "RETRYCOUNT", "FORCE", "JUSTID", "LASTID"],
)
def test_each_option_of_a_claim_is_sent_to_the_engine_and_to_the_library(
    options: ClaimOptions, words: list[str]
) -> None:
    command = Claim(b"s", b"g", b"c", options)
    assert in_words.claim(command).commands == [[b"XCLAIM", b"s", b"g", b"c", *map(str.encode, words)]]
    idle, *rest = words
    assert pending.claim(command).arguments == [b"g", b"c", idle.encode(), b"1", *map(str.encode, rest)]


def test_a_count_near_the_greatest_is_read_as_the_client_chose_it() -> None:
    stored = [stored_deliveries(DELIVERIES_MAX - 1), 2]
    rows: list[Resp] = [[b"%d-0" % n, [b"a", b"1"], 40, count] for n, count in enumerate(stored, start=1)]
    assert entries_of(rows).deliveries == [DELIVERIES_MAX - 1, 2]
