"""The seeds of fuzzing: a few valid inputs for each target, and every input that ever failed."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import zstandard

from tailrace.core.command_table import SYNTAXES
from tailrace.core.storage.damage import sealed
from tests.fuzz.targets import PRELUDE

PROGRAMS: Final = (
    b"XADD s * a b\nXREADGROUP GROUP g bob COUNT 1 CLAIM 0 STREAMS s >\nXACK s g 1-1",
    b"XAUTOCLAIM s g bob 0 0 COUNT 10 JUSTID\nXPENDING s g IDLE 0 - + 10 alice\nXCLAIM s g bob 0 1-1 FORCE",
    b"XTRIM s MAXLEN ~ 1 LIMIT 10 DELREF\nXDELEX s ACKED IDS 1 1-1\nXNACK s g FAIL IDS 1 1-1",
    b"XADD s NOMKSTREAM KEEPREF MAXLEN = 2 5-* x y\nXSETID s 9-9 ENTRIESADDED 20 MAXDELETEDID 3-0\nXLEN s",
    b"XINFO STREAM s FULL COUNT 1\nXINFO GROUPS s\nXINFO CONSUMERS s g\nXINFO HELP",
    b"XREAD COUNT 2 STREAMS s t 0 $\nXREVRANGE s + - COUNT 1\nXRANGE s (1-1 + COUNT 5",
    b"XGROUP CREATE s h $ MKSTREAM ENTRIESREAD 2\nXGROUP DELCONSUMER s g alice\nXGROUP DESTROY s g",
    b"XCFGSET s IDMP-DURATION 10 IDMP-MAXSIZE 5\nXADD s IDMPAUTO p * a b\nXACKDEL s g DELREF IDS 1 1-1",
    b"SCAN 0 MATCH * COUNT 5\nKEYS [a-t]\nRENAME s u\nDEL u t\nFLUSHALL",
    b"CONFIG SET stream-node-max-entries 2\nCONFIG GET stream-*\nXADD s * a b",
)

BODIES: Final = (
    b'{"fields":{"rider":"Castilla","speed":"30.2"},"trim":{"max_length":2,"approximate":true}}',
    b'{"pairs":[["a","1"],["a","2"]],"id":"9-*","nomkstream":true,"if_last_id":"3-0"}',
    b'{"fields":{"/w==":"/g=="},"encoding":"base64"}',
    b'{"entries":[{"fields":{"a":"b"}},{"pairs":[["c","d"]],"id":"99-1"}],"trim":{"min_id":"1-2"}}',
    b'{"rider":"Castilla"}\n\n{"rider":"Norem","speed":"28.8"}\n',
    b'{"fields":{"a":"b"}}\n{"pairs":[["a","b"],["a","c"]]}\n',
    b'{"ids":["1-1","1-2"]}',
    b'{"group":"g","consumer":"c","streams":[{"key":"s","id":">"}],"count":2,"claim_min_idle_ms":0}',
    '{"fields":{"Żółć":"\\ud83d\\ude80\\u0000"}}'.encode(),
    b'{"fields":{"a":"\\ud800"}}',
    b"[" * 5_000,
    b'{"a":' * 5_000,
    b'{"fields":{"a":1e999,"b":[],"c":null}}',
)

REQUESTS: Final[Sequence[Mapping[str, Any]]] = (
    {"id": 1, "op": "command", "command": ["XADD", "s", "*", "a", "b"]},
    {"id": 2, "op": "append", "key": "s", "fields": {"a": "b"}, "trim": {"max_length": 3}},
    {"id": "x", "op": "append", "key": "s", "pairs": [["a", "b"], ["a", "c"]], "entry_id": "9-*"},
    {"id": 3, "op": "subscribe", "streams": [{"key": "s", "after": "0"}], "credit": 100},
    {
        "id": 4,
        "op": "subscribe",
        "streams": [{"key": "s", "after": "$"}, {"key": "new", "after": "+"}],
        "filter": {"rider": ["Castilla"]},
        "credit": {"entries": 5, "bytes": 100},
    },
    {
        "id": 5,
        "op": "consume",
        "group": "g",
        "consumer": "c",
        "streams": [{"key": "s"}],
        "claim_min_idle_ms": 0,
        "on_close": "nack",
        "credit": 2,
    },
    {"id": 6, "op": "credit", "sub": 3, "entries": 7, "bytes": 0},
    {"id": 7, "op": "ack", "key": "s", "group": "g", "ids": ["1-1"], "delete": True},
    {"id": 8, "op": "nack", "key": "s", "group": "g", "ids": ["1-1"], "mode": "fail"},
    {
        "id": 9,
        "op": "claim",
        "key": "s",
        "group": "g",
        "consumer": "c",
        "min_idle_ms": 0,
        "ids": ["1-1"],
    },
    {"id": 10, "op": "unsubscribe", "sub": 3},
    {"id": 11, "op": "ping"},
)

HOT_REQUESTS: Final = (
    b"/v1/streams/s/entries\ncontent-type:application/json\ncontent-length:5\n\n" + BODIES[0],
    b"/v1/streams/a%2Fb%FF/entries:batch\ncontent-type:application/json\ncontent-length:5\n\n" + BODIES[3],
    b"/v1/streams/s/entries:import\ncontent-type:application/x-ndjson\ncontent-length:5\n\n" + BODIES[4],
    b"/v1/read-group\ncontent-type:application/json\ncontent-length:5\naccept:*/*\n\n" + BODIES[7],
    b"/v1/streams/s/groups/g:ack\ncontent-type:application/json\ncontent-length:5\n\n" + BODIES[6],
)

_GOOD_LINES: Final = BODIES[4]

SEEDS: Final[Mapping[str, Sequence[bytes]]] = {
    "commands": (*PROGRAMS, *PRELUDE),
    "command_bodies": (
        b'["XADD","s","*","a","b"]',
        b'["XLEN",{"base64":"/w=="},5]',
        b'[["XADD","s","*","a","b"],["XLEN","s"],["BAD"]]',
        b'[["XRANGE","s","-","+","COUNT",1]]',
    ),
    "hot_bodies": BODIES,
    "hot_requests": HOT_REQUESTS,
    "compressed_bodies": (
        gzip.compress(_GOOD_LINES, mtime=0),
        gzip.compress(_GOOD_LINES, mtime=0) + gzip.compress(BODIES[0], mtime=0),
        zstandard.compress(_GOOD_LINES),
        gzip.compress(bytes(1_000_000), mtime=0),
        zstandard.compress(bytes(1_000_000)),
    ),
    "resume_positions": (
        b"1-1",
        b"18446744073709551615-18446744073709551615",
        b"race%3Afrance=1-1&b%FF=0-3",
        b"5",
    ),
    "filters": (
        b'fields.status == "failed" && !(fields.region.startsWith("eu")) && double(fields.amount) >= 10.5',
        b"has(fields.a) || fields['odd name'] in [\"x\", r'\\d', b\"\\xff\"] || 1e3 < int(fields.b)",
        b'!(fields.a.endsWith(fields.b)) || false || "\\u00e9\\n\\101" != fields.b',
    ),
    "stored_values": (sealed(b"value", b"key"), sealed(b"value"), b"", b"abc"),
    "json_frames": (
        b"\n".join(map(msgspec.json.encode, REQUESTS)),
        msgspec.json.encode(REQUESTS[:4]),
        *map(msgspec.json.encode, REQUESTS),
    ),
    "msgpack_frames": (
        b"\xc1".join(map(msgspec.msgpack.encode, REQUESTS)),
        msgspec.msgpack.encode(REQUESTS[:4]),
        *map(msgspec.msgpack.encode, REQUESTS),
        # Found: a member named by bytes that are no text.
        msgspec.msgpack.encode({**REQUESTS[3], b"\xa1": 1}),
        msgspec.msgpack.encode({**REQUESTS[3], "streams": [{"key": "s", "after": "0", b"\xff": 1}]}),
    ),
}

WORDS: Final = sorted(
    {
        *(word for name in SYNTAXES for word in name.upper().split("|")),
        *(word for line in PROGRAMS for word in line.decode().split() if word.isupper()),
        *(f'"{name}"' for request in REQUESTS for name in request),
        *("BLOCK", "LASTID", "RETRYCOUNT", "TIME", "IDLE", "NOACK", "KEEPREF", "SILENT", "FATAL", "-0", "$"),
    }
)
"""Words that chance would take long to find."""
