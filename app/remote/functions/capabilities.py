"""What an engine has itself, what the library does for it, and what is refused: found by asking, never by
version.

`detect` sends each question to a key that does not exist, so that nothing changes: an engine that knows
the word answers about the missing key, one that does not answers with a syntax error.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from tailrace.app.remote.functions.library import How
from tailrace.app.remote.functions.names import RESERVED
from tailrace.app.remote.link.port import EngineError, Link, Resp


class Support(StrEnum):
    """How a feature is provided."""

    NATIVE = "native"
    EMULATED = "emulated"
    REFUSED = "refused"


class Feature(Struct, frozen=True):
    """One feature on one engine."""

    name: str
    """The name in tables and in `GET /v1/limits`."""
    support: Support
    """How it is provided."""
    reason: str
    """What that means for a client, or what the engine would need, in one sentence."""

    @property
    def is_native(self) -> bool:
        """Whether the engine has it itself."""
        return self.support is Support.NATIVE


class Capabilities(Struct, frozen=True):
    """What one engine can do."""

    functions: Feature
    """Running the library at all."""
    xnack: Feature
    """XNACK."""
    xdelex: Feature
    """XDELEX."""
    xackdel: Feature
    """XACKDEL."""
    policies: Feature
    """KEEPREF, DELREF and ACKED of XADD and XTRIM."""
    claim: Feature
    """CLAIM of XREADGROUP."""
    budgets: Feature
    """MAXCOUNT and MAXSIZE of XREADGROUP."""
    read_budgets: Feature
    """MAXCOUNT and MAXSIZE of XREAD."""
    idmp: Feature
    """IDMP and IDMPAUTO of XADD, and XCFGSET."""
    idempotency: Feature
    """Idempotency keys with a body, a batch or an epoch."""
    batches: Feature
    """All-or-nothing batches, imports and `if_last_id`."""
    last_entry: Feature
    """The position ``+`` of XREAD."""
    empty_reads: Feature
    """A consumer that exists after a read or claim that returned nothing."""
    group_settings: Feature
    """Settings of groups, such as dead letters."""

    @property
    def how(self) -> How | None:
        """How the library runs; None if it cannot."""
        if self.functions.support is Support.REFUSED:
            return None
        return "functions" if self.functions.is_native else "scripts"

    def features(self) -> list[Feature]:
        """All features in the order of the table."""
        return [getattr(self, name) for name in self.__struct_fields__]


NEEDS_OWN_STORAGE: Final = "a server with its own storage"
"""What a feature needs that the gateway has on no engine."""

_ABSENT: Final = RESERVED + b"probe"
_G: Final = b"g"
_UNKNOWN: Final = (b"ERR unknown command", b"ERR syntax error", b"ERR Invalid stream ID", b"ERR wrong number")

_PROBES: Final[dict[str, Sequence[bytes]]] = {
    "xnack": (b"XNACK", _ABSENT, _G, b"SILENT", b"IDS", b"1", b"1-1"),
    "xdelex": (b"XDELEX", _ABSENT, b"IDS", b"1", b"1-1"),
    "xackdel": (b"XACKDEL", _ABSENT, _G, b"IDS", b"1", b"1-1"),
    "policies": (b"XTRIM", _ABSENT, b"MAXLEN", b"0", b"ACKED"),
    "claim": (b"XREADGROUP", b"GROUP", _G, _G, b"CLAIM", b"0", b"STREAMS", _ABSENT, b">"),
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
        _ABSENT,
        b">",
    ),
    "read_budgets": (b"XREAD", b"MAXCOUNT", b"1", b"MAXSIZE", b"1", b"STREAMS", _ABSENT, b"0"),
    "idmp": (b"XADD", _ABSENT, b"NOMKSTREAM", b"IDMP", _G, _G, b"*", b"f", b"v"),
    "last_entry": (b"XREAD", b"STREAMS", _ABSENT, b"+"),
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

_REASONS: Final[dict[str, tuple[str, str, str]]] = {
    "xnack": ("XNACK", "nacked entries belong to a hidden consumer", "XNACK (Redis 8.8)"),
    "xdelex": ("XDELEX", "deletes entry by entry, in one step", "XDELEX (Redis 8.2, Valkey 9.2)"),
    "xackdel": ("XACKDEL", "deletes entry by entry, in one step", "XACKDEL (Redis 8.2, Valkey 9.2)"),
    "policies": (
        "KEEPREF, DELREF, ACKED of XADD and XTRIM",
        "a trim under DELREF or ACKED looks at each entry, so its size has a limit",
        "reference policies (Redis 8.2)",
    ),
    "claim": (
        "CLAIM of XREADGROUP",
        "takes the longest idle entries of the first 1000 idle ones by id, 5000 in one read",
        "CLAIM (Redis 8.4)",
    ),
    "budgets": ("MAXCOUNT, MAXSIZE of XREADGROUP", "reads ahead to measure", "MAXCOUNT (Redis 8.10)"),
    "read_budgets": ("MAXCOUNT, MAXSIZE of XREAD", "the gateway cuts the reply", "MAXCOUNT (Redis 8.10)"),
    "idmp": (
        "IDMP, IDMPAUTO of XADD; XCFGSET",
        "keys are kept in a hash next to the stream",
        "IDMP (Redis 8.6)",
    ),
    "last_entry": ("XREAD with +", "the gateway reads the last entry's id first", "XREAD with + (Redis 7.4)"),
}


async def detect(link: Link) -> Capabilities:
    """Ask the engine. A few round trips. Raises `LinkDown`."""
    how = await _how(link)
    native = {name: await _knows(link, words) for name, words in _PROBES.items()}
    return Capabilities(
        functions=_functions(how),
        **{name: _feature(name, is_native=native[name], how=how) for name in _PROBES},
        idempotency=_library_only("idempotency keys of the API", how),
        batches=_library_only("all-or-nothing batches, if_last_id", how),
        empty_reads=await _empty_reads(link, how),
        group_settings=Feature(
            "settings of groups (dead letters)", Support.REFUSED, f"needs {NEEDS_OWN_STORAGE}"
        ),
    )


def _feature(name: str, *, is_native: bool, how: How | None) -> Feature:
    title, emulation, needed = _REASONS[name]
    if is_native:
        return Feature(title, Support.NATIVE, "the engine has it")
    if how is None and name not in {"read_budgets", "last_entry"}:
        return Feature(title, Support.REFUSED, f"needs {needed}, or functions or scripts")
    return Feature(title, Support.EMULATED, emulation)


def _library_only(title: str, how: How | None) -> Feature:
    if how is None:
        return Feature(title, Support.REFUSED, "needs functions or scripts")
    return Feature(title, Support.EMULATED, "one function call on the stream's slot")


def _functions(how: How | None) -> Feature:
    title = "server-side functions"
    if how is None:
        return Feature(
            title,
            Support.REFUSED,
            "needs FUNCTION and FCALL, or SCRIPT and EVALSHA, and the right to call them",
        )
    if how == "functions":
        return Feature(title, Support.NATIVE, "one library, loaded on every master")
    return Feature(
        title,
        Support.EMULATED,
        "scripts instead: the engine may forget them, and the gateway loads them again",
    )


async def _how(link: Link) -> How | None:
    """Whether the engine, and this user, can load and run functions, or else scripts."""
    if await _knows_all(link, _FUNCTION_PROBES):
        return "functions"
    return "scripts" if await _knows_all(link, _SCRIPT_PROBES) else None


async def _knows_all(link: Link, probes: Sequence[Sequence[bytes]]) -> bool:
    for words in probes:
        if not await _knows(link, words, is_keyed=False):
            return False
    return True


async def _knows(link: Link, words: Sequence[bytes], *, is_keyed: bool = True) -> bool:
    try:
        await link.call(words, key=_ABSENT if is_keyed else None, is_write=False)
    except EngineError as error:
        return not error.line.startswith((*_UNKNOWN, b"NOPERM"))
    return True


async def _empty_reads(link: Link, how: How | None) -> Feature:
    """Redis 7.2 creates the consumer of an empty read, and since then tells how long a consumer was
    inactive."""
    title = "a consumer exists after an empty read"
    try:
        docs = await link.call([b"COMMAND", b"DOCS", b"xinfo|consumers"], key=None, is_write=False)
    except EngineError:
        docs = []
    if b"inactive" in _flat(docs):
        return Feature(title, Support.NATIVE, "the engine has it")
    if how is None:
        return Feature(title, Support.REFUSED, "needs Redis 7.2, or functions or scripts")
    return Feature(title, Support.EMULATED, "XGROUP CREATECONSUMER before the read")


def _flat(value: Resp | EngineError) -> bytes:
    """All strings of a reply, joined."""
    if isinstance(value, list):
        return b"\n".join(map(_flat, value))
    return value if isinstance(value, bytes) else b""
