"""The words of random programs: few names and ids, valid and invalid arguments.

Times are far apart, so that no answer depends on a few milliseconds.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Words: TypeAlias = list[bytes]
Step: TypeAlias = tuple[Words, ...]
Program: TypeAlias = list[Step]

KEYS: Final = (b"s", b"t", b"race:france")
GROUPS: Final = (b"g", b"h")
CONSUMERS: Final = (b"alice", b"bob", b"")
NODE_ENTRIES: Final = (3, 10, 100)
FIELDS: Final = (b"f", b"v", b"rider", b"Castilla", b"", b"\xff\x00", b"30.2", "Żółć".encode(), b"12")
NUMBERS: Final = (b"0", b"1", b"2", b"3", b"5", b"10")
BAD_NUMBERS: Final = (b"-1", b"x", b"", b"1.5", b"+1", b"01", b" 1", b"9223372036854775808", b"-0")
HUGE: Final = b"9223372036854775807"
IDLE_TIMES: Final = (b"0", b"100000", b"5000000", b"-1", HUGE)
MIN_IDLES: Final = (b"0", b"0", b"0", b"50000", b"1000000", b"100000000000", b"1000000000000000", b"-5")
DELIVERY_TIMES: Final = (b"0", b"1000000000000", b"99999999999999", b"-1")
BAD_IDS: Final = (
    *(b"x", b"", b"1-", b"-1", b"1-2-3", b"1-x", b"-", b"+", b"$", b">", b"*", b"1-*", b"(1", b"1 "),
    *(b"18446744073709551616", b"1-18446744073709551616", b"0" * 128, b"0" * 127),
)
EDGE_IDS: Final = (
    *(b"0", b"0-0", b"0-1", b"(0-0", b"(0-1", b"-", b"+", b"(-", b"("),
    *(b"18446744073709551615-18446744073709551615", b"(18446744073709551615-18446744073709551615"),
)
SIGNED: Final = frozenset({b"+1", b" 1"})
"""Refused as numbers by all; as ids, Redis takes them and the engine does not (rule 1): a mistyped id must
not silently become another one. So these words are kept out of the places of ids."""

JUNK: Final = (b"", b"x", b"COUNT", b"limit", b"~", b"=", b"MAXLEN", b"MINID", b"STREAMS", b"0", b"-1", b"*")
SEQ_MAX: Final = (1 << 64) - 1
FAR_FUTURE_MS: Final = 10_000_000_000_000

MUTATED_PERCENT: Final = 15
"""So many of a hundred commands have words dropped, doubled, swapped or replaced."""

BAD_VALUE_ONE_IN: Final = 40

# --- what came after 7.0 ---------------------------------------------------------------------------

LATER_JUNK: Final = (
    *JUNK,
    *(b"CLAIM", b"MAXCOUNT", b"MAXSIZE", b"IDS", b"acked", b"DELREF", b"KEEPREF", b"IDMP", b"IDMPAUTO"),
    *(b"FORCE", b"RETRYCOUNT", b"NOACK", b"GROUP", b"SILENT", b"NOMKSTREAM", b"+", b">"),
)
POLICIES: Final = (b"KEEPREF", b"DELREF", b"ACKED")
NACK_MODES: Final = (b"SILENT", b"FAIL", b"FATAL")
PRODUCERS: Final = (b"p", b"q")
IDEMPOTENT_IDS: Final = (b"1", b"2", b"3", b"k")
REPEATED_FIELDS: Final = (
    [b"f", b"v"],
    [b"f", b"v", b"rider", b"12"],
    [b"rider", b"12", b"f", b"v"],
    [b"f", b""],
)
"""Few enough that IDMPAUTO meets the same content again, also in another order."""

CLAIM_IDLES: Final = (b"0", b"0", b"50000", b"1000000", b"100000000000", b"1000000000000000")
LONG_CLAIM_IDLES: Final = CLAIM_IDLES[2:]
"""For a reply whose size is bounded: their idle times keep their number of digits for the whole program."""

REPLY_BYTES: Final = (b"1", b"30", b"50", b"70", b"90", b"110", b"130", b"170", b"220", b"300", b"500")
IDMP_DURATIONS: Final = (b"100", b"50", b"86400", b"86401", b"0")
IDMP_MAXSIZES: Final = (b"1", b"2", b"3", b"100", b"10000", b"10001", b"0")
