"""The parts of a test server: the production application over an engine in memory, and its clock.

The settings ignore the environment, so `TAILRACE_` variables of the developer do not change a test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic_settings import PydanticBaseSettingsSource

from tailrace.api.access.security import Security
from tailrace.app.main import create_app, create_hot_routes
from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.audit import AuditLog
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import http_protocol
from tailrace.app.protocols.websocket import websocket_protocol
from tailrace.app.settings import Durability, Settings
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import new_identity
from tailrace.app.token_buckets import TokenBuckets
from tailrace.app.tokens.authenticator import FileAuthenticator
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.testing.clock import TestClock


class _Settings(Settings):
    """Settings from arguments only."""

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[PydanticBaseSettingsSource, ...]:
        return (sources["init_settings"],)


class Parts:
    """A store without data, its clock, its ASGI application, and its protocol classes.

    `directory` is an empty directory, in which the server looks for a tokens file.
    """

    def __init__(self, directory: Path) -> None:
        self.clock = TestClock()
        self.store = EngineStore(
            Engine(Keyspace(identity=new_identity())), self.clock.now_ms, self.clock.monotonic_ms
        )
        settings = _Settings(
            durability=Durability.NONE, data_dir=directory, tokens_file=directory / "tokens.json"
        )
        audit = AuditLog()
        tokens = FileAuthenticator(settings.tokens_path, audit)
        security = Security(tokens, audit, ())
        registry, rates = Connections(settings), TokenBuckets(settings)
        sources = Sources(self.store, None, registry, audit=audit)
        self.app = create_app(sources, settings, rates, tokens, security)
        self.http = http_protocol(registry, create_hot_routes(sources, rates, security))
        self.ws = websocket_protocol(registry)
