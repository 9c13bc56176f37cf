"""The store of `tailrace serve`: with its own storage, or in front of an engine.

It owns which options belong to which store, and the errors of a store that cannot be used. It never serves a
request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import typer

from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.protocols.connections import Connections
from tailrace.app.server import CannotStart
from tailrace.app.settings import Durability, Settings
from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage, new_identity
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import MIB
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.storage.damage import Damage

if TYPE_CHECKING:
    from tailrace.app.remote.store import RemoteStore

_OWN_STORAGE: Final = ("durability", "cache_mb", "memory_limit_mb")
"""Settings of a server with its own storage."""

_ENGINE: Final = ("min_replicas", "min_replicas_timeout_ms", "accept_eviction")
"""Settings of a server in front of an engine."""


def require_one_store(settings: Settings) -> None:
    """Refuse options without an effect on the store that was chosen."""
    without_effect, why = (
        (_ENGINE, "with --store; add --store, or leave it out")
        if settings.store is None
        else (_OWN_STORAGE, "without --store; leave one of them out")
    )
    for name in without_effect:
        if name in settings.model_fields_set:
            raise typer.BadParameter(f"--{name.replace('_', '-')} has an effect only {why}")


def sources_of(settings: Settings, registry: Connections) -> Sources:
    """Return the store, with its own storage or in front of an engine. Raises `CannotStart`."""
    slow_log, readers_max = SlowLog(settings.slow_log_ms), settings.waiting_readers_max
    if settings.store is not None:
        return Sources(_remote_store(settings, slow_log), None, registry)
    storage = _open_storage(settings)
    engine = Engine(Keyspace(identity=new_identity()) if storage is None else storage.keyspace)
    return Sources(EngineStore(engine, slow_log=slow_log, readers_max=readers_max), storage, registry)


def _remote_store(settings: Settings, slow_log: SlowLog) -> RemoteStore:
    """Return the store in front of an engine, which was reached once. Raises `CannotStart` if it cannot be
    used."""
    # A server with its own storage does not load the client of the engine.
    from tailrace.app.remote.opening import CannotUseEngine, check  # noqa: PLC0415
    from tailrace.app.remote.store import RemoteStore  # noqa: PLC0415

    try:
        asyncio.run(check(settings))
    except CannotUseEngine as error:
        raise CannotStart(str(error)) from None
    return RemoteStore(slow_log, settings.waiting_readers_max)


def _open_storage(settings: Settings) -> Storage | None:
    """Open the data directory; None for durability `none`. Raises `CannotStart` if it cannot be used."""
    if settings.durability is Durability.NONE:
        return None
    try:
        return Storage(settings.data_dir, BlockCache(settings.cache_mb * MIB))
    except Damage as error:
        raise CannotStart(f"the data directory {refusal(settings.data_dir, error)}") from error
    except STORAGE_ERRORS as error:
        raise CannotStart(refusal(settings.data_dir, error)) from error
