"""The AsyncAPI document of the WebSocket and of Server-Sent Events, generated from the models of the server.

It owns the document's structure. The requests are in `api.websocket.requests`; entries and problems are the
models of the HTTP API. `tailrace openapi --asyncapi` prints the document.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from tailrace.api.schemas import DOCUMENTED_MODELS
from tailrace.api.websocket.messages import MESSAGES
from tailrace.api.websocket.requests import REQUESTS
from tailrace.api.websocket.route import WEBSOCKET_PATH
from tailrace.api.websocket_limits import CloseCode

ASYNCAPI_VERSION: Final = "3.0.0"

_REF: Final = "#/components/schemas/{model}"

DESCRIPTION: Final = """\
Streams over a WebSocket and over Server-Sent Events.

* Every request has an `id`. Its reply has the same `id`, and `ok` or `error` (a problem). You can send
  requests without waiting for replies; the server answers them in order. A message can be an array of
  requests; the replies are then one array.
* A push has `sub` instead of `id`: the `id` of the request that opened the subscription.
* The server pushes entries only while the subscription has credit.
* Subprotocols: `tailrace.v1.json` (text, the default) and `tailrace.v1.msgpack` (binary). In msgpack, names
  and values are `str`, or `bin` if an entry is not all UTF-8, so `encoding` is not needed.
* If the server has tokens, send `Authorization: Bearer <token>` in the handshake. Web pages cannot set this
  header: they get a ticket with `POST /v1/tickets` and send `tailrace.ticket.<ticket>` as the second
  subprotocol. When the token is revoked or expires, the server ends each subscription and closes the
  WebSocket with code 4501.
"""


def asyncapi_document(version: str) -> dict[str, Any]:
    """Return the document for this version of Tailrace."""
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": "Tailrace",
            "version": version,
            "description": DESCRIPTION,
            "contact": {"name": "The Tailrace authors"},
            "license": {"name": "Apache-2.0"},
            "tags": [{"name": "websocket"}, {"name": "server-sent-events"}],
        },
        "servers": {
            "default": {
                "host": "localhost:8080",
                "protocol": "ws",
                "description": "A server on this machine with the default port.",
            }
        },
        "defaultContentType": "application/json",
        "channels": {"websocket": _websocket_channel(), **_tail_channels()},
        "operations": _operations(),
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


def _websocket_channel() -> dict[str, Any]:
    names = [_request_name(op) for op in REQUESTS] + list(MESSAGES)
    return {
        "address": WEBSOCKET_PATH,
        "title": "WebSocket",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "bindings": {"ws": {"method": "GET"}},
        "x-subprotocols": ["tailrace.v1.json", "tailrace.v1.msgpack"],
        "x-close-codes": {str(int(code)): code.name.lower().replace("_", " ") for code in CloseCode},
    }


def _tail_channels() -> dict[str, Any]:
    messages = {name: {"$ref": f"#/components/messages/{name}"} for name in _EVENTS}
    return {
        "tail": {
            "address": "/v1/streams/{key}/entries:tail",
            "title": "Server-Sent Events of one stream",
            "parameters": {"key": {"description": "The stream's key, percent-encoded."}},
            "messages": messages,
        },
        "tails": {
            "address": "/v1/tail",
            "title": "Server-Sent Events of several streams",
            "messages": messages,
        },
    }


def _operations() -> dict[str, Any]:
    """Return the operations of the server: it receives requests and sends all other messages."""
    requests = [f"#/channels/websocket/messages/{_request_name(op)}" for op in REQUESTS]
    pushes = [f"#/channels/websocket/messages/{name}" for name in MESSAGES]
    return {
        "receive_requests": _operation("receive", "websocket", requests, "The server receives requests."),
        "send_messages": _operation("send", "websocket", pushes, "The server sends replies and pushes."),
        **{
            f"send_events_of_{channel}": _operation(
                "send",
                channel,
                [f"#/channels/{channel}/messages/{name}" for name in _EVENTS],
                "The server sends entries as events.",
            )
            for channel in ("tail", "tails")
        },
    }


def _operation(action: str, channel: str, messages: list[str], description: str) -> dict[str, Any]:
    return {
        "action": action,
        "description": description,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": message} for message in messages],
    }


def _request_name(op: str) -> str:
    return f"{op}_request"


def _messages() -> dict[str, Any]:
    requests = {
        _request_name(op): _message(op, model.__doc__, _REF.format(model=model.__name__), _example(model))
        for op, model in REQUESTS.items()
    }
    sent = {
        name: _message(name, model.__doc__, _REF.format(model=model.__name__), _example(model))
        for name, model in MESSAGES.items()
    }
    return {**requests, **sent, **{name: _event(name, text) for name, text in _EVENTS.items()}}


def _message(name: str, text: str | None, schema: str, example: Any) -> dict[str, Any]:
    return {
        "name": name,
        "summary": (text or "").partition("\n")[0],
        "payload": {"$ref": schema},
        "examples": [{"payload": example}],
    }


_EVENTS: Final = {
    "entries": "New entries: an array, or with several streams an object with `key`, `entries` and `next`. "
    "Without entries, the event only tells the position.",
    "gap": "Entries after `from` and before `to` were trimmed.",
    "end": "The tail has ended; the data is a problem that says why.",
    "problem": "The server failed; the data is a problem.",
}
"""Events of a tail. The OpenAPI document describes them as well."""


def _event(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "summary": text, "contentType": "text/event-stream", "payload": {}}


def _example(model: type[Any]) -> Any:
    return TypeAdapter(model).json_schema()["example"]


def _schemas() -> dict[str, Any]:
    models = dict.fromkeys((*REQUESTS.values(), *MESSAGES.values(), *DOCUMENTED_MODELS))
    _, definitions = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    schemas: dict[str, Any] = definitions["$defs"]
    return {name: schemas[name] for name in _reachable(schemas)}


def _reachable(schemas: dict[str, Any]) -> list[str]:
    """Return the models of messages and all models that they refer to, in order of their names."""
    found: set[str] = set()
    waiting = [model.__name__ for model in (*REQUESTS.values(), *MESSAGES.values())]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(schemas[name]))
    return sorted(found)


def _references(schema: object) -> list[str]:
    if isinstance(schema, dict):
        here = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return here + [name for value in schema.values() for name in _references(value)]
    if isinstance(schema, list):
        return [name for value in schema for name in _references(value)]
    return []
