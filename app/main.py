"""Where the parts are joined: the API over the store, its ticking, and the access log around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.application import create_api
from app import __version__
from app.access_log import AccessLog
from app.lifespan import ticking
from app.service import EngineStore


def create_app(store: EngineStore) -> AccessLog:
    """The ASGI application that serves `store`, and ticks it while it is served."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with ticking(store.tick):
            yield

    return AccessLog(create_api(store, version=__version__, lifespan=lifespan))
