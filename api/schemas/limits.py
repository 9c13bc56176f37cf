"""Wire models of the limits of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from tailrace.api.ports import EngineFeature
from tailrace.api.schemas.base import WireModel
from tailrace.api.server_limits import ServerLimits
from tailrace.api.websocket_limits import FRAME_BYTES_MAX, REQUESTS_PER_FRAME_MAX, SUBSCRIPTIONS_MAX
from tailrace.api.websocket_limits import REPLY_BYTES_MAX as SOCKET_REPLY_BYTES_MAX
from tailrace.core import limits


class EngineSupport(WireModel):
    """How one feature of streams is provided by the engine behind the server."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"name": "XNACK", "support": "native", "note": "the engine has it"},
        }
    )

    name: str = Field(description="The feature.", examples=["XNACK"])
    support: Literal["native", "emulated", "refused"] = Field(
        description="`native`: the engine has it. `emulated`: the server does it with what the engine has. "
        "`refused`: requests for it are answered with 501.",
        examples=["native"],
    )
    note: str = Field(
        description="What that means for a client, or what the engine would need.",
        examples=["the engine has it"],
    )


def _bound(value: int, description: str) -> Any:
    """Return a field whose example is the value of the limit."""
    return Field(description=description, examples=[value])


def _require_all(schema: dict[str, Any]) -> None:
    """Mark all members as required and remove their defaults: every response has all members. The defaults
    are those of an operator who sets nothing."""
    schema["required"] = list(schema["properties"])
    for shown in schema["properties"].values():
        shown.pop("default", None)
    schema["example"] = {name: shown["examples"][0] for name, shown in schema["properties"].items()}


class Limits(WireModel, ServerLimits):
    """All limits of the server: those that its operator sets, and the fixed limits of one request. The length
    of a stream has no limit."""

    model_config = ConfigDict(json_schema_extra=_require_all)

    xautoclaim_scan_max: int = _bound(
        limits.XAUTOCLAIM_SCAN_MAX, "Pending entries that one scan for idle entries examines."
    )
    pending_steps_max: int = _bound(
        limits.PENDING_STEPS_MAX,
        "Work of one group read with `claim_min_idle_ms`, one read of a consumer's history, or one scan for "
        "idle entries: 1 for each pending entry, 6 for each set of entries delivered or claimed "
        "together, and 8 for each block of the stream in which entries are looked up. The next request "
        "continues from there.",
    )
    info_full_parts_max: int = _bound(
        limits.INFO_FULL_PARTS_MAX, "Groups and consumers that `XINFO STREAM` with `FULL` shows."
    )
    held_entries_max: int = _bound(
        limits.HELD_ENTRIES_MAX,
        "Entries that a group with `order_by` holds back. At this number it reads no further until one of "
        "them is delivered or deleted.",
    )
    keys_in_flight_max: int = _bound(
        limits.KEYS_IN_FLIGHT_MAX,
        "Entries with a value of `order_by` that a group has in flight. At this number it delivers no "
        "further ones until some are acknowledged.",
    )
    ordered_entries_max: int = _bound(
        limits.ORDERED_ENTRIES_MAX,
        "Pending and held entries of a group for which `order_by` can be set or changed.",
    )
    filter_characters_max: int = _bound(limits.FILTER_CHARACTERS_MAX, "Characters of a filter.")
    filter_depth_max: int = _bound(
        limits.FILTER_DEPTH_MAX, "How deeply the conditions of a filter can be nested."
    )
    filter_tests_max: int = _bound(limits.FILTER_TESTS_MAX, "Tests of single fields in one filter.")
    filter_step_entries: int = _bound(
        limits.FILTER_STEP_ENTRIES,
        "Entries that a filter examines before other requests are served; for a group, in one command.",
    )
    filter_step_bytes: int = _bound(
        limits.FILTER_STEP_BYTES, "Bytes of entries that a filter examines before other requests are served."
    )
    filter_turn_entries_max: int = _bound(
        limits.FILTER_TURN_ENTRIES_MAX,
        "Entries that the filters of groups examine in one transaction, or in one turn of a pipeline.",
    )
    filter_read_ms_max: int = _bound(
        limits.FILTER_READ_MS_MAX,
        "Milliseconds for which a read of a group that does not wait looks for an entry that matches.",
    )
    filter_scan_entries_max: int = _bound(
        limits.FILTER_SCAN_ENTRIES_MAX,
        "Entries that one read with a filter examines, whether or not they match. `next` continues.",
    )
    filter_scan_bytes_max: int = _bound(
        limits.FILTER_SCAN_BYTES_MAX, "Bytes of entries that one read with a filter examines."
    )
    delay_ms_max: int = _bound(
        limits.DELAY_MS_MAX,
        "The longest delay of an entry, of a nack and of a backoff, in milliseconds.",
    )
    backoff_factor_max: int = _bound(limits.BACKOFF_FACTOR_MAX, "The greatest factor of a backoff.")
    scheduled_entries_max: int = _bound(limits.SCHEDULED_ENTRIES_MAX, "Scheduled entries of one stream.")
    scheduled_bytes_max: int = _bound(
        limits.SCHEDULED_BYTES_MAX, "Bytes of the scheduled entries of one stream."
    )
    scheduled_entries_total_max: int = _bound(
        limits.SCHEDULED_ENTRIES_TOTAL_MAX, "Scheduled entries of all streams."
    )
    scheduled_bytes_total_max: int = _bound(
        limits.SCHEDULED_BYTES_TOTAL_MAX, "Bytes of the scheduled entries of all streams."
    )
    scheduled_page_max: int = _bound(
        limits.SCHEDULED_PAGE_MAX, "Scheduled entries in one page of their list."
    )
    due_entries_per_step: int = _bound(
        limits.DUE_ENTRIES_PER_STEP,
        "Entries that the server appends or releases, once they are due, before it serves other requests.",
    )
    due_bytes_per_step: int = _bound(limits.DUE_BYTES_PER_STEP, "Bytes of entries that it appends then.")
    due_places_per_step: int = _bound(limits.DUE_PLACES_PER_STEP, "Streams and groups that it examines then.")
    name_bytes_max: int = _bound(limits.NAME_BYTES_MAX, "Bytes of the name of a key, group or consumer.")
    fields_per_entry_max: int = _bound(limits.FIELDS_PER_ENTRY_MAX, "Field-value pairs of one entry.")
    entry_bytes_max: int = _bound(limits.ENTRY_BYTES_MAX, "Bytes of one entry's fields as JSON.")
    body_bytes_max: int = _bound(limits.BODY_BYTES_MAX, "Bytes of a body, after decompression.")
    body_members_max: int = _bound(limits.BODY_MEMBERS_MAX, "Gzip members or zstd frames of one body.")
    large_imports_max: int = _bound(
        limits.LARGE_IMPORTS_MAX,
        "Import bodies above 1 MiB that the server reads at a time; others wait.",
    )
    batch_entries_max: int = _bound(limits.BATCH_ENTRIES_MAX, "Entries of one batch or import.")
    body_lines_max: int = _bound(limits.BODY_LINES_MAX, "Lines of an NDJSON body, including blank lines.")
    bulk_elements_max: int = _bound(
        limits.BULK_ELEMENTS_MAX,
        "JSON members and items in the body of a batch, an import or a pipeline, or in a WebSocket message.",
    )
    body_elements_max: int = _bound(
        limits.BODY_ELEMENTS_MAX, "JSON members and items in the body of one entry or one command."
    )
    request_elements_max: int = _bound(
        limits.REQUEST_ELEMENTS_MAX, "JSON members and items in any other body."
    )
    ids_per_request_max: int = _bound(limits.IDS_PER_REQUEST_MAX, "Ids named in one request.")
    reference_looks_max: int = _bound(
        limits.REFERENCE_LOOKS_MAX,
        "Ids times groups with pending entries of one deletion by the policy `delete` or `acknowledged`.",
    )
    keys_per_request_max: int = _bound(limits.KEYS_PER_REQUEST_MAX, "Keys named in one DEL or EXISTS.")
    url_bytes_max: int = _bound(limits.URL_BYTES_MAX, "Bytes of a request's target: path and query.")
    head_bytes_max: int = _bound(
        limits.HEAD_BYTES_MAX, "Bytes of a request's head (request line and headers), and of its trailers."
    )
    headers_max: int = _bound(limits.HEADERS_MAX, "Header lines of one request.")
    frame_bytes_max: int = _bound(FRAME_BYTES_MAX, "Bytes of one WebSocket message.")
    requests_per_frame_max: int = _bound(REQUESTS_PER_FRAME_MAX, "Requests in one WebSocket message.")
    subscriptions_per_socket_max: int = _bound(SUBSCRIPTIONS_MAX, "Subscriptions of one WebSocket.")
    read_streams_max: int = _bound(limits.READ_STREAMS_MAX, "Streams named in one read.")
    page_entries_max: int = _bound(limits.PAGE_ENTRIES_MAX, "Entries of one page, and the default count.")
    read_entries_max: int = _bound(
        limits.READ_ENTRIES_MAX,
        "Entries that one read of several streams, one group read or one read after a position returns, and "
        "pending entries of one page, even if the request asks for more.",
    )
    page_bytes_max: int = _bound(
        limits.PAGE_BYTES_MAX, "Bytes at which a page ends, even if more entries were asked for."
    )
    list_page_max: int = _bound(limits.LIST_PAGE_MAX, "Streams in one page of the listing.")
    list_page_default: int = _bound(
        limits.LIST_PAGE_DEFAULT, "Streams in one page of the listing if the request has no `limit`."
    )
    pipeline_commands_max: int = _bound(limits.PIPELINE_COMMANDS_MAX, "Commands of one pipeline.")
    transaction_commands_max: int = _bound(limits.TRANSACTION_COMMANDS_MAX, "Commands of one transaction.")
    transaction_steps_max: int = _bound(
        limits.TRANSACTION_STEPS_MAX,
        "Estimated work of one transaction, in steps of about a microsecond: 10 for a command, 6 for an id.",
    )
    command_steps_max: int = _bound(
        limits.COMMAND_STEPS_MAX, "Steps that one command of a transaction counts as at most."
    )
    command_arguments_max: int = _bound(
        limits.COMMAND_ARGUMENTS_MAX, "Arguments of one command, including its name."
    )
    copy_parts_max: int = _bound(
        limits.COPY_PARTS_MAX,
        "Blocks, groups, consumers, pending entries and idempotency keys that one COPY may copy.",
    )
    pattern_bytes_max: int = _bound(limits.PATTERN_BYTES_MAX, "Bytes of a glob pattern.")
    matching_steps_max: int = _bound(
        limits.MATCHING_STEPS_MAX,
        "Steps of matching keys with glob patterns in one request; each key takes 64 steps or more.",
    )
    scan_count_max: int = _bound(limits.SCAN_COUNT_MAX, "Keys that one `SCAN` examines at once.")
    scan_request_keys_max: int = _bound(
        limits.SCAN_REQUEST_KEYS_MAX, "Keys that `SCAN` as the only command of an HTTP request examines."
    )
    pending_looks_max: int = _bound(
        limits.PENDING_LOOKS_MAX,
        "Pending entries that one group read with `claim_min_idle_ms` or one list of idle pending entries "
        "examines without success.",
    )
    acked_trim_looks_max: int = _bound(
        limits.ACKED_TRIM_LOOKS_MAX,
        "Blocks and entries with pending references that one trim with `references=acknowledged` examines.",
    )
    dead_letters_max: int = _bound(
        limits.DEAD_LETTERS_MAX, "Entries that one request moves to a dead-letter stream, or back."
    )
    consumer_expiry_ms_min: int = _bound(
        limits.CONSUMER_EXPIRY_MS_MIN, "The shortest `consumer_expiry_ms` of a group, in milliseconds."
    )
    dead_letter_bytes_max: int = _bound(
        limits.DEAD_LETTER_BYTES_MAX, "Bytes of entries that one request moves in this way."
    )
    reply_bytes_max: int = _bound(
        limits.REPLY_BYTES_MAX,
        "Bytes of all replies of one request: the JSON text of entries and names, plus 128 for each.",
    )
    socket_reply_bytes_max: int = _bound(
        SOCKET_REPLY_BYTES_MAX,
        "Bytes of all replies to one WebSocket message, counted like `reply_bytes_max`.",
    )
    turn_commands_max: int = _bound(
        limits.TURN_COMMANDS_MAX, "Commands of a pipeline that run before the server serves other requests."
    )
    turn_steps_max: int = _bound(
        limits.TURN_STEPS_MAX, "Steps of a pipeline after which other requests get a turn."
    )
    turn_reply_bytes_max: int = _bound(
        limits.TURN_REPLY_BYTES_MAX, "Bytes of replies after which the server serves other requests."
    )
    split_parts_max: int = _bound(limits.SPLIT_PARTS_MAX, "Parts of one split of a range.")
    wait_ms_max: int = _bound(limits.WAIT_MS_MAX, "The longest wait of one request, in milliseconds.")
    node_entries_default: int = _bound(
        limits.NODE_ENTRIES_DEFAULT, "Entries of a block: the unit of approximate trimming."
    )
    node_bytes_default: int = _bound(
        limits.NODE_BYTES_DEFAULT, "Bytes of a block: the unit of approximate trimming."
    )
    idmp_duration_s_default: int = _bound(
        limits.IDMP_DURATION_S_DEFAULT, "How long an idempotency key is remembered, in seconds."
    )
    idmp_duration_s_max: int = _bound(
        limits.IDMP_DURATION_S_MAX, "The greatest value of `idmp_duration_s`, in seconds."
    )
    idmp_maxsize_default: int = _bound(
        limits.IDMP_MAXSIZE_DEFAULT, "Idempotency keys remembered for each producer."
    )
    idmp_maxsize_max: int = _bound(limits.IDMP_MAXSIZE_MAX, "The greatest value of `idmp_maxsize`.")
    idmp_keys_max: int = _bound(
        limits.IDMP_KEYS_MAX,
        "Idempotency keys with an epoch, and as many without an epoch, that a stream remembers. Above this "
        "limit, the stream forgets the least recently used producer.",
    )
    epoch_producers_max: int = _bound(
        limits.EPOCH_PRODUCERS_MAX,
        "Producers with an epoch that a stream remembers. Above this limit, the stream forgets the least "
        "recently used producer.",
    )
    epoch_keys_max: int = _bound(limits.EPOCH_KEYS_MAX, "Idempotency keys in one epoch.")
    autoclaim_count_max: int = _bound(
        limits.AUTOCLAIM_COUNT_MAX, "The greatest `COUNT` of an XAUTOCLAIM command."
    )
    trim_limit_max: int = _bound(
        limits.TRIM_LIMIT_MAX, "Entries that one approximate trim without `limit` removes at most."
    )
    engine: list[EngineSupport] = Field(
        default=[],
        description="What the engine behind the server can do, if the server runs with `--store`; otherwise "
        "empty.",
        examples=[[]],
    )

    @classmethod
    def of(cls, server_limits: ServerLimits, engine: Sequence[EngineFeature] = ()) -> Self:
        """Return all limits of a server with these settings, in front of an engine with these features."""
        of_sockets = {
            "frame_bytes_max": FRAME_BYTES_MAX,
            "requests_per_frame_max": REQUESTS_PER_FRAME_MAX,
            "subscriptions_per_socket_max": SUBSCRIPTIONS_MAX,
            "socket_reply_bytes_max": SOCKET_REPLY_BYTES_MAX,
        }
        supports = [EngineSupport(name=each.name, support=each.support, note=each.note) for each in engine]
        fixed = [name for name in cls.model_fields if hasattr(limits, name.upper())]
        return cls(
            **{name: getattr(limits, name.upper()) for name in fixed},
            **of_sockets,
            engine=supports,
            **{name: getattr(server_limits, name) for name in ServerLimits.model_fields},
        )
