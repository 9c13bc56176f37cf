"""What an engine has itself, what the library does for it, and what is refused.

Owns the names of the features and the sentences about them. `detection` asks the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from tailrace.app.remote.functions.library import How


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
    retention: Feature
    """The retention of streams."""
    delay: Feature
    """Appends and nacks with a delay."""
    filters: Feature
    """Filters of reads that are not of a group."""

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

GROUP_SETTINGS: Final = Feature(
    "settings of groups (dead letters, leases, lag alert), `:extend`, `min_count` of a read",
    Support.REFUSED,
    f"needs {NEEDS_OWN_STORAGE}",
)

RETENTION: Final = Feature("retention of streams", Support.REFUSED, f"needs {NEEDS_OWN_STORAGE}")
DELAY: Final = Feature(
    "appends and nacks with a delay, scheduled entries", Support.REFUSED, f"needs {NEEDS_OWN_STORAGE}"
)
FILTERS: Final = Feature(
    "filters of ranges, exports, tails and subscriptions",
    Support.EMULATED,
    "the gateway reads in steps and tests each entry",
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


def feature_of(name: str, *, is_native: bool, how: How | None) -> Feature:
    """Return how the feature `name` is provided by an engine that has it, or not."""
    title, emulation, needed = _REASONS[name]
    if is_native:
        return Feature(title, Support.NATIVE, "the engine has it")
    if how is None and name not in {"read_budgets", "last_entry"}:
        return Feature(title, Support.REFUSED, f"needs {needed}, or functions or scripts")
    return Feature(title, Support.EMULATED, emulation)


def library_only(title: str, how: How | None) -> Feature:
    """Return a feature that no engine has, so that the library provides it."""
    if how is None:
        return Feature(title, Support.REFUSED, "needs functions or scripts")
    return Feature(title, Support.EMULATED, "one function call on the stream's slot")


def functions_of(how: How | None) -> Feature:
    """Return the feature of running the library."""
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


def empty_reads_of(how: How | None, *, is_native: bool) -> Feature:
    """Return the feature of consumers that exist after an empty read, which Redis 7.2 introduced."""
    title = "a consumer exists after an empty read"
    if is_native:
        return Feature(title, Support.NATIVE, "the engine has it")
    if how is None:
        return Feature(title, Support.REFUSED, "needs Redis 7.2, or functions or scripts")
    return Feature(title, Support.EMULATED, "XGROUP CREATECONSUMER before the read")


def common_of(found: Sequence[Capabilities]) -> Capabilities:
    """Return the least support of each feature."""
    return Capabilities(
        *(max(each, key=_rank) for each in zip(*map(Capabilities.features, found), strict=True))
    )


def _rank(feature: Feature) -> int:
    return tuple(Support).index(feature.support)
