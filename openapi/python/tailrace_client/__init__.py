"""The Python client of Tailrace: streams over HTTP, for blocking and for asyncio programs.

The package uses only the server's published interface and none of the server's code. `generated` is generated
from the published document, with one module for each operation. The other modules are a thin layer written by
hand: retries that append nothing twice, appends and reads of many entries, tails that resume, and consumers
of a group.
"""

from tailrace_client.async_client import AsyncTailrace
from tailrace_client.async_consumer import AsyncConsumer
from tailrace_client.async_group import AsyncGroup
from tailrace_client.async_stream import AsyncStream
from tailrace_client.client import Tailrace
from tailrace_client.consumer import Consumer
from tailrace_client.entries import Delivery, Entry
from tailrace_client.entry_calls import Page
from tailrace_client.errors import TailraceError
from tailrace_client.fields import BadFieldError, ExactFields, Fields, FieldsToAppend
from tailrace_client.group import Group
from tailrace_client.items import AsyncItem, Item
from tailrace_client.retry import NO_RETRIES, RetryPolicy
from tailrace_client.state_calls import StreamHead
from tailrace_client.stream import Stream
from tailrace_client.stream_calls import ImportResult, Producer, Trim
from tailrace_client.tail import Gap, StreamEntry

__all__ = [
    "NO_RETRIES",
    "AsyncConsumer",
    "AsyncGroup",
    "AsyncItem",
    "AsyncStream",
    "AsyncTailrace",
    "BadFieldError",
    "Consumer",
    "Delivery",
    "Entry",
    "ExactFields",
    "Fields",
    "FieldsToAppend",
    "Gap",
    "Group",
    "ImportResult",
    "Item",
    "Page",
    "Producer",
    "RetryPolicy",
    "Stream",
    "StreamEntry",
    "StreamHead",
    "Tailrace",
    "TailraceError",
    "Trim",
]
