"""Hand-written sequences of the commands and options that came after Redis 7.0, each under its subject.

Written as in `sequences`.
"""

from __future__ import annotations

from typing import Final

from tests.differential.key_sequences import KEY_SEQUENCES

_FOUR: Final = """
        XADD s 1 f v
        XADD s 2 f v
        XADD s 3 f v
        XADD s 4 f v
        XGROUP CREATE s g 0
        XGROUP CREATE s h 0
"""

LATER_SEQUENCES: Final = {
    **KEY_SEQUENCES,
    "CLAIM counts live entries only": """
        XADD s 0-1 f v
        XADD s 2-0 f v
        XADD s 3-3 f v
        XGROUP CREATE s g 0
        XREADGROUP GROUP g a STREAMS s >
        XTRIM s MINID 19
        XADD s 20-1 f v
        XADD s 20-2 f v
        XREADGROUP GROUP g a STREAMS s >
        XADD s 21 f v
        XADD s 22 f v
        XREADGROUP GROUP g c COUNT 1 CLAIM 0 STREAMS s >
        XREADGROUP GROUP g c COUNT 2 CLAIM 0 STREAMS s >
        XREADGROUP GROUP g c COUNT 3 CLAIM 0 STREAMS s >
        XPENDING s g - + 10
    """,
    "CLAIM among many deleted entries": f"""
        {_FOUR}
        XADD s 5 f v
        XADD s 6 f v
        XREADGROUP GROUP g alice STREAMS s >
        XDEL s 1 2 4
        XREADGROUP GROUP g bob COUNT 1 CLAIM 0 STREAMS s >
        XREADGROUP GROUP g bob COUNT 2 CLAIM 0 STREAMS s >
        XREADGROUP GROUP g bob CLAIM 0 STREAMS s >
        XREADGROUP GROUP g bob CLAIM 1000000 STREAMS s >
        XREADGROUP GROUP g bob STREAMS s 0
        XPENDING s g - + 10
    """,
    "CLAIM in order of delivery": f"""
        {_FOUR}
        XREADGROUP GROUP g alice STREAMS s >
        XCLAIM s g bob 0 3 IDLE 5000000
        XCLAIM s g bob 0 1 IDLE 100000
        XCLAIM s g bob 0 4 TIME 1000000000000 RETRYCOUNT 9223372036854775807
        XNACK s g FAIL IDS 1 2
        XREADGROUP GROUP g carol COUNT 2 CLAIM 50000 STREAMS s >
        XREADGROUP GROUP g carol CLAIM 50000 NOACK STREAMS s >
        XINFO STREAM s FULL
        XINFO CONSUMERS s g
    """,
    "CLAIM ends with a history": f"""
        {_FOUR}
        XADD t 1 f v
        XGROUP CREATE t g 0
        XREADGROUP GROUP g alice COUNT 2 STREAMS s t > >
        XREADGROUP GROUP g alice CLAIM 0 STREAMS s t s > 0 >
        XREADGROUP GROUP g alice CLAIM 0 STREAMS t s 0 >
        XINFO STREAM t FULL
    """,
    "refusals of CLAIM and the limits of a reply": f"""
        {_FOUR}
        XREADGROUP GROUP g alice CLAIM x STREAMS s >
        XREADGROUP GROUP g alice CLAIM -1 STREAMS s >
        XREADGROUP GROUP g alice CLAIM STREAMS s >
        XREAD CLAIM 0 STREAMS s 0
        XREAD MAXCOUNT 0 STREAMS s 0
        XREAD MAXCOUNT x STREAMS s 0
        XREAD MAXSIZE -1 STREAMS s 0
        XREAD MAXSIZE 9223372036854775808 STREAMS s 0
        XREAD MAXCOUNT 1 COUNT 2 STREAMS s bad
        XREAD MAXCOUNT 1 COUNT 2 STREAMS s
        XREADGROUP MAXCOUNT 1 COUNT 2 STREAMS s >
        XREADGROUP GROUP none alice MAXCOUNT 1 COUNT 2 STREAMS s >
        XREAD MAXCOUNT 1 MAXCOUNT 3 MAXSIZE 1 MAXSIZE 1000 STREAMS s 0
        XREAD COUNT -1 MAXCOUNT 2 STREAMS s 0
    """,
    "MAXCOUNT ends the scan of streams": f"""
        {_FOUR}
        XADD t 1 f v
        XGROUP CREATE t g 0
        XREAD MAXCOUNT 4 STREAMS s t 0 0
        XREAD MAXCOUNT 5 STREAMS s t 0 0
        XREAD MAXCOUNT 1 STREAMS none s t 0 0 0
        XREADGROUP GROUP g alice MAXCOUNT 2 STREAMS s t > >
        XINFO CONSUMERS t g
        XREADGROUP GROUP g alice MAXCOUNT 2 STREAMS s t 0 0
        XREADGROUP GROUP g alice MAXCOUNT 2 STREAMS s t 2 0
        XREADGROUP GROUP g bob MAXCOUNT 1 CLAIM 0 STREAMS s t > >
        XINFO STREAM t FULL
        XREADGROUP GROUP g bob MAXCOUNT 9 CLAIM 0 STREAMS s t > >
    """,
    "MAXSIZE cuts a later stream at its key": """
        XADD s 1-1 f v
        XADD s 2-1 f v
        XADD t 16-1 f v
        XADD t 17-1 f v
        XADD t 18-1 f v
        XREAD MAXSIZE 70 STREAMS s t + 17
        XREAD MAXSIZE 35 STREAMS s t + 0
        XREAD MAXSIZE 40 STREAMS s t + 0
        XREAD MAXSIZE 45 STREAMS s t + 0
        XREAD MAXSIZE 50 STREAMS s t + 0
        XREAD MAXSIZE 55 STREAMS s t + 0
        XREAD MAXSIZE 60 STREAMS s t + 0
        XREAD MAXSIZE 1 STREAMS s t 0 0
        XGROUP CREATE s g 0
        XGROUP CREATE t g 0
        XREADGROUP GROUP g alice MAXSIZE 80 STREAMS s t > >
        XREADGROUP GROUP g alice MAXSIZE 45 STREAMS t s > >
        XREADGROUP GROUP g alice MAXSIZE 45 STREAMS t s 0 0
        XREADGROUP GROUP g bob MAXSIZE 1 STREAMS s t > >
        XINFO STREAM t FULL
        XINFO STREAM s FULL
    """,
    "MAXSIZE counts idle times and deliveries": f"""
        {_FOUR}
        XREADGROUP GROUP g alice STREAMS s >
        XCLAIM s g alice 0 1 2 3 4 TIME 1000000000000 RETRYCOUNT 1000000000
        XREADGROUP GROUP g bob MAXSIZE 55 CLAIM 1000000 STREAMS s >
        XCLAIM s g alice 0 1 2 3 4 TIME 1000000000000 RETRYCOUNT 1000000000
        XREADGROUP GROUP g bob MAXSIZE 65 CLAIM 1000000 STREAMS s >
        XCLAIM s g alice 0 1 2 3 4 TIME 1000000000000 RETRYCOUNT 1000000000
        XREADGROUP GROUP g bob MAXSIZE 75 CLAIM 1000000 STREAMS s >
        XNACK s g FATAL IDS 4 1 2 3 4
        XREADGROUP GROUP g bob MAXSIZE 75 CLAIM 1000000 STREAMS s >
        XNACK s g FATAL IDS 4 1 2 3 4
        XREADGROUP GROUP g bob MAXSIZE 140 CLAIM 1000000 STREAMS s >
        XADD s 5 f v
        XADD s 6 f v
        XREADGROUP GROUP g bob MAXSIZE 300 CLAIM 1000000 STREAMS s >
    """,
    "the last entry of a stream": """
        XREAD STREAMS s +
        XADD s 1 f v
        XADD s 2 f v
        XREAD STREAMS s +
        XREAD STREAMS s s + 0
        XDEL s 2
        XREAD COUNT 5 STREAMS s +
        XDEL s 1
        XREAD STREAMS s +
        XREAD STREAMS s ++
        XGROUP CREATE s g 0
        XREADGROUP GROUP g alice STREAMS s +
        XREADGROUP GROUP g alice STREAMS none +
    """,
    "XACKDEL under each policy": f"""
        {_FOUR}
        XREADGROUP GROUP g alice STREAMS s >
        XACKDEL s g ACKED IDS 1 1
        XREADGROUP GROUP h bob COUNT 3 STREAMS s >
        XACKDEL s g ACKED IDS 1 2
        XACKDEL s h ACKED IDS 2 2 2
        XACKDEL s g DELREF IDS 1 3
        XPENDING s h - + 10
        XACKDEL s g IDS 2 4 9
        XINFO STREAM s FULL
    """,
    "XACKDEL of entries that were trimmed": f"""
        {_FOUR}
        XREADGROUP GROUP g alice STREAMS s >
        XTRIM s MINID 4
        XACKDEL s g ACKED IDS 2 1 1
        XREADGROUP GROUP h bob STREAMS s >
        XACKDEL s g ACKED IDS 1 2
        XACKDEL s g KEEPREF IDS 1 3
        XACKDEL s g ACKED IDS 1 4
        XACKDEL s h ACKED IDS 1 4
        XACKDEL s h ACKED IDS 1 4
    """,
    "XDELEX under each policy": f"""
        {_FOUR}
        XDELEX s ACKED IDS 3 1 9 0-0
        XREADGROUP GROUP g alice COUNT 3 STREAMS s >
        XREADGROUP GROUP h bob COUNT 1 STREAMS s >
        XDELEX s ACKED IDS 1 1
        XACK s g 1 2
        XACK s h 1
        XDELEX s ACKED IDS 4 1 1 2 3
        XDELEX s KEEPREF IDS 1 3
        XPENDING s g - + 10
        XDELEX s DELREF IDS 2 3 4
        XDELEX s IDS 1 4
        XPENDING s g
        XINFO STREAM s FULL
        XGROUP DESTROY s g
        XGROUP DESTROY s h
        XADD s 9 f v
        XDELEX s ACKED IDS 2 9 10
    """,
    "blocks of ids": """
        XADD s 1 f v
        XGROUP CREATE s g 0
        XDELEX s IDS 1
        XDELEX s IDS 0 1
        XDELEX s IDS -1 1
        XDELEX s IDS 2147483648 1
        XDELEX s IDS 9223372036854775808 1
        XDELEX s IDS 2 1
        XDELEX s IDS 1 1 2
        XDELEX s IDS 1 bad
        XDELEX none IDS 2 bad bad
        XDELEX s KEEPREF DELREF IDS 1 1
        XDELEX s ACKED x y
        XDELEX s IDS 1 1 IDS 1 2
        XDELEX s KEEPREF KEEPREF KEEPREF
        XACKDEL s g IDS 1
        XACKDEL s g IDS 2147483648 1
        XACKDEL s g IDS 1 bad
        XACKDEL s none IDS 1 bad
        XACKDEL none g IDS 1 bad
        XACKDEL s none IDS 2 bad
        XNACK s g FAIL IDS 2147483647 1
        XNACK s g FAIL IDS 2147483648 1
        XNACK s g FAIL IDS 0 1
        XNACK s g FAIL IDS 1 bad
    """,
    "the checks of XNACK begin with the group": """
        XNACK none g WHAT IDS 1 bad
        XADD s 1 f v
        XNACK s none FAIL IDS x 1
        XNACK s none FAIL RETRYCOUNT x FORCE
        XGROUP CREATE s g 0
        XNACK s g WHAT IDS 1 1
        XNACK s g FAIL IDS 1 1 RETRYCOUNT abc
        XNACK s g FAIL IDS 1 1 RETRYCOUNT -1
        XNACK s g FAIL IDS 1 1 RETRYCOUNT
        XNACK s g FAIL IDS 1 1 WHAT
        XNACK s g FAIL FORCE FORCE FORCE
        XNACK s g FAIL FORCE IDS 1
        XNACK s g FAIL IDS 1 1 IDS 1 bad
        XNACK s g FAIL
    """,
    "what XNACK does to counts and owners": f"""
        {_FOUR}
        XREADGROUP GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice STREAMS s 0
        XNACK s g SILENT IDS 2 1 1
        XNACK s g FAIL IDS 1 2
        XNACK s g FATAL IDS 1 3
        XNACK s g FAIL IDS 1 4 RETRYCOUNT 7
        XPENDING s g - + 10
        XPENDING s g IDLE 1000000000 - + 10
        XPENDING s g - + 10 alice
        XPENDING s g
        XREADGROUP GROUP g alice STREAMS s 0
        XNACK s h SILENT IDS 3 1 2 9 FORCE
        XNACK s h FATAL IDS 1 2 RETRYCOUNT 0 FORCE
        XINFO STREAM s FULL
        XCLAIM s g bob 1000000000000 3
        XAUTOCLAIM s g bob 1000000000000 0 COUNT 2
        XGROUP DELCONSUMER s g bob
        XREADGROUP GROUP g carol CLAIM 0 STREAMS s >
        XREADGROUP GROUP h carol CLAIM 0 STREAMS s >
        XINFO CONSUMERS s h
    """,
    "XCFGSET looks for the key first": """
        XCFGSET none
        XCFGSET none WHAT
        XCFGSET none IDMP-DURATION 0
        XGROUP CREATE s g 0 MKSTREAM
        XCFGSET s
        XCFGSET s WHAT
        XCFGSET s IDMP-DURATION
        XCFGSET s IDMP-DURATION x
        XCFGSET s IDMP-DURATION 0
        XCFGSET s IDMP-DURATION 86401
        XCFGSET s IDMP-MAXSIZE 0
        XCFGSET s IDMP-MAXSIZE 10001
        XCFGSET s IDMP-DURATION 50 IDMP-DURATION 60
        XCFGSET s IDMP-DURATION 50 IDMP-MAXSIZE 0
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 2 IDMP-DURATION 50
        XINFO STREAM s
    """,
    "idempotency keys and their bounds": """
        XADD s 20000000000000-0 f v
        XADD s IDMP p 1 * f v
        XADD s IDMP p 1 MAXLEN 0 * f other
        XADD s IDMP q 1 * f v
        XADD s IDMPAUTO p * f v rider 12
        XADD s IDMPAUTO p * rider 12 f v
        XADD s IDMPAUTO p * f v f v
        XADD s IDMPAUTO q * f v rider 12
        XINFO STREAM s
        XCFGSET s IDMP-MAXSIZE 100
        XADD s IDMP p 1 * f v
        XCFGSET s IDMP-MAXSIZE 2
        XINFO STREAM s
        XADD s IDMP p 1 * f v
        XADD s IDMP p 2 * f v
        XADD s IDMP p 3 * f v
        XADD s IDMP p 1 * f v
        XADD s IDMP p 3 * f v
        XINFO STREAM s
        XDEL s 20000000000000-9
        XTRIM s MAXLEN 0
        XADD s IDMP p 3 * f v
        XADD none NOMKSTREAM IDMP p 1 * f v
        XINFO STREAM s
    """,
    "refusals of IDMP": """
        XADD s IDMP p 1 1-1 f v
        XADD s IDMP p 1 1-* f v
        XADD s IDMPAUTO p 1 f v
        XADD s IDMP '' 1 * f v
        XADD s IDMP p '' * f v
        XADD s IDMPAUTO '' * f v
        XADD s IDMP p 1 IDMPAUTO p * f v
        XADD s IDMP p 1 IDMP p 1 * f v
        XADD s IDMP p 1 * f
        XADD s IDMP p 1 0-0 f v
        XADD s IDMP p 1 MAXLEN x * f v
        XADD s IDMP p 1 WHAT * f v
        XADD s IDMP p
        EXISTS s
    """,
    "trimming under each policy": f"""
        CONFIG SET stream-node-max-entries 3
        {_FOUR}
        XADD s 5 f v
        XADD s 6 f v
        XADD s 7 f v
        XREADGROUP GROUP g alice COUNT 5 STREAMS s >
        XREADGROUP GROUP h alice COUNT 4 STREAMS s >
        XACK s g 2 4
        XACK s h 2 3 4
        XTRIM s MAXLEN 5 ACKED
        XTRIM s MAXLEN ~ 5 ACKED
        XTRIM s ACKED MINID ~ 9 LIMIT 2
        XTRIM s ACKED MINID ~ 9 LIMIT 3
        XTRIM s MINID 4 DELREF
        XTRIM s MAXLEN ~ 2 DELREF
        XPENDING s g - + 10
        XPENDING s h - + 10
        XADD s ACKED MAXLEN 1 8 f v
        XADD s KEEPREF MAXLEN = 1 9 f v
        XADD s DELREF DELREF MAXLEN 1 10 f v
        XTRIM s KEEPREF ACKED MAXLEN 1
        XTRIM s KEEPREF
        XINFO STREAM s FULL
    """,
    "the positions of groups that were moved or destroyed, for ACKED": f"""
        {_FOUR}
        XREADGROUP GROUP g alice NOACK STREAMS s >
        XDELEX s ACKED IDS 1 1
        XGROUP SETID s h 2
        XDELEX s ACKED IDS 3 1 2 3
        XGROUP DESTROY s h
        XDELEX s ACKED IDS 1 3
        XGROUP CREATE s h 0
        XDELEX s ACKED IDS 1 4
        XGROUP SETID s h $
        XGROUP SETID s g 0
        XDELEX s ACKED IDS 1 4
    """,
    "settings of idempotency": """
        CONFIG SET stream-idmp-duration 0
        CONFIG SET stream-idmp-duration 86401
        CONFIG SET stream-idmp-duration x
        CONFIG SET stream-idmp-maxsize 0
        CONFIG SET stream-idmp-maxsize 10001
        CONFIG SET stream-idmp-maxsize 3 stream-idmp-maxsize 4
        CONFIG SET stream-idmp-maxsize 3 stream-idmp-what 4
        CONFIG SET stream-idmp-maxsize
        CONFIG SET stream-idmp-maxsize 3 stream-idmp-duration 7
        CONFIG GET stream-idmp-maxsize
        CONFIG GET STREAM-IDMP-DURATION
        XADD s IDMP p 1 * f v
        XINFO STREAM s
        CONFIG SET stream-idmp-maxsize 100 stream-idmp-duration 100
        XADD t IDMP p 1 * f v
        XINFO STREAM t
        XINFO STREAM s
    """,
    "the words of COUNT, MAXCOUNT and MAXSIZE in any order": """
        XADD s 1 f v
        XADD s 2 f v
        XGROUP CREATE s g 0
        XREADGROUP MAXSIZE 100 CLAIM 0 NOACK COUNT 5 MAXCOUNT 5 GROUP g alice STREAMS s >
        XREADGROUP GROUP g alice GROUP g bob CLAIM 0 CLAIM 5 STREAMS s >
        XINFO CONSUMERS s g
        XREAD MAXSIZE STREAMS s 0
        XREAD MAXCOUNT 5 STREAMS
        XREAD streams s 0 MAXCOUNT 1
    """,
    "unknown commands": """
        XWHAT
        XWHAT a b
        XWHAT ''
        xgroup what
        XINFO what s g
    """,
}
