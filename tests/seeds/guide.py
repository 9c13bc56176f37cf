"""The transcripts of the streams guide, in order and with its ids: the clock is set to the times that they
show.

Where current servers answer differently from the guide, this file has the current answer and a comment why.
"""

from __future__ import annotations

from typing import Final

from tests.seeds.story import Step, entry, rider

# --- the race in France: appending, ranges, reading ----------------------------------------------------

CASTILLA = rider("1692632086370-0", "Castilla", "30.2", "1", "1")
NOREM = rider("1692632094485-0", "Norem", "28.8", "3", "1")
PRICKETT = rider("1692632102976-0", "Prickett", "29.7", "2", "1")
CASTILLA_AGAIN = rider("1692632147973-0", "Castilla", "29.9", "1", "2")

FRANCE: Final = (
    Step(
        "XADD race:france * rider Castilla speed 30.2 position 1 location_id 1",
        "1692632086370-0",
        1692632086370,
    ),
    Step(
        "XADD race:france * rider Norem speed 28.8 position 3 location_id 1", "1692632094485-0", 1692632094485
    ),
    Step(
        "XADD race:france * rider Prickett speed 29.7 position 2 location_id 1",
        "1692632102976-0",
        1692632102976,
    ),
    Step("XRANGE race:france 1692632086370-0 + COUNT 2", [CASTILLA, NOREM]),
    Step("XREAD COUNT 100 BLOCK 300 STREAMS race:france $", None),
    Step(
        "XADD race:france * rider Castilla speed 29.9 position 1 location_id 2",
        "1692632147973-0",
        1692632147973,
    ),
    Step("XLEN race:france", 4),
    Step("XRANGE race:france - +", [CASTILLA, NOREM, PRICKETT, CASTILLA_AGAIN]),
    Step("XRANGE race:france 1692632086369 1692632086371", [CASTILLA]),
    Step("XRANGE race:france - + COUNT 2", [CASTILLA, NOREM]),
    Step("XRANGE race:france (1692632094485-0 + COUNT 2", [PRICKETT, CASTILLA_AGAIN]),
    Step("XRANGE race:france (1692632147973-0 + COUNT 2", []),
    Step("XREVRANGE race:france + - COUNT 1", [CASTILLA_AGAIN]),
    Step("XREAD COUNT 2 STREAMS race:france 0", [["race:france", [CASTILLA, NOREM]]]),
    Step("XGROUP CREATE race:france france_riders $", "OK"),
)

USA: Final = (
    Step("XADD race:usa 0-1 racer Castilla", "0-1"),
    Step("XADD race:usa 0-2 racer Norem", "0-2"),
    Step(
        "XADD race:usa 0-1 racer Prickett",
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
    ),
    Step("XADD race:usa 0-* racer Prickett", "0-3"),
)

TWO_RACES: Final = (
    *FRANCE[:1],
    Step("XADD race:italy * rider Royce", "1692632647899-0", 1692632647899),
    Step(
        "XREAD STREAMS race:france race:italy 0 0",
        [["race:france", [CASTILLA]], ["race:italy", [entry("1692632647899-0", "rider", "Royce")]]],
    ),
)

# --- the race in Italy: a group, its pending entries, claims -------------------------------------------

CASTILLA_ITALY = entry("1692632639151-0", "rider", "Castilla")
ROYCE = entry("1692632647899-0", "rider", "Royce")
SAM_BODDEN = entry("1692632662819-0", "rider", "Sam-Bodden")
NOREM_ITALY = entry("1692632678249-0", "rider", "Norem")

BOB_READS_AT_MS: Final = 1692632690000
ROYCE_CLAIMED_AT_MS: Final = BOB_READS_AT_MS + 240_000
INSPECTED_AT_MS: Final = BOB_READS_AT_MS + 424_686

ITALY_GROUP: Final = (
    Step("XGROUP CREATE race:italy italy_riders $ MKSTREAM", "OK"),
    Step("XADD race:italy * rider Castilla", "1692632639151-0", 1692632639151),
    Step("XADD race:italy * rider Royce", "1692632647899-0", 1692632647899),
    Step("XADD race:italy * rider Sam-Bodden", "1692632662819-0", 1692632662819),
    Step("XADD race:italy * rider Prickett", "1692632670501-0", 1692632670501),
    Step("XADD race:italy * rider Norem", "1692632678249-0", 1692632678249),
    Step(
        "XREADGROUP GROUP italy_riders Alice COUNT 1 STREAMS race:italy >", [["race:italy", [CASTILLA_ITALY]]]
    ),
    Step("XREADGROUP GROUP italy_riders Alice STREAMS race:italy 0", [["race:italy", [CASTILLA_ITALY]]]),
    Step("XACK race:italy italy_riders 1692632639151-0", 1),
    Step("XREADGROUP GROUP italy_riders Alice STREAMS race:italy 0", [["race:italy", []]]),
    Step(
        "XREADGROUP GROUP italy_riders Bob COUNT 2 STREAMS race:italy >",
        [["race:italy", [ROYCE, SAM_BODDEN]]],
        BOB_READS_AT_MS,
    ),
)

ITALY_CLAIMS: Final = (
    Step("XPENDING race:italy italy_riders", [2, "1692632647899-0", "1692632662819-0", [["Bob", "2"]]]),
    Step(
        "XPENDING race:italy italy_riders - + 10",
        [["1692632647899-0", "Bob", 74642, 1], ["1692632662819-0", "Bob", 74642, 1]],
        BOB_READS_AT_MS + 74_642,
    ),
    Step("XRANGE race:italy 1692632647899-0 1692632647899-0", [ROYCE]),
    Step("XCLAIM race:italy italy_riders Alice 60000 1692632647899-0", [ROYCE], ROYCE_CLAIMED_AT_MS),
    # The second of two clients who try the same: the idle time was reset, so it gets nothing.
    Step("XCLAIM race:italy italy_riders Lora 60000 1692632647899-0", []),
    # Since 7.0 a third element names the pending entries whose message is gone.
    Step(
        "XAUTOCLAIM race:italy italy_riders Alice 60000 0-0 COUNT 1",
        ["0-0", [SAM_BODDEN], []],
        INSPECTED_AT_MS - 177_546,
    ),
    # The guide gives (1692632662819-0 as the start of the next call and Royce, a smaller id, as its result:
    # what starts there finds nothing, and what it shows is the answer to a scan from the beginning.
    Step("XAUTOCLAIM race:italy italy_riders Lora 60000 (1692632662819-0 COUNT 1", ["0-0", [], []]),
    Step(
        "XAUTOCLAIM race:italy italy_riders Lora 60000 0-0 COUNT 1",
        ["1692632662819-0", [ROYCE], []],
        INSPECTED_AT_MS - 72_241,
    ),
)

ITALY_INSPECTED: Final = (
    # The guide's servers are older: idempotency came with 8.6, ids and counters of the whole stream with 7.0.
    Step(
        "XINFO STREAM race:italy",
        {
            "length": 5,
            "radix-tree-keys": 1,
            "radix-tree-nodes": 2,
            "last-generated-id": "1692632678249-0",
            "max-deleted-entry-id": "0-0",
            "entries-added": 5,
            "recorded-first-entry-id": "1692632639151-0",
            "idmp-duration": 100,
            "idmp-maxsize": 100,
            "pids-tracked": 0,
            "iids-tracked": 0,
            "iids-added": 0,
            "iids-duplicates": 0,
            "groups": 1,
            "first-entry": CASTILLA_ITALY,
            "last-entry": NOREM_ITALY,
        },
        INSPECTED_AT_MS,
    ),
    # entries-read and lag came with 7.0.
    Step(
        "XINFO GROUPS race:italy",
        [
            {
                "name": "italy_riders",
                "consumers": 3,
                "pending": 2,
                "last-delivered-id": "1692632662819-0",
                "entries-read": 3,
                "lag": 2,
            }
        ],
    ),
    # inactive came with 7.2; Bob and Lora were active when they last came, Alice when she claimed.
    Step(
        "XINFO CONSUMERS race:italy italy_riders",
        [
            {"name": "Alice", "pending": 1, "idle": 177546, "inactive": 177546},
            {"name": "Bob", "pending": 0, "idle": 424686, "inactive": 424686},
            {"name": "Lora", "pending": 1, "idle": 72241, "inactive": 72241},
        ],
    ),
)

# --- capped streams, deleting, empty streams -----------------------------------------------------------

WOOD = entry("1692633198206-0", "rider", "Wood")
HENSHAW = entry("1692633208557-0", "rider", "Henshaw")

ITALY_CAPPED: Final = (
    Step("XADD race:italy MAXLEN 2 * rider Jones", "1692633189161-0", 1692633189161),
    Step("XADD race:italy MAXLEN 2 * rider Wood", "1692633198206-0", 1692633198206),
    Step("XADD race:italy MAXLEN 2 * rider Henshaw", "1692633208557-0", 1692633208557),
    Step("XLEN race:italy", 2),
    Step("XRANGE race:italy - +", [WOOD, HENSHAW]),
    Step("XTRIM race:italy MAXLEN 10", 0),
    Step("XTRIM mystream MAXLEN ~ 10", 0),
    Step("XRANGE race:italy - + COUNT 2", [WOOD, HENSHAW]),
    Step("XDEL race:italy 1692633208557-0", 1),
    Step("XRANGE race:italy - + COUNT 2", [WOOD]),
    # A stream stays when its last entry goes, and its groups with it.
    Step("XDEL race:italy 1692633198206-0", 1),
    Step("XLEN race:italy", 0),
    Step("EXISTS race:italy", 1),
    Step("XADD race:italy MAXLEN ~ 1000 * rider Jones", "1692633208557-1"),
    Step("XTRIM race:italy MINID 1692633208558", 1),
    Step("XADD race:italy MAXLEN 0 * rider Jones", "1692633208557-2"),
    Step("XLEN race:italy", 0),
)

ITALY: Final = (*ITALY_GROUP, *ITALY_CLAIMS, *ITALY_INSPECTED, *ITALY_CAPPED)

# --- seven messages for three consumers ----------------------------------------------------------------

SEVEN_MESSAGES: Final = (
    Step("XGROUP CREATE somekey mygroup $ MKSTREAM", "OK"),
    *(Step(f"XADD somekey {number} n {number}", f"{number}-0") for number in range(1, 8)),
    *(
        Step(
            f"XREADGROUP GROUP mygroup C{(number - 1) % 3 + 1} COUNT 1 STREAMS somekey >",
            [["somekey", [entry(f"{number}-0", "n", str(number))]]],
        )
        for number in range(1, 8)
    ),
    Step("XPENDING somekey mygroup", [7, "1-0", "7-0", [["C1", "3"], ["C2", "2"], ["C3", "2"]]]),
)
