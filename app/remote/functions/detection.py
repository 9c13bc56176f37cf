"""Asks an engine what it can do, never by version.

Masters of one Cluster can differ, for example during an upgrade: the least of them counts. Each question is
about a key that does not exist, so that nothing changes: an engine that knows the word answers about the
missing key, one that does not answers with a syntax error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.functions.capabilities import (
    BYTES,
    DELAY,
    FILTERS,
    OTHER_SETTINGS,
    Capabilities,
    Feature,
    common_of,
    empty_reads_of,
    feature_of,
    functions_of,
    library_only,
)
from tailrace.app.remote.functions.library import How
from tailrace.app.remote.functions.names import RESERVED
from tailrace.app.remote.link.port import EngineError, Link, Resp

ABSENT: Final = RESERVED + b"probe"
"""A key that no stream has."""
_NAMES_MAX: Final = 100_000
"""How many names are tried to find one for each master; a master of a single slot takes some ten thousand."""
_G: Final = b"g"
_UNKNOWN: Final = (b"ERR unknown command", b"ERR syntax error", b"ERR Invalid stream ID", b"ERR wrong number")

_PROBES: Final[dict[str, Sequence[bytes]]] = {
    "xnack": (b"XNACK", ABSENT, _G, b"SILENT", b"IDS", b"1", b"1-1"),
    "xdelex": (b"XDELEX", ABSENT, b"IDS", b"1", b"1-1"),
    "xackdel": (b"XACKDEL", ABSENT, _G, b"IDS", b"1", b"1-1"),
    "policies": (b"XTRIM", ABSENT, b"MAXLEN", b"0", b"ACKED"),
    "claim": (b"XREADGROUP", b"GROUP", _G, _G, b"CLAIM", b"0", b"STREAMS", ABSENT, b">"),
    "budgets": (
        b"XREADGROUP",
        b"GROUP",
        _G,
        _G,
        b"MAXCOUNT",
        b"1",
        b"MAXSIZE",
        b"1",
        b"STREAMS",
        ABSENT,
        b">",
    ),
    "read_budgets": (b"XREAD", b"MAXCOUNT", b"1", b"MAXSIZE", b"1", b"STREAMS", ABSENT, b"0"),
    "idmp": (b"XADD", ABSENT, b"NOMKSTREAM", b"IDMP", _G, _G, b"*", b"f", b"v"),
    "last_entry": (b"XREAD", b"STREAMS", ABSENT, b"+"),
}
"""One question for each feature that an engine may have."""

_FUNCTION_PROBES: Final = (
    # No library, and no function of that name.
    (b"FUNCTION", b"LOAD", b"return 1"),
    (b"FCALL", b"tailrace_none", b"0"),
    (b"FCALL_RO", b"tailrace_none", b"0"),
)
_SCRIPT_PROBES: Final = (
    (b"SCRIPT", b"LOAD", b"return 1"),
    (b"EVALSHA", b"0" * 40, b"0"),
    (b"EVALSHA_RO", b"0" * 40, b"0"),
)


async def detect(link: Link) -> Capabilities:
    """Ask all masters, and return what every one of them can do. A few round trips. Raises `LinkDown`."""
    found = await asyncio.gather(*(_Asking(link, *place).capabilities() for place in places(link)))
    return common_of(found)


def places(link: Link) -> list[tuple[str, bytes]]:
    """Return each master that serves slots, with a name of a key that it serves."""
    masters = [master.address for master in link.masters() if master.slots or not link.is_cluster]
    if not link.is_cluster:
        return [(address, ABSENT) for address in masters]
    keys: dict[str | None, bytes] = {}
    for number in range(_NAMES_MAX):
        key = ABSENT + b"%d" % number
        keys.setdefault(link.master_of(key), key)
        if keys.keys() >= set(masters):
            break
    return [(address, keys[address]) for address in masters if address in keys]


class _Asking:
    """The questions to the master at `address`, which serves `key`."""

    def __init__(self, link: Link, address: str, key: bytes) -> None:
        self._link = link
        self._address = address
        self._key = key

    async def capabilities(self) -> Capabilities:
        how = await self._how()
        native = {name: await self._knows(words) for name, words in _PROBES.items()}
        return Capabilities(
            functions=functions_of(how),
            **{name: feature_of(name, is_native=native[name], how=how) for name in _PROBES},
            idempotency=library_only("idempotency keys of the API", how),
            batches=library_only("all-or-nothing batches, if_last_id", how),
            empty_reads=await self._empty_reads(how),
            leases=library_only("`:extend` of leases", how),
            gathering=library_only(
                "`min_count`, `linger_ms` of reads", how, "the gateway waits, and the engine counts"
            ),
            group_settings=library_only(
                "settings of groups: `max_deliveries`, `dead_letter_stream`, `claim_min_idle_ms`; `:redrive`",
                how,
                "kept in a hash next to the stream; on a Cluster, dead letters need the stream's slot",
            ),
            other_settings=OTHER_SETTINGS,
            retention=library_only(
                "retention of streams: `max_age_ms`, `max_length`, `acknowledged`, `protect_unread`",
                how,
                "each append trims, and each gateway trims again, stream by stream",
            ),
            max_bytes=BYTES,
            delay=DELAY,
            filters=FILTERS,
        )

    async def _how(self) -> How | None:
        """Whether the engine, and this user, can load and run functions, or else scripts."""
        if await self._knows_all(_FUNCTION_PROBES):
            return "functions"
        return "scripts" if await self._knows_all(_SCRIPT_PROBES) else None

    async def _knows_all(self, probes: Sequence[Sequence[bytes]]) -> bool:
        for words in probes:
            if not await self._knows(words):
                return False
        return True

    async def _knows(self, words: Sequence[bytes]) -> bool:
        try:
            if ABSENT in words:
                named = [self._key if word == ABSENT else word for word in words]
                await self._link.call(named, key=self._key, is_write=False)
            else:
                await self._link.call_node(self._address, words, is_write=False)
        except EngineError as error:
            return not error.line.startswith((*_UNKNOWN, b"NOPERM"))
        return True

    async def _empty_reads(self, how: How | None) -> Feature:
        """Since Redis 7.2, which creates such consumers, the engine tells how long one was inactive."""
        words = [b"COMMAND", b"DOCS", b"xinfo|consumers"]
        try:
            docs = await self._link.call_node(self._address, words, is_write=False)
        except EngineError:
            docs = []
        return empty_reads_of(how, is_native=b"inactive" in _flat(docs))


def _flat(value: Resp | EngineError) -> bytes:
    """All strings of a reply, joined."""
    if isinstance(value, list):
        return b"\n".join(map(_flat, value))
    return value if isinstance(value, bytes) else b""
