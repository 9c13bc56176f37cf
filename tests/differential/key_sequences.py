"""Hand-written sequences of COPY, XIDMPRECORD and the counters of idempotency; 7.0 has only the first.

Written as in `sequences`. Redis forgets old keys once a second, so ids with a key are of the future.
"""

from __future__ import annotations

from typing import Final

MAX: Final = "18446744073709551615"

COPIES: Final = {
    "the words of COPY": """
        COPY s
        COPY s s
        COPY s s REPLACE
        COPY s s DB 0
        COPY s t
        COPY s t DB
        COPY s t DB 0
        COPY s t DB 16
        COPY s t DB -1
        COPY s t DB x
        COPY s t DB 00
        COPY s t DB 2147483647
        COPY s t DB 2147483648
        COPY s t DB -2147483649
        COPY s t DB 99999999999999999999
        COPY s t DB 16 foo
        COPY s t foo DB 16
        COPY s s foo
        COPY s s DB 16
        COPY s t REPLACE REPLACE DB 0 db 0 replace
        COPY s t foo
        COPY s t ''
    """,
    "a stream that is copied, and copied again": """
        XADD s 1 f v
        XADD s 2 f v
        COPY s t
        COPY s t
        COPY t s
        XADD s 3 f v
        XLEN t
        COPY s t
        COPY s t REPLACE
        XRANGE t - +
        COPY missing t REPLACE
        XLEN t
        DEL s
        XRANGE t - +
        COPY t s
        XADD s 3 f v
        XADD s 4 f v
        XLEN t
    """,
    "what a copy takes along": """
        CONFIG SET stream-node-max-entries 3
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XADD s 10000000000005 f v
        XGROUP CREATE s g 0
        XGROUP CREATE s h $
        XGROUP CREATECONSUMER s h carol
        XREADGROUP GROUP g alice COUNT 4 STREAMS s >
        XCLAIM s g bob 0 2 3 RETRYCOUNT 7
        XDEL s 2 4
        XTRIM s MAXLEN 2
        XNACK s g FAIL IDS 2 1 3
        XSETID s 10000000000009 ENTRIESADDED 50 MAXDELETEDID 7
        XCFGSET s IDMP-MAXSIZE 77 IDMP-DURATION 900
        XIDMPRECORD s p i 10000000000005
        XADD s IDMP p i * f v
        COPY s t
        XINFO STREAM s FULL COUNT 0
        XINFO STREAM t FULL COUNT 0
        XINFO GROUPS t
        XPENDING t g - + 10
        XADD t IDMP p i * f v
        XIDMPRECORD t p i 10000000000005
        XINFO STREAM t
        XREADGROUP GROUP g alice STREAMS t >
        XACK t g 1 3
        XINFO STREAM s FULL COUNT 0
        XINFO STREAM t FULL COUNT 0
        XAUTOCLAIM t g dave 0 0
        XAUTOCLAIM s g dave 0 0
        XDEL t 3 5
        XRANGE s - +
        XRANGE t - +
    """,
}
"""COPY."""

RECORDS: Final = {
    "the words of XIDMPRECORD": """
        XIDMPRECORD s p i
        XIDMPRECORD s p i 1-1 x
        XIDMPRECORD s p i 1-1
        XIDMPRECORD s p i bad
        XIDMPRECORD s '' i 1-1
        XIDMPRECORD s p '' 1-1
        XIDMPRECORD s '' '' 1-1
        XIDMPRECORD s '' '' bad
        XADD s 20000000000001-0 f v
        XIDMPRECORD s p i *
        XIDMPRECORD s p i -
        XIDMPRECORD s p i 1-*
        XIDMPRECORD s p i 0
        XIDMPRECORD s p i 0-0
        XIDMPRECORD s p i 20000000000002
        XIDMPRECORD s '' i 20000000000002
        XIDMPRECORD s p i 20000000000001
    """,
    "a recorded key is one of XADD's": """
        XADD s 20000000000001 f v
        XADD s 20000000000002 f v
        XIDMPRECORD s p i 20000000000001
        XIDMPRECORD s p i 20000000000001-0
        XIDMPRECORD s p i 20000000000002
        XIDMPRECORD s q i 20000000000002
        XADD s IDMP p i * other payload
        XINFO STREAM s
        XDEL s 20000000000001
        XIDMPRECORD s p i 20000000000001
        XADD s IDMP p i * f v
        XINFO STREAM s
    """,
    "recorded keys above the most that a producer has": """
        XADD s 20000000000001 f v
        XADD s 20000000000002 f v
        XADD s 20000000000003 f v
        XCFGSET s IDMP-MAXSIZE 2
        XIDMPRECORD s p c 20000000000003
        XIDMPRECORD s p a 20000000000001
        XIDMPRECORD s p b 20000000000002
        XINFO STREAM s
        XADD s IDMP p a * f v
        XADD s IDMP p b * f v
        XIDMPRECORD s p c 20000000000003
        XINFO STREAM s
    """,
}
"""XIDMPRECORD."""

TRACKED: Final = {
    "producers and keys that are tracked": """
        XADD s 20000000000001 f v
        XADD s 20000000000002 f v
        XIDMPRECORD s p i 20000000000001
        XIDMPRECORD s p j 20000000000002
        XIDMPRECORD s q i 20000000000002
        XINFO STREAM s
        XADD s IDMP p i * f v
        XADD s IDMP q i NOMKSTREAM * f v
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 100 IDMP-DURATION 100
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 99
        XINFO STREAM s
        XIDMPRECORD s p i 20000000000001
        XCFGSET s IDMP-DURATION 99
        XINFO STREAM s
        XTRIM s MAXLEN 0
        XINFO STREAM s
    """,
    "ids of any length": f"""
        XADD s 20000000000001 f v
        XADD s 20000000000002 f v
        XIDMPRECORD s {"p" * 65536} {"i" * 65536} 20000000000001
        XIDMPRECORD s {"p" * 65536} {"i" * 65537} 20000000000002
        XADD s IDMP {"p" * 65536} {"i" * 65536} * f v
        XADD s IDMP {"p" * 65536} {"i" * 65537} * f v
        XINFO STREAM s
    """,
    "an append that is refused before its key is looked for": """
        XADD s IDMP p i 1-1 f v
        XADD s NOMKSTREAM IDMP p i * f v
        XADD s IDMP p i MAXLEN 5 LIMIT 1 * f v
        XADD s IDMP p i * f
        XADD s IDMP '' i * f v
        XADD s IDMPAUTO '' * f v
        EXISTS s
    """,
}
"""Counters of idempotency. The refused append that leaves an empty producer is a difference that is kept."""

KEY_SEQUENCES: Final = {**COPIES, **RECORDS, **TRACKED}
