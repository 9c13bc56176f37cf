"""Wire models of the server itself: its limits and its state."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import WireModel
from tailrace.api.server_limits import ServerLimits
from tailrace.api.websocket_limits import FRAME_BYTES_MAX, REQUESTS_PER_FRAME_MAX, SUBSCRIPTIONS_MAX
from tailrace.api.websocket_limits import REPLY_BYTES_MAX as SOCKET_REPLY_BYTES_MAX
from tailrace.core import limits


class Health(WireModel):
    """The process answers."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ok"}})

    status: Literal["ok"] = Field(description="Always `ok`.", examples=["ok"])


class Readiness(WireModel):
    """The server takes requests."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ready"}})

    status: Literal["ready"] = Field(description="Always `ready`; else it is a 503.", examples=["ready"])


def _bound(value: int, description: str) -> Any:
    """A field whose example is the bound itself."""
    return Field(description=description, examples=[value])


def _require_all(schema: dict[str, Any]) -> None:
    """The defaults are an operator's, not a reader's: an answer has every member."""
    schema["required"] = list(schema["properties"])
    for shown in schema["properties"].values():
        shown.pop("default", None)
    schema["example"] = {name: shown["examples"][0] for name, shown in schema["properties"].items()}


class Limits(WireModel, ServerLimits):
    """Every bound of the server: what its operator sets, and what one request may cost, which is fixed. They
    do not bound what a stream may hold."""

    model_config = ConfigDict(json_schema_extra=_require_all)

    name_bytes_max: int = _bound(limits.NAME_BYTES_MAX, "Bytes of a key, group or consumer name.")
    fields_per_entry_max: int = _bound(limits.FIELDS_PER_ENTRY_MAX, "Field-value pairs of one entry.")
    entry_bytes_max: int = _bound(limits.ENTRY_BYTES_MAX, "Bytes of one entry's fields as JSON.")
    body_bytes_max: int = _bound(limits.BODY_BYTES_MAX, "Bytes of a body, after decompression.")
    body_members_max: int = _bound(
        limits.BODY_MEMBERS_MAX, "gzip members or zstd frames of one compressed body."
    )
    large_imports_max: int = _bound(
        limits.LARGE_IMPORTS_MAX, "Import bodies above 1 MiB that are read at a time; the others wait."
    )
    batch_entries_max: int = _bound(limits.BATCH_ENTRIES_MAX, "Entries of one batch or import.")
    body_lines_max: int = _bound(limits.BODY_LINES_MAX, "Lines of an NDJSON body, blank ones included.")
    bulk_elements_max: int = _bound(
        limits.BULK_ELEMENTS_MAX,
        "Members and items in a body of a batch, an import or a pipeline, or in a WebSocket message.",
    )
    body_elements_max: int = _bound(limits.BODY_ELEMENTS_MAX, "Members and items in any other JSON body.")
    ids_per_request_max: int = _bound(limits.IDS_PER_REQUEST_MAX, "Ids named in one request.")
    reference_looks_max: int = _bound(
        limits.REFERENCE_LOOKS_MAX,
        "Ids times groups with pending entries of one deletion by the policy `delete` or `acknowledged`.",
    )
    keys_per_request_max: int = _bound(limits.KEYS_PER_REQUEST_MAX, "Keys named in one DEL or EXISTS.")
    url_bytes_max: int = _bound(limits.URL_BYTES_MAX, "Bytes of a request's target.")
    head_bytes_max: int = _bound(limits.HEAD_BYTES_MAX, "Bytes of a request's line and headers, or trailer.")
    headers_max: int = _bound(limits.HEADERS_MAX, "Header lines of one request.")
    frame_bytes_max: int = _bound(FRAME_BYTES_MAX, "Bytes of one WebSocket message.")
    requests_per_frame_max: int = _bound(REQUESTS_PER_FRAME_MAX, "Requests in one WebSocket message.")
    subscriptions_per_socket_max: int = _bound(SUBSCRIPTIONS_MAX, "Subscriptions of one WebSocket.")
    read_streams_max: int = _bound(limits.READ_STREAMS_MAX, "Streams named in one read.")
    page_entries_max: int = _bound(limits.PAGE_ENTRIES_MAX, "Entries of one page, and the default count.")
    read_entries_max: int = _bound(
        limits.READ_ENTRIES_MAX,
        "Entries of one read of several streams, group read or read after a position, and pending entries of "
        "one page, whatever count was asked for.",
    )
    page_bytes_max: int = _bound(limits.PAGE_BYTES_MAX, "Bytes at which a page ends early.")
    list_page_max: int = _bound(limits.LIST_PAGE_MAX, "Streams in one page of the listing.")
    list_page_default: int = _bound(limits.LIST_PAGE_DEFAULT, "Streams in a page where no limit is given.")
    pipeline_commands_max: int = _bound(limits.PIPELINE_COMMANDS_MAX, "Commands of one pipeline.")
    transaction_commands_max: int = _bound(limits.TRANSACTION_COMMANDS_MAX, "Commands of one transaction.")
    transaction_steps_max: int = _bound(
        limits.TRANSACTION_STEPS_MAX,
        "Estimated work of one transaction, in steps of about a microsecond: 10 for a command, 6 for an id.",
    )
    command_steps_max: int = _bound(
        limits.COMMAND_STEPS_MAX, "Steps that one command of a transaction counts as at most."
    )
    command_arguments_max: int = _bound(limits.COMMAND_ARGUMENTS_MAX, "Words of one command.")
    copy_parts_max: int = _bound(
        limits.COPY_PARTS_MAX,
        "Blocks, groups, consumers, pending entries and idempotency keys that one COPY may copy.",
    )
    pattern_bytes_max: int = _bound(limits.PATTERN_BYTES_MAX, "Bytes of a glob pattern.")
    matching_steps_max: int = _bound(
        limits.MATCHING_STEPS_MAX,
        "Work on glob patterns in one request: a key that is looked at takes 64 steps or more.",
    )
    scan_count_max: int = _bound(
        limits.SCAN_COUNT_MAX, "Keys that one `SCAN` looks at, whatever its `COUNT`."
    )
    xautoclaim_scan_max: int = _bound(
        limits.XAUTOCLAIM_SCAN_MAX, "Pending entries that one scan for idle ones looks at."
    )
    acked_trim_looks_max: int = _bound(
        limits.ACKED_TRIM_LOOKS_MAX,
        "Blocks and entries that one trim by the policy `acknowledged` looks at where entries are pending.",
    )
    reply_bytes_max: int = _bound(
        limits.REPLY_BYTES_MAX,
        "Bytes of the replies of one request: the JSON text of entries and names, and 128 for each.",
    )
    socket_reply_bytes_max: int = _bound(
        SOCKET_REPLY_BYTES_MAX, "The same of the replies to one WebSocket message."
    )
    turn_commands_max: int = _bound(
        limits.TURN_COMMANDS_MAX, "Commands of a pipeline that run before other requests get a turn."
    )
    turn_steps_max: int = _bound(
        limits.TURN_STEPS_MAX, "Steps of a pipeline after which other requests get a turn."
    )
    turn_reply_bytes_max: int = _bound(
        limits.TURN_REPLY_BYTES_MAX, "Bytes of replies after which other requests get a turn."
    )
    split_parts_max: int = _bound(limits.SPLIT_PARTS_MAX, "Parts that a range is split into at once.")
    wait_ms_max: int = _bound(limits.WAIT_MS_MAX, "The longest wait of one request, in milliseconds.")
    element_bytes_max: int = _bound(limits.ELEMENT_BYTES_MAX, "Bytes of one entry's names and values.")
    node_entries_default: int = _bound(
        limits.NODE_ENTRIES_DEFAULT, "Entries of a block: the unit of approximate trimming."
    )
    node_bytes_default: int = _bound(
        limits.NODE_BYTES_DEFAULT, "Bytes of a block: the unit of approximate trimming."
    )
    idmp_duration_s_default: int = _bound(
        limits.IDMP_DURATION_S_DEFAULT, "How long an idempotency key is remembered, in seconds."
    )
    idmp_duration_s_max: int = _bound(limits.IDMP_DURATION_S_MAX, "The longest that may be set, in seconds.")
    idmp_maxsize_default: int = _bound(
        limits.IDMP_MAXSIZE_DEFAULT, "Idempotency keys remembered for each producer."
    )
    idmp_maxsize_max: int = _bound(limits.IDMP_MAXSIZE_MAX, "The most that may be set.")
    idmp_keys_max: int = _bound(
        limits.IDMP_KEYS_MAX,
        "Idempotency keys with an epoch, and as many without, that a stream remembers; above it, the least "
        "recently used producer is forgotten.",
    )
    epoch_producers_max: int = _bound(
        limits.EPOCH_PRODUCERS_MAX,
        "Producers with an epoch that a stream remembers; above it, the least recently used is forgotten.",
    )
    epoch_keys_max: int = _bound(limits.EPOCH_KEYS_MAX, "Idempotency keys in one epoch.")
    autoclaim_count_max: int = _bound(limits.AUTOCLAIM_COUNT_MAX, "`COUNT` of an XAUTOCLAIM command.")
    trim_limit_max: int = _bound(limits.TRIM_LIMIT_MAX, "The greatest default bound of an approximate trim.")

    @classmethod
    def of(cls, server_limits: ServerLimits) -> Self:
        """The bounds of a server that is set so."""
        of_sockets = {
            "frame_bytes_max": FRAME_BYTES_MAX,
            "requests_per_frame_max": REQUESTS_PER_FRAME_MAX,
            "subscriptions_per_socket_max": SUBSCRIPTIONS_MAX,
            "socket_reply_bytes_max": SOCKET_REPLY_BYTES_MAX,
        }
        fixed = cls.model_fields.keys() - ServerLimits.model_fields.keys() - of_sockets.keys()
        return cls(
            **{name: getattr(limits, name.upper()) for name in fixed},
            **of_sockets,
            **{name: getattr(server_limits, name) for name in ServerLimits.model_fields},
        )
