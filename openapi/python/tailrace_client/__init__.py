"""The Python client of Tailrace: streams over HTTP, for blocking and for asyncio programs.

The package uses only the server's published interface and none of the server's code. `generated` is generated
from the published document, with one module for each operation, and `blocking` from `asynchronous`. The other
modules are a thin layer written by hand: retries that append nothing twice, appends and reads of many
entries, tails that resume, and consumers of a group.

The names of `__all__` are the public interface. Each is loaded when it is first used, so that importing the
package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tailrace_client.asynchronous.client import AsyncTailrace
    from tailrace_client.asynchronous.consumer import AsyncConsumer
    from tailrace_client.asynchronous.group import AsyncGroup
    from tailrace_client.asynchronous.items import AsyncBatch, AsyncItem
    from tailrace_client.asynchronous.stream import AsyncStream
    from tailrace_client.blocking.client import Tailrace
    from tailrace_client.blocking.consumer import Consumer
    from tailrace_client.blocking.group import Group
    from tailrace_client.blocking.items import Batch, Item
    from tailrace_client.blocking.stream import Stream
    from tailrace_client.consumer_options import ConsumerOptions
    from tailrace_client.entries import Delivery, Entry
    from tailrace_client.entry_calls import Page
    from tailrace_client.errors import TailraceError
    from tailrace_client.fields import BadFieldError, ExactFields, Fields, FieldsToAppend
    from tailrace_client.group_settings import Backoff, GroupSettings
    from tailrace_client.hooks import ConsumerHooks, CountingHooks, LoggingHooks
    from tailrace_client.open_telemetry import OpenTelemetryHooks, current_traceparent
    from tailrace_client.retry import NO_RETRIES, RetryPolicy
    from tailrace_client.scheduled_calls import ScheduledEntry
    from tailrace_client.state_calls import Retention, StreamHead
    from tailrace_client.stream_calls import ImportResult, Producer, Trim
    from tailrace_client.tail import Gap, StreamEntry

__all__ = [
    "NO_RETRIES",
    "AsyncBatch",
    "AsyncConsumer",
    "AsyncGroup",
    "AsyncItem",
    "AsyncStream",
    "AsyncTailrace",
    "Backoff",
    "BadFieldError",
    "Batch",
    "Consumer",
    "ConsumerHooks",
    "ConsumerOptions",
    "CountingHooks",
    "Delivery",
    "Entry",
    "ExactFields",
    "Fields",
    "FieldsToAppend",
    "Gap",
    "Group",
    "GroupSettings",
    "ImportResult",
    "Item",
    "LoggingHooks",
    "OpenTelemetryHooks",
    "Page",
    "Producer",
    "Retention",
    "RetryPolicy",
    "ScheduledEntry",
    "Stream",
    "StreamEntry",
    "StreamHead",
    "Tailrace",
    "TailraceError",
    "Trim",
    "current_traceparent",
]

_MODULES = {
    "AsyncBatch": "asynchronous.items",
    "AsyncConsumer": "asynchronous.consumer",
    "AsyncGroup": "asynchronous.group",
    "AsyncItem": "asynchronous.items",
    "AsyncStream": "asynchronous.stream",
    "AsyncTailrace": "asynchronous.client",
    "Backoff": "group_settings",
    "BadFieldError": "fields",
    "Batch": "blocking.items",
    "Consumer": "blocking.consumer",
    "ConsumerHooks": "hooks",
    "ConsumerOptions": "consumer_options",
    "CountingHooks": "hooks",
    "Delivery": "entries",
    "Entry": "entries",
    "ExactFields": "fields",
    "Fields": "fields",
    "FieldsToAppend": "fields",
    "Gap": "tail",
    "Group": "blocking.group",
    "GroupSettings": "group_settings",
    "ImportResult": "stream_calls",
    "Item": "blocking.items",
    "LoggingHooks": "hooks",
    "NO_RETRIES": "retry",
    "OpenTelemetryHooks": "open_telemetry",
    "Page": "entry_calls",
    "Producer": "stream_calls",
    "Retention": "state_calls",
    "RetryPolicy": "retry",
    "ScheduledEntry": "scheduled_calls",
    "Stream": "blocking.stream",
    "StreamEntry": "tail",
    "StreamHead": "state_calls",
    "Tailrace": "blocking.client",
    "TailraceError": "errors",
    "Trim": "stream_calls",
    "current_traceparent": "open_telemetry",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(f"{__name__}.{module}"), name))


def __dir__() -> list[str]:
    return sorted(__all__)
