"""Hand-written sequences of COPY, XIDMPRECORD and the counters of idempotency.

Written as in `sequences`. Redis forgets old keys once a second, so no sequence depends on a key that does.
"""

from __future__ import annotations

from typing import Final

LATE: Final = "999999999999"
"""Begins an id of the year 2286: Redis forgets a key once its entry's id is old, at an instant of its own."""

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
    "what a copy takes along": f"""
        CONFIG SET stream-node-max-entries 3
        XADD s {LATE}1 f v
        XADD s {LATE}2 f v
        XADD s {LATE}3 f v
        XADD s {LATE}4 f v
        XADD s {LATE}5 f v
        XGROUP CREATE s g 0
        XGROUP CREATE s h $
        XGROUP CREATECONSUMER s h carol
        XREADGROUP GROUP g alice COUNT 4 STREAMS s >
        XCLAIM s g bob 0 {LATE}2 {LATE}3 RETRYCOUNT 7
        XDEL s {LATE}2 {LATE}4
        XTRIM s MAXLEN 2
        XNACK s g FAIL IDS 2 {LATE}1 {LATE}3
        XSETID s {LATE}9 ENTRIESADDED 50 MAXDELETEDID {LATE}7
        XCFGSET s IDMP-MAXSIZE 77 IDMP-DURATION 900
        XIDMPRECORD s p i {LATE}5
        XADD s IDMP p i * f v
        COPY s t
        XINFO STREAM s FULL COUNT 0
        XINFO STREAM t FULL COUNT 0
        XINFO GROUPS t
        XPENDING t g - + 10
        XADD t IDMP p i * f v
        XIDMPRECORD t p i {LATE}5
        XINFO STREAM t
        XREADGROUP GROUP g alice STREAMS t >
        XACK t g {LATE}1 {LATE}3
        XINFO STREAM s FULL COUNT 0
        XINFO STREAM t FULL COUNT 0
        XAUTOCLAIM t g dave 0 0
        XAUTOCLAIM s g dave 0 0
        XDEL t {LATE}3 {LATE}5
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
        XADD s 1-0 f v
        XIDMPRECORD s p i *
        XIDMPRECORD s p i -
        XIDMPRECORD s p i 1-*
        XIDMPRECORD s p i 0
        XIDMPRECORD s p i 0-0
        XIDMPRECORD s p i 2
        XIDMPRECORD s '' i 2
        XIDMPRECORD s p i 1
    """,
    "a recorded key is one of XADD's": f"""
        XADD s {LATE}1 f v
        XADD s {LATE}2 f v
        XIDMPRECORD s p i {LATE}1
        XIDMPRECORD s p i {LATE}1-0
        XIDMPRECORD s p i {LATE}2
        XIDMPRECORD s q i {LATE}2
        XADD s IDMP p i * other payload
        XINFO STREAM s
        XDEL s {LATE}1
        XIDMPRECORD s p i {LATE}1
        XADD s IDMP p i * f v
        XINFO STREAM s
    """,
    "recorded keys above the most that a producer has": f"""
        XADD s {LATE}1 f v
        XADD s {LATE}2 f v
        XADD s {LATE}3 f v
        XCFGSET s IDMP-MAXSIZE 2
        XIDMPRECORD s p c {LATE}3
        XIDMPRECORD s p a {LATE}1
        XIDMPRECORD s p b {LATE}2
        XINFO STREAM s
        XADD s IDMP p a * f v
        XADD s IDMP p b * f v
        XIDMPRECORD s p c {LATE}3
        XINFO STREAM s
    """,
}
"""XIDMPRECORD."""

TRACKED: Final = {
    "producers and keys that are tracked": f"""
        XADD s {LATE}1 f v
        XADD s {LATE}2 f v
        XIDMPRECORD s p i {LATE}1
        XIDMPRECORD s p j {LATE}2
        XIDMPRECORD s q i {LATE}2
        XINFO STREAM s
        XADD s IDMP p i * f v
        XADD s IDMP q i NOMKSTREAM * f v
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 100 IDMP-DURATION 100
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 99
        XINFO STREAM s
        XIDMPRECORD s p i {LATE}1
        XCFGSET s IDMP-DURATION 99
        XINFO STREAM s
        XTRIM s MAXLEN 0
        XINFO STREAM s
    """,
    "ids of any length": f"""
        XADD s {LATE}1 f v
        XADD s {LATE}2 f v
        XIDMPRECORD s {"p" * 65536} {"i" * 65536} {LATE}1
        XIDMPRECORD s {"p" * 65536} {"i" * 65537} {LATE}2
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
