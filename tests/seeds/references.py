"""The transcripts of the two references of XREADGROUP, and of the article about CLAIM."""

from __future__ import annotations

from typing import Final

from tests.seeds.story import Step, entry

MESSAGE = entry("1-0", "myfield", "mydata")

DELETED_WHILE_PENDING: Final = (
    Step("XADD mystream 1 myfield mydata", "1-0"),
    Step("XGROUP CREATE mystream mygroup 0", "OK"),
    Step("XREADGROUP GROUP mygroup myconsumer STREAMS mystream >", [["mystream", [MESSAGE]]]),
    Step("XDEL mystream 1-0", 1),
    Step("XREADGROUP GROUP mygroup myconsumer STREAMS mystream 0", [["mystream", [["1-0", None]]]]),
)
"""Both references show it; the one for Dragonfly leaves the replies of XADD and XGROUP out."""

NOACK_IS_AN_ACK_ON_READING: Final = (
    *DELETED_WHILE_PENDING[:2],
    Step("XREADGROUP GROUP mygroup myconsumer NOACK STREAMS mystream >", [["mystream", [MESSAGE]]]),
    Step("XPENDING mystream mygroup", [0, None, None, None]),
    Step("XREADGROUP GROUP mygroup myconsumer STREAMS mystream 0", [["mystream", []]]),
)

FETCHING_AGAIN_COUNTS: Final = (
    *DELETED_WHILE_PENDING[:2],
    Step("XREADGROUP GROUP mygroup myconsumer STREAMS mystream >", [["mystream", [MESSAGE]]], 1_000),
    Step("XPENDING mystream mygroup - + 10", [["1-0", "myconsumer", 500, 1]], 1_500),
    # With an id, BLOCK, NOACK and CLAIM are ignored, and entries have two elements.
    Step(
        "XREADGROUP GROUP mygroup myconsumer BLOCK 2000 NOACK CLAIM 0 STREAMS mystream 0",
        [["mystream", [MESSAGE]]],
    ),
    Step("XPENDING mystream mygroup - + 10", [["1-0", "myconsumer", 0, 2]]),
)

WORKER_LOOP: Final = (
    Step("XGROUP CREATE mystream mygroup $ MKSTREAM", "OK"),
    Step("XREADGROUP GROUP mygroup myconsumer BLOCK 2000 COUNT 10 STREAMS mystream >", None),
    Step("XADD mystream 1 myfield mydata", "1-0"),
    Step(
        "XREADGROUP GROUP mygroup myconsumer BLOCK 2000 COUNT 10 STREAMS mystream >",
        [["mystream", [MESSAGE]]],
    ),
    Step("XACK mystream mygroup 1-0", 1),
    Step("XREADGROUP GROUP mygroup myconsumer BLOCK 2000 COUNT 10 STREAMS mystream >", None),
)

CLAIMED_AFTER_15_SECONDS: Final = (
    Step("XADD mystream 1609459200000-0 field1 value1", "1609459200000-0", 1_609_459_200_000),
    Step("XGROUP CREATE mystream mygroup 0", "OK"),
    *(
        Step(words, [["mystream", [entry("1609459200000-0", "field1", "value1")]]])
        for words in (
            "XREADGROUP GROUP mygroup crashed STREAMS mystream >",
            "XREADGROUP GROUP mygroup crashed STREAMS mystream 0",
            "XREADGROUP GROUP mygroup crashed STREAMS mystream 0",
        )
    ),
    # The article shows an entry idle for 15 s under a threshold of 30 s: that one is not claimed.
    Step("XREADGROUP GROUP mygroup consumer1 CLAIM 30000 STREAMS mystream >", None, 1_609_459_215_000),
    Step(
        "XREADGROUP GROUP mygroup consumer1 CLAIM 15000 STREAMS mystream >",
        [["mystream", [["1609459200000-0", ["field1", "value1"], 15000, 3]]]],
    ),
    # A fresh entry carries zeros.
    Step("XADD mystream 1609459200001-0 field1 value2", "1609459200001-0"),
    Step(
        "XREADGROUP GROUP mygroup consumer1 CLAIM 30000 STREAMS mystream >",
        [["mystream", [["1609459200001-0", ["field1", "value2"], 0, 0]]]],
    ),
    # Consumers with and without CLAIM mix: this one sees new entries only.
    Step("XREADGROUP GROUP mygroup plain STREAMS mystream >", None, 1_609_459_999_000),
    Step("XACK mystream mygroup 1609459200000-0 1609459200001-0", 2),
    Step("XREADGROUP GROUP mygroup consumer1 CLAIM 0 STREAMS mystream >", None),
)

LOOP_BEFORE_CLAIM: Final = (
    *CLAIMED_AFTER_15_SECONDS[:3],
    Step("XADD mystream 1609459200001-0 field1 value2", "1609459200001-0"),
    Step(
        "XPENDING mystream mygroup IDLE 30000 - + 100",
        [["1609459200000-0", "crashed", 30000, 1]],
        1_609_459_230_000,
    ),
    Step(
        "XCLAIM mystream mygroup consumer1 30000 1609459200000-0",
        [entry("1609459200000-0", "field1", "value1")],
    ),
    Step(
        "XREADGROUP GROUP mygroup consumer1 COUNT 100 BLOCK 5000 STREAMS mystream >",
        [["mystream", [entry("1609459200001-0", "field1", "value2")]]],
    ),
)

LOOP_WITH_CLAIM: Final = (
    *LOOP_BEFORE_CLAIM[:4],
    Step(
        "XREADGROUP GROUP mygroup consumer1 COUNT 100 BLOCK 5000 CLAIM 30000 STREAMS mystream >",
        [
            [
                "mystream",
                [
                    ["1609459200000-0", ["field1", "value1"], 30000, 1],
                    ["1609459200001-0", ["field1", "value2"], 0, 0],
                ],
            ]
        ],
        1_609_459_230_000,
    ),
)
