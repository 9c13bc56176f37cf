"""The parts of uvicorn that the server uses. Some are private, so the dependency is pinned below the next
minor version, and each part is listed here with a digest of its source.

If a test here fails, uvicorn has changed: read what changed, look at who relies on it, run the tests of
`tests/limits`, `tests/contract` and `tests/service`, and only then write the new digest down.
"""

from __future__ import annotations

import hashlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from packaging.requirements import Requirement
from packaging.version import Version
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import Server, ServerState

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

RELIED_UPON: dict[str, tuple[Any, str]] = {
    # app/protocols/asgi.py: runs the application; the adapter reads and sets its attributes
    "RequestResponseCycle": (RequestResponseCycle, "e67d470d435dcc1c"),
    "FlowControl": (FlowControl, "126debcdaa894c83"),
    "get_local_addr": (get_local_addr, "6be1e23931c77938"),
    "get_remote_addr": (get_remote_addr, "5cb127377672c133"),
    "is_ssl": (is_ssl, "cfb89711af847b7e"),
    # app/protocols/asgi.py and http.py: the sets of connections and tasks, and the headers of every answer
    "ServerState": (ServerState, "f2260fbf10154746"),
    # app/protocols/http.py: how uvicorn creates the protocol of a connection, and stops it
    "Server.startup": (Server.startup, "2aa1d70a244bfcf2"),
    "Server.shutdown": (Server.shutdown, "9b33c50562992b1e"),
    "Server.on_tick": (Server.on_tick, "60ea49b06ccf68c1"),
    # app/protocols/websocket.py: its base class
    "WebSocketsSansIOProtocol": (WebSocketsSansIOProtocol, "0bbcec98938432f7"),
}


def digest_of(thing: Any) -> str:
    return hashlib.sha256(inspect.getsource(thing).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", RELIED_UPON)
def test_what_the_server_relies_on_in_uvicorn_is_unchanged(name: str) -> None:
    thing, digest = RELIED_UPON[name]
    assert digest_of(thing) == digest


def test_the_constants_that_the_server_takes_from_uvicorn_are_unchanged() -> None:
    assert HIGH_WATER_LIMIT == 65_536
    assert STATUS_LINE[201] == b"HTTP/1.1 201 Created\r\n"
    assert STATUS_LINE[503] == b"HTTP/1.1 503 Service Unavailable\r\n"


def test_the_configuration_has_what_a_protocol_reads() -> None:
    config = Config("", log_config=None)
    needed = {"loaded", "load", "asgi_version", "ws_protocol_class", "http_protocol_class"}
    assert needed <= {*dir(config), *Config.load.__code__.co_names}
    assert "loaded_app" in Config.load.__code__.co_names
    assert not config.reset_contextvars, "the adapter starts tasks in the current context"
    assert config.root_path == "", "the adapter has none"
    assert config.limit_concurrency is None, "the registry of connections has the limits"


def test_uvicorn_is_pinned_below_the_next_minor_version() -> None:
    dependencies = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    (pin,) = (found for found in map(Requirement, dependencies) if found.name == "uvicorn")
    installed = Version(uvicorn.__version__)
    assert pin.specifier.contains(installed)
    assert not pin.specifier.contains(f"{installed.major}.{installed.minor + 1}.0")
