"""The largest requests that carry Redis commands: one command, a pipeline, a transaction.

Owns the requests; the limits come from `core.limits`.
"""

from __future__ import annotations

from typing import Final

from bench.largest_forms import (
    command_case,
    large_adds,
    many_acks,
    refused,
    repeated_case,
    with_group,
)
from bench.largest_streams import (
    MIB,
    Case,
    Make,
    command,
    large,
    many_streams,
    named_streams,
    numbered,
    post,
    scattered,
    wide,
)
from tailrace.core.limits import (
    COMMAND_ARGUMENTS_MAX,
    KIB,
    PIPELINE_COMMANDS_MAX,
    TRANSACTION_COMMANDS_MAX,
)

_MANY: Final = large("many", "g")
_NOTHING: Final[Make] = lambda _state: ()  # noqa: E731 - a value like the others

COMMANDS: Final = (
    command_case("KEYS that match none", many_streams, "KEYS *a*a*a*b"),
    command_case("KEYS *", many_streams, "KEYS *"),
    command_case("SCAN 0 COUNT 1000000", many_streams, "SCAN 0 COUNT 1000000"),
    refused(command_case("XRANGE of all", _MANY, "XRANGE many - +")),
    command_case("XREAD of all", _MANY, "XREAD STREAMS many 0"),
    refused(command_case("XRANGE of entries of 15 MiB", wide, "XRANGE wide - +")),
    command_case(
        "XREADGROUP of all", with_group(_MANY, "many", "cg"), "XREADGROUP GROUP cg c STREAMS many >"
    ),
    command_case("XAUTOCLAIM COUNT 1000000", _MANY, "XAUTOCLAIM many g c 0 0 COUNT 1000000"),
    command_case("XAUTOCLAIM JUSTID", _MANY, "XAUTOCLAIM many g c 0 0 COUNT 1000000 JUSTID"),
    refused(command_case("XPENDING of all", _MANY, "XPENDING many g - + 1000000")),
    refused(command_case("XINFO STREAM FULL COUNT 0", _MANY, "XINFO STREAM many FULL COUNT 0")),
    command_case("COPY of all", _MANY, "COPY many copied"),
    Case("command", "XADD, fields", lambda s: [command("XADD", "cx", "*", *["f", "v"] * s.count(65_000))]),
    Case("command", "XDEL, ids", lambda s: [command("XDEL", "cdel", *scattered(s))], numbered("cdel", "g")),
    command_case("XTRIM ~ LIMIT 0", large("ctrim", "g"), "XTRIM ctrim MAXLEN ~ 0 LIMIT 0"),
    refused(
        Case("command", "words", lambda s: [command("WHAT", *["x"] * s.count(COMMAND_ARGUMENTS_MAX - 2))])
    ),
    Case("command", "XADD, 15 MiB", lambda s: [command("XADD", "cv", "*", "v", s.text(15 * MIB))]),
    repeated_case("pipeline", "XADD", PIPELINE_COMMANDS_MAX, "XADD p * f v", _NOTHING),
    Case("pipeline", "XADD of 1 MiB", lambda s: [post("/v1/command/pipeline", large_adds(s, 60, MIB))]),
    repeated_case("pipeline", "XRANGE of 15 MiB entries", 40, "XRANGE wide - +", wide),
    repeated_case("pipeline", "XRANGE", PIPELINE_COMMANDS_MAX, "XRANGE many - + COUNT 100", _MANY),
    repeated_case("pipeline", "XINFO FULL", PIPELINE_COMMANDS_MAX, "XINFO STREAM many FULL", _MANY),
    repeated_case("transaction", "XADD", TRANSACTION_COMMANDS_MAX, "XADD p * f v", _NOTHING),
    Case(
        "transaction",
        "XADD of 30 KiB",
        lambda s: [post("/v1/command/multi-exec", large_adds(s, TRANSACTION_COMMANDS_MAX, 30 * KIB))],
    ),
    refused(repeated_case("transaction", "XRANGE of 15 MiB entries", 40, "XRANGE wide - +", wide)),
    repeated_case("transaction", "XRANGE", TRANSACTION_COMMANDS_MAX, "XRANGE many - + COUNT 100", _MANY),
    Case("pipeline", "XACK of ids", lambda s: [post("/v1/command/pipeline", many_acks(s, 20))], _MANY),
    Case("transaction", "XACK of ids", lambda s: [post("/v1/command/multi-exec", many_acks(s, 1))], _MANY),
    refused(
        Case(
            "transaction",
            "XACK of ids, refused",
            lambda s: [post("/v1/command/multi-exec", many_acks(s, 20))],
            _MANY,
        )
    ),
    Case("command", "EXISTS", lambda s: [command("EXISTS", *named_streams(s))], many_streams),
    Case("command", "DEL", lambda s: [command("DEL", *named_streams(s))], many_streams),
    command_case("FLUSHALL", many_streams, "FLUSHALL"),
)
