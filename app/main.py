"""Where the parts are joined: storage under the store, the API over it, the access log around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.application import create_api
from app import __version__
from app.access_log import AccessLog
from app.lifespan import keeping, ticking
from app.metrics import MetricsEndpoint
from app.service import EngineStore
from app.settings import Durability
from app.storage import Storage


def create_app(
    store: EngineStore, storage: Storage | None = None, durability: Durability = Durability.NONE
) -> AccessLog:
    """The ASGI application that serves `store`, keeps it in `storage`, and ticks it while it is served."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with keeping(store, storage, waits=durability is Durability.ALWAYS), ticking(store.tick):
            yield

    api = create_api(store, version=__version__, lifespan=lifespan)
    api.add_route("/metrics", MetricsEndpoint(store, storage).show, methods=["GET"], include_in_schema=False)
    return AccessLog(api)
