"""Hand-written sequences of commands that random programs rarely contain, each with a name.

One command a line; single blanks separate words, and ``''`` is the empty word.
"""

from __future__ import annotations

from typing import Final

MAX: Final = "18446744073709551615"

SEQUENCES: Final = {
    "ids at the upper edge": f"""
        XADD s {MAX}-{MAX} f v
        XADD s * f v
        XADD s {MAX}-* f v
        XADD s 1 f v
        XRANGE s ({MAX}-{MAX} +
        XRANGE s - ({MAX}-{MAX}
        XREAD STREAMS s {MAX}-{MAX}
        XREAD STREAMS s {MAX}-{int(MAX) - 1}
        XGROUP CREATE s g {MAX}-{int(MAX) - 1}
        XREADGROUP GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice STREAMS s {MAX}-{int(MAX) - 1}
        XAUTOCLAIM s g bob 0 {MAX}-{MAX}
        XAUTOCLAIM s g bob 0 ({MAX}-{MAX}
    """,
    "the greatest id is the same as > to a group": f"""
        XADD s 1 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s {MAX}-{MAX}
        XREADGROUP GROUP g alice STREAMS s {MAX}-{MAX}
        XPENDING s g
    """,
    "a sequence that overflows": f"""
        XADD s 5-{MAX} f v
        XADD s 5-* f v
        XADD s 6-* f v
        XADD s 0-* f v
        XADD t 0-* f v
        XADD t 0-* f v
    """,
    "bounds that step over an edge": f"""
        XADD s 1-0 f v
        XADD s 1-{MAX} f v
        XADD s 2-0 f v
        XRANGE s (1-{MAX} +
        XRANGE s (1 +
        XRANGE s - (2
        XRANGE s - (1
        XRANGE s (0-0 (0-1
        XRANGE s - (0-0
        XREVRANGE s (2-0 (1-0
        XRANGE s 2 1
    """,
    "order of checks of XADD": """
        XADD s MAXLEN
        XADD s MAXLEN 1 MINID 1 1-1 f v
        XADD s MAXLEN -1 * f v
        XADD s MAXLEN ~ 1 LIMIT -1 * f v
        XADD s LIMIT 1 * f v
        XADD s LIMIT 0 * f v
        XADD s NOMKSTREAM NOMKSTREAM 1-1 f v
        XADD s 0-0 f
        XADD s 0-0 f v
        XADD s bad f
        XADD s 1-1 f v x
        XADD s MAXLEN = 1 LIMIT 5 * f v
        XADD s MINID x 1-1 f v
        EXISTS s
    """,
    "trimming by nodes and their limit": """
        CONFIG SET stream-node-max-entries 3
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XADD s 5 f v
        XADD s 6 f v
        XADD s 7 f v
        XTRIM s MAXLEN ~ 5
        XTRIM s MAXLEN ~ 4
        XTRIM s MAXLEN ~ 0 LIMIT 2
        XTRIM s MAXLEN ~ 0 LIMIT 3
        XTRIM s MINID ~ 7
        XTRIM s MINID ~ 99
        XTRIM s MAXLEN 0
    """,
    "trimming nodes with holes": """
        CONFIG SET stream-node-max-entries 3
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XADD s 5 f v
        XDEL s 2 3
        XTRIM s MAXLEN ~ 2
        XADD s 6 f v
        XADD s 7 f v
        XDEL s 4
        XTRIM s MINID ~ 6
        XTRIM s MINID = 6
    """,
    "deleting the first, the last and all": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XDEL s 1
        XINFO STREAM s
        XDEL s 3
        XINFO STREAM s
        XADD s 3-1 f v
        XDEL s 2 3-1
        XINFO STREAM s
        XADD s 3-2 f v
        XINFO STREAM s
    """,
    "lag over holes, trims and both": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice COUNT 1 STREAMS s >
        XINFO GROUPS s
        XDEL s 3
        XINFO GROUPS s
        XREADGROUP GROUP g alice COUNT 1 STREAMS s >
        XTRIM s MINID 4
        XINFO GROUPS s
        XGROUP CREATE s mid 2
        XGROUP CREATE s end $
        XGROUP CREATE s first 4
        XGROUP CREATE s beyond 99
        XINFO GROUPS s
    """,
    "dangling pending entries": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s >
        XDEL s 1 3
        XREADGROUP GROUP g alice STREAMS s 0
        XPENDING s g - + 10
        XCLAIM s g bob 0 1
        XPENDING s g - + 10
        XAUTOCLAIM s g bob 1000000 0
        XPENDING s g
    """,
    "claiming with every option": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XGROUP CREATE s g 0
        XCLAIM s g alice 0 1 2
        XCLAIM s g alice 0 1 2 9 FORCE
        XCLAIM s g bob 0 1 RETRYCOUNT 5 JUSTID
        XCLAIM s g bob 0 1 RETRYCOUNT -5
        XCLAIM s g bob 0 2 IDLE 100000 TIME 0
        XPENDING s g - + 10
        XCLAIM s g carol 1000000000000 1 2
        XCLAIM s g carol 0 2 TIME 99999999999999 LASTID 2
        XCLAIM s g carol 0 2 LASTID 1
        XCLAIM s g carol -3 1 3 FORCE LASTID 7 JUSTID
        XINFO GROUPS s
        XCLAIM s g carol 0 1 IDLE
        XCLAIM s g carol 0 1 JUSTID 2
        XCLAIM s g carol x 1
    """,
    "scanning by XAUTOCLAIM": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s >
        XAUTOCLAIM s g bob 0 0 COUNT 2
        XAUTOCLAIM s g bob 0 (2-0 COUNT 2 JUSTID
        XAUTOCLAIM s g bob 1000000 - COUNT 1
        XDEL s 2
        XAUTOCLAIM s g bob 0 1 COUNT 2
        XAUTOCLAIM s g bob 0 0 COUNT 0
        XAUTOCLAIM s g bob 0 0 COUNT 9223372036854775807
        XAUTOCLAIM s g bob 0 0 COUNT 2305843009213693951
        XAUTOCLAIM s g bob 0 0 COUNT x
        XAUTOCLAIM s g bob -1 0
        XAUTOCLAIM s g bob 0 x
        XAUTOCLAIM s g bob 0 0 WHAT
    """,
    "a group moved back and forth": """
        XADD s 1 f v
        XADD s 2 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice STREAMS s 0
        XGROUP SETID s g 0
        XREADGROUP GROUP g bob NOACK STREAMS s >
        XPENDING s g - + 10
        XGROUP SETID s g 1
        XREADGROUP GROUP g bob STREAMS s >
        XPENDING s g - + 10
        XGROUP SETID s g +
        XGROUP SETID s g -
        XGROUP SETID s g $ ENTRIESREAD 1
        XGROUP SETID s g x
        XGROUP SETID s nogroup x
        XGROUP SETID none g x
        XINFO GROUPS s
    """,
    "arguments of XPENDING": """
        XGROUP CREATE s g 0 MKSTREAM
        XPENDING s
        XPENDING s g
        XPENDING s g -
        XPENDING s g - +
        XPENDING s g - + x
        XPENDING s g - + 0
        XPENDING s g - + -1
        XPENDING s g IDLE 0 - + 10
        XPENDING s g IDLE x - + 10
        XPENDING s g IDLE 0 - +
        XPENDING s g - + 10 alice bob
        XPENDING s g WHAT 0 - + 10
        XPENDING none g - + x
        XPENDING none g
    """,
    "empty names": """
        XADD s 1 f v
        XGROUP CREATE s '' 0
        XREADGROUP GROUP '' '' STREAMS s >
        XPENDING s ''
        XGROUP CREATECONSUMER s '' ''
        XACK s '' 1
        XADD '' 1 f v
        XLEN ''
        XGROUP DELCONSUMER s '' ''
        XGROUP DESTROY s ''
        XADD t 1 '' ''
        XRANGE t - +
    """,
    "streams that are renamed, deleted and made again": """
        XADD s 5 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s >
        RENAME s t
        XREADGROUP GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice STREAMS t 0
        XADD s 1 f v
        RENAME s t
        XINFO STREAM t
        DEL t t s
        XADD t 1 f v
        RENAME nothing t
        RENAME t t
        EXISTS t t s
        TYPE t
        TYPE s
        DBSIZE
    """,
    "options of reads in any order": """
        XADD s 1 f v
        XADD s 2 f v
        XGROUP CREATE s g 0
        XREAD COUNT 1 COUNT 2 STREAMS s 0
        XREAD STREAMS s 0 COUNT 1
        XREAD COUNT x STREAMS s 0
        XREAD BLOCK x STREAMS s 0
        XREAD BLOCK -1 STREAMS s 0
        XREAD GROUP g alice STREAMS s 0
        XREAD NOACK STREAMS s 0
        XREAD STREAMS s >
        XREAD COUNT
        XREAD COUNT 1 STREAMS
        XREADGROUP COUNT 1 NOACK STREAMS s >
        XREADGROUP NOACK COUNT 1 GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice STREAMS s $
        XREADGROUP GROUP g STREAMS s >
        XREADGROUP GROUP none alice STREAMS s bad
        XREADGROUP GROUP g alice STREAMS s none > bad
    """,
    "positions set by XSETID": """
        XSETID s 1
        XADD s 5 f v
        XSETID s 4
        XSETID s 6 ENTRIESADDED 0
        XSETID s 6 ENTRIESADDED -1
        XSETID s 6 MAXDELETEDID 7
        XSETID s 6 MAXDELETEDID 6 ENTRIESADDED 9
        XSETID s 7 ENTRIESADDED 3
        XSETID s 8 MAXDELETEDID 2
        XSETID s 8 WHAT 3
        XSETID s 8 ENTRIESADDED
        XSETID s x
        XADD s 8 f v
        XADD s 9 f v
        XINFO STREAM s
    """,
    "full views and their counts": """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XGROUP CREATE s g 0
        XGROUP CREATE s a 0
        XREADGROUP GROUP g zoe COUNT 2 STREAMS s >
        XREADGROUP GROUP g alice STREAMS s >
        XINFO STREAM s FULL COUNT 1
        XINFO STREAM s FULL COUNT 0
        XINFO STREAM s FULL COUNT -1
        XINFO STREAM s FULL COUNT
        XINFO STREAM s FULL COUNT x
        XINFO STREAM s WHAT
        XINFO STREAM none FULL COUNT x
        XINFO CONSUMERS s g
        XINFO CONSUMERS s none
        XINFO CONSUMERS none g
        XINFO GROUPS none
    """,
    "subcommands and arity": """
        XGROUP
        XINFO
        XGROUP WHAT s g
        XINFO WHAT s
        XGROUP CREATE s
        XGROUP DESTROY s
        XGROUP DESTROY s g x
        XGROUP CREATECONSUMER s g
        XGROUP DELCONSUMER s g
        XGROUP SETID s g
        XGROUP CREATE s g 0 WHAT
        XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD
        XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD -2
        XINFO GROUPS
        XINFO GROUPS s x
        XLEN
        XLEN s t
        XDEL s
        XACK s g
        PING a b
        ECHO
    """,
}
