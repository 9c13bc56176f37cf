"""The results of methods, as records with the members of the published document.

`make sdk-python` prints this module from the document; do not edit it. `record` reads the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tailrace_client.group_settings import Backoff
from tailrace_client.record import Record

__all__ = [
    "AccessReply",
    "AuditLine",
    "AuditPage",
    "CommitLatency",
    "ConnectionsState",
    "Consumer",
    "ConsumerDetail",
    "Contents",
    "DeleteOutcome",
    "DeleteReply",
    "EngineNode",
    "EngineSupport",
    "Entry",
    "EpochState",
    "Group",
    "GroupDetail",
    "IdempotencyState",
    "ImportCheck",
    "LargeStream",
    "Limits",
    "MemoryState",
    "PendingItem",
    "PendingOfConsumer",
    "PendingOverview",
    "ProducerState",
    "RedriveReply",
    "RedrivenEntry",
    "RetentionState",
    "SeekPosition",
    "ServerState",
    "SlowCommand",
    "SlowLogPage",
    "SlowOperation",
    "SplitPart",
    "SplitPlan",
    "StorageState",
    "StreamItem",
    "StreamPage",
    "StreamState",
    "Ticket",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessReply(Record):
    """What the token of the request may do."""

    token: str | None = None
    """The name of the token; null if the server requires no tokens."""

    token_id: str | None = None
    """The id of the token; null if the server requires no tokens."""

    scopes: list[Literal["read", "append", "consume", "admin"]]
    """The scopes of the token. No scope includes another."""

    key_patterns: list[str]
    """The globs of the keys on which the scopes are allowed."""

    expires_at_ms: int | None = None
    """When the token expires, in Unix milliseconds; null for never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine(Record):
    """An administrative act, allowed or denied. It never contains a token or a value."""

    at_ms: int
    """When it happened, in Unix milliseconds."""

    token_id: str
    """The id of the token; `local` if the server requires no tokens."""

    token: str
    """The name of the token."""

    operation: str
    """The operation's id in this document, or the name of a command."""

    keys: list[str]
    r"""The first 20 streams that it concerns; bytes that are not UTF-8 are `\xNN`. Empty for all streams, or
    none."""

    keys_count: int
    """How many streams it names."""

    outcome: str
    """`done`, `denied`, an error code, or what happened to the token."""

    request_id: str | None = None
    """The id of the request; null if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage(Record):
    """The most recent lines of the audit log. The log of the process has all of them."""

    capacity: int
    """How many lines the server keeps in memory."""

    acts: list[AuditLine]
    """The lines, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLatency(Record):
    """The durations of the last commits: from the start of the transaction to the end of its sync."""

    commits: int
    """How many commits these are, up to 1000."""

    p50_ms: float | None = None
    """Half of the commits took at most this long; null before the first."""

    p99_ms: float | None = None
    """99 of 100 commits took at most this long; null before the first."""

    max_ms: float | None = None
    """The longest commit; null before the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsState(Record):
    """The clients of the server now."""

    open_: int
    """Open connections, including idle ones and WebSockets."""

    websockets: int
    """Open WebSockets."""

    subscriptions: int
    """Open subscriptions of all WebSockets."""

    event_streams: int
    """Open streams of Server-Sent Events."""

    waiting_readers: int
    """Reads that wait for entries."""

    cut: dict[str, int]
    """Connections that the server closed because of a limit since the start, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer(Record):
    """A consumer of a group."""

    name: str
    """The consumer's name."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    pending: int
    """How many entries were delivered to the consumer and not yet acknowledged."""

    idle_ms: int
    """Milliseconds since the consumer's last request."""

    inactive_ms: int | None = None
    """Milliseconds since entries were last delivered to the consumer; null if never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDetail(Record):
    """A consumer with its pending entries."""

    name: str
    """The consumer's name."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    seen_at_ms: int
    """The time of the consumer's last request, in Unix milliseconds."""

    active_at_ms: int | None = None
    """The time of the last delivery to the consumer, in Unix milliseconds; null if never."""

    pending: int
    """How many entries were delivered to the consumer and not yet acknowledged."""

    pending_entries: list[PendingItem]
    """The first `count` pending entries of the consumer, in id order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents(Record):
    """Everything that the server keeps, counted."""

    streams: int
    """Streams."""

    entries: int
    """Entries of all streams."""

    groups: int
    """Consumer groups of all streams."""

    pending_entries: int
    """Pending entries of all groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOutcome(Record):
    """The result for one id."""

    id: str
    """An entry id, `ms-seq`, as a string."""

    result: Literal["deleted", "referenced", "not_found"]
    """`referenced`: the entry was kept, because a group still refers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReply(Record):
    """The result for each id."""

    deleted: int
    """How many entries were deleted."""

    results: list[DeleteOutcome]
    """One item for each id of the request, in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineNode(Record):
    """A node of the engine behind a gateway."""

    address: str
    """The host and port of the node."""

    role: str
    """`master` or `replica`."""

    is_up: bool
    """Whether the server has a connection to the node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSupport(Record):
    """How one feature of streams is provided by the engine behind the server."""

    name: str
    """The feature."""

    support: Literal["native", "emulated", "refused"]
    """`native`: the engine has it. `emulated`: the server does it with what the engine has. `refused`:
    requests for it are answered with 501."""

    note: str
    """What that means for a client, or what the engine would need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Record):
    """An entry. It has `fields`; or `pairs`, if a name repeats or the request has `shape=pairs`."""

    id: str
    """An entry id, `ms-seq`, as a string."""

    fields: dict[str, str] | None = None
    """Names and values, in the order in which they were appended."""

    pairs: list[list[str]] | None = None
    """Names and values as `[name, value]` pairs."""

    encoding: Literal["base64"] | None = None
    """`base64`: all names and values are base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochState(Record):
    """An epoch of a producer."""

    epoch: int
    """The number of the epoch."""

    layout: str | None = None
    """The layout of the epoch (`Producer-Layout`); null if no request named one."""

    keys: int
    """How many idempotency keys the epoch has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Record):
    """A consumer group."""

    name: str
    """The group's name."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    consumers: int
    """How many consumers the group has."""

    pending: int
    """How many entries were delivered and not yet acknowledged."""

    last_delivered_id: str
    """The id of the last entry delivered to the group. Entries after it are new."""

    entries_read: int | None = None
    """How many entries the group has read, from the stream's first on; null if unknown."""

    lag: int | None = None
    """How many entries are not yet delivered; null if the engine of a gateway does not know it."""

    lag_ms: int | None = None
    """The age of the oldest entry that is not yet delivered, in milliseconds, by the time in its id; absent
    if all are delivered, and behind a gateway."""

    max_deliveries: int | None = None
    """How often an entry is delivered at most; absent if not set."""

    dead_letter_stream: str | None = None
    """The key of the stream to which an entry moves instead of one more delivery; absent if not set."""

    filter_: str | None = None
    """The condition on the entries that the group delivers; absent if not set."""

    claim_min_idle_ms: int | None = None
    """A read of the group first claims entries that are idle for at least this long, in milliseconds; absent
    if not set."""

    consumer_expiry_ms: int | None = None
    """A consumer that was not seen for this long, in milliseconds, gives its entries back and is deleted;
    absent if not set."""

    max_lag_ms: int | None = None
    """The `lag_ms` from which the server warns; absent if not set."""

    backoff: Backoff | None = None
    """How long a nack delays the next delivery of an entry; absent if not set."""

    order_by: str | None = None
    """The field by whose values the group delivers in order; absent if not set."""

    held: int | None = None
    """How many entries wait until an earlier one with the same value of `order_by` is acknowledged. `lag`
    includes them. Absent without `order_by`."""

    keys_in_flight: int | None = None
    """How many values of `order_by` the pending entries have; absent without `order_by`."""

    dead_letters: int | None = None
    """How many entries of the group ever moved to a dead-letter stream; absent if the group never had one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDetail(Record):
    """A group with its pending entries and consumers."""

    name: str
    """The group's name."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    last_delivered_id: str
    """The id of the last entry delivered to the group. Entries after it are new."""

    entries_read: int | None = None
    """How many entries the group has read; null if unknown."""

    lag: int | None = None
    """How many entries are not yet delivered; null if unknown."""

    pending: int
    """How many entries were delivered and not yet acknowledged."""

    nacked: int
    """How many of the pending entries have no owner, because of a nack."""

    pending_entries: list[PendingItem]
    """The first `count` pending entries of the group, in id order."""

    consumers: list[ConsumerDetail]
    """The consumers of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyState(Record):
    """The idempotency keys that a stream remembers."""

    duration_s: int
    """How long the stream remembers a key, in seconds."""

    maxsize: int
    """How many keys the stream remembers for each producer."""

    producers: int
    """How many producers the stream remembers now."""

    keys: int
    """How many keys the stream remembers now."""

    keys_added: int
    """How many keys were ever remembered."""

    duplicates: int
    """How many appends were repetitions: the stream returned the first result and appended nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCheck(Record):
    """What an import would do."""

    known: bool
    """True if an import with this idempotency key appended the lines earlier; false if the import would
    append them now."""

    count: int
    """How many entries the body has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeStream(Record):
    """A stream with its size."""

    key: str
    """The stream's key."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    bytes_: int
    """About how many bytes the entries take, most of them compressed."""

    length: int
    """How many entries the stream has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Record):
    """All limits of the server: those that its operator sets, and the fixed limits of one request. The length
    of a stream has no limit."""

    header_timeout_s: int
    """Seconds for the head of a request, counted from the connection or the first byte. After that the server
    answers 408; if the client sent nothing, it closes the connection."""

    body_bytes_per_s_min: int
    """Minimum bytes per second of a body, on average over every 8 seconds. A slower body is 408. 0: no
    minimum."""

    answer_timeout_s: int
    """Seconds that a client may read nothing of its response before the server cuts the connection."""

    keep_alive_timeout_s: int
    """Seconds that the server keeps a connection open between requests."""

    connections_max: int
    """Open connections, including WebSockets. Further ones are answered with 503 and closed."""

    connections_per_peer_max: int
    """Open connections from one address (IPv6: one /64 network). 0: no limit per address. Behind a proxy, all
    clients share the proxy's address."""

    waiting_readers_max: int
    """Reads that wait for data, over all transports. Further ones are 503."""

    event_streams_max: int
    """Open tails (Server-Sent Events). Further ones are 503."""

    websockets_max: int
    """Open WebSockets. Further handshakes are 503."""

    subscriptions_max: int
    """Subscriptions of all WebSockets. Further ones are refused with 503."""

    bodies_mb: int
    """MiB of request bodies and WebSocket messages in memory; those below 64 KiB do not count. Further ones
    are 503, or close code 4013."""

    requests_per_s: int
    """Requests per second for each token, or for each address without a token. WebSocket messages count as
    requests. Further ones are 429 with Retry-After. 0: no limit."""

    request_burst: int
    """Requests that may arrive at once before the rate applies. 0: as many as one second allows."""

    memory_limit_mb: int
    """MiB of resident memory. Above it, commands that make the data grow are 507; reads, acknowledgments,
    deletions and trims still work. 0: no limit."""

    xautoclaim_scan_max: int
    """Pending entries that one scan for idle entries examines."""

    pending_steps_max: int
    """Work of one group read with `claim_min_idle_ms`, one read of a consumer's history, or one scan for idle
    entries: 1 for each pending entry, 6 for each set of entries delivered or claimed together, and 8 for each
    block of the stream in which entries are looked up. The next request continues from there."""

    info_full_parts_max: int
    """Groups and consumers that `XINFO STREAM` with `FULL` shows."""

    held_entries_max: int
    """Entries that a group with `order_by` holds back. At this number it reads no further until one of them
    is delivered or deleted."""

    keys_in_flight_max: int
    """Entries with a value of `order_by` that a group has in flight. At this number it delivers no further
    ones until some are acknowledged."""

    ordered_entries_max: int
    """Pending and held entries of a group for which `order_by` can be set or changed."""

    filter_characters_max: int
    """Characters of a filter."""

    filter_depth_max: int
    """How deeply the conditions of a filter can be nested."""

    filter_tests_max: int
    """Tests of single fields in one filter."""

    filter_step_entries: int
    """Entries that a filter examines before other requests are served; for a group, in one command."""

    filter_step_bytes: int
    """Bytes of entries that a filter examines before other requests are served."""

    filter_turn_entries_max: int
    """Entries that the filters of groups examine in one transaction, or in one turn of a pipeline."""

    filter_read_ms_max: int
    """Milliseconds for which a read of a group that does not wait looks for an entry that matches."""

    filter_scan_entries_max: int
    """Entries that one read with a filter examines, whether or not they match. `next` continues."""

    filter_scan_bytes_max: int
    """Bytes of entries that one read with a filter examines."""

    delay_ms_max: int
    """The longest delay of an entry, of a nack and of a backoff, in milliseconds."""

    backoff_factor_max: int
    """The greatest factor of a backoff."""

    scheduled_entries_max: int
    """Scheduled entries of one stream."""

    scheduled_bytes_max: int
    """Bytes of the scheduled entries of one stream."""

    scheduled_entries_total_max: int
    """Scheduled entries of all streams."""

    scheduled_bytes_total_max: int
    """Bytes of the scheduled entries of all streams."""

    scheduled_page_max: int
    """Scheduled entries in one page of their list."""

    due_entries_per_step: int
    """Entries that the server appends or releases, once they are due, before it serves other requests."""

    due_bytes_per_step: int
    """Bytes of entries that it appends then."""

    due_places_per_step: int
    """Streams and groups that it examines then."""

    name_bytes_max: int
    """Bytes of the name of a key, group or consumer."""

    fields_per_entry_max: int
    """Field-value pairs of one entry."""

    entry_bytes_max: int
    """Bytes of one entry's fields as JSON."""

    body_bytes_max: int
    """Bytes of a body, after decompression."""

    body_members_max: int
    """Gzip members or zstd frames of one body."""

    large_imports_max: int
    """Import bodies above 1 MiB that the server reads at a time; others wait."""

    batch_entries_max: int
    """Entries of one batch or import."""

    body_lines_max: int
    """Lines of an NDJSON body, including blank lines."""

    bulk_elements_max: int
    """JSON members and items in the body of a batch, an import or a pipeline, or in a WebSocket message."""

    body_elements_max: int
    """JSON members and items in the body of one entry or one command."""

    request_elements_max: int
    """JSON members and items in any other body."""

    ids_per_request_max: int
    """Ids named in one request."""

    reference_looks_max: int
    """Ids times groups with pending entries of one deletion by the policy `delete` or `acknowledged`."""

    keys_per_request_max: int
    """Keys named in one DEL or EXISTS."""

    url_bytes_max: int
    """Bytes of a request's target: path and query."""

    head_bytes_max: int
    """Bytes of a request's head (request line and headers), and of its trailers."""

    headers_max: int
    """Header lines of one request."""

    frame_bytes_max: int
    """Bytes of one WebSocket message."""

    requests_per_frame_max: int
    """Requests in one WebSocket message."""

    subscriptions_per_socket_max: int
    """Subscriptions of one WebSocket."""

    read_streams_max: int
    """Streams named in one read."""

    page_entries_max: int
    """Entries of one page, and the default count."""

    read_entries_max: int
    """Entries that one read of several streams, one group read or one read after a position returns, and
    pending entries of one page, even if the request asks for more."""

    page_bytes_max: int
    """Bytes at which a page ends, even if more entries were asked for."""

    list_page_max: int
    """Streams in one page of the listing."""

    list_page_default: int
    """Streams in one page of the listing if the request has no `limit`."""

    pipeline_commands_max: int
    """Commands of one pipeline."""

    transaction_commands_max: int
    """Commands of one transaction."""

    transaction_steps_max: int
    """Estimated work of one transaction, in steps of about a microsecond: 10 for a command, 6 for an id."""

    command_steps_max: int
    """Steps that one command of a transaction counts as at most."""

    command_arguments_max: int
    """Arguments of one command, including its name."""

    copy_parts_max: int
    """Blocks, groups, consumers, pending entries and idempotency keys that one COPY may copy."""

    pattern_bytes_max: int
    """Bytes of a glob pattern."""

    matching_steps_max: int
    """Steps of matching keys with glob patterns in one request; each key takes 64 steps or more."""

    scan_count_max: int
    """Keys that one `SCAN` examines at once."""

    scan_request_keys_max: int
    """Keys that `SCAN` as the only command of an HTTP request examines."""

    pending_looks_max: int
    """Pending entries that one group read with `claim_min_idle_ms` or one list of idle pending entries
    examines without success."""

    acked_trim_looks_max: int
    """Blocks and entries with pending references that one trim with `references=acknowledged` examines."""

    dead_letters_max: int
    """Entries that one request moves to a dead-letter stream, or back."""

    consumer_expiry_ms_min: int
    """The shortest `consumer_expiry_ms` of a group, in milliseconds."""

    dead_letter_bytes_max: int
    """Bytes of entries that one request moves in this way."""

    reply_bytes_max: int
    """Bytes of all replies of one request: the JSON text of entries and names, plus 128 for each."""

    socket_reply_bytes_max: int
    """Bytes of all replies to one WebSocket message, counted like `reply_bytes_max`."""

    turn_commands_max: int
    """Commands of a pipeline that run before the server serves other requests."""

    turn_steps_max: int
    """Steps of a pipeline after which other requests get a turn."""

    turn_reply_bytes_max: int
    """Bytes of replies after which the server serves other requests."""

    split_parts_max: int
    """Parts of one split of a range."""

    wait_ms_max: int
    """The longest wait of one request, in milliseconds."""

    node_entries_default: int
    """Entries of a block: the unit of approximate trimming."""

    node_bytes_default: int
    """Bytes of a block: the unit of approximate trimming."""

    idmp_duration_s_default: int
    """How long an idempotency key is remembered, in seconds."""

    idmp_duration_s_max: int
    """The greatest value of `idmp_duration_s`, in seconds."""

    idmp_maxsize_default: int
    """Idempotency keys remembered for each producer."""

    idmp_maxsize_max: int
    """The greatest value of `idmp_maxsize`."""

    idmp_keys_max: int
    """Idempotency keys with an epoch, and as many without an epoch, that a stream remembers. Above this
    limit, the stream forgets the least recently used producer."""

    epoch_producers_max: int
    """Producers with an epoch that a stream remembers. Above this limit, the stream forgets the least
    recently used producer."""

    epoch_keys_max: int
    """Idempotency keys in one epoch."""

    autoclaim_count_max: int
    """The greatest `COUNT` of an XAUTOCLAIM command."""

    trim_limit_max: int
    """Entries that one approximate trim without `limit` removes at most."""

    engine: list[EngineSupport]
    """What the engine behind the server can do, if the server runs with `--store`; otherwise empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState(Record):
    """The memory of the process."""

    resident_bytes: int
    """The resident memory of the process."""

    limit_bytes: int | None = None
    """The resident memory above which appends are refused; null for no limit."""

    is_limit_reached: bool
    """Whether appends are refused now."""

    cache_bytes: int | None = None
    """The memory of decoded blocks; null behind a gateway."""

    cache_max_bytes: int | None = None
    """The largest memory of decoded blocks; null behind a gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingItem(Record):
    """A pending entry: delivered to a consumer, and not yet acknowledged."""

    id: str
    """An entry id, `ms-seq`, as a string."""

    consumer: str | None = None
    """The consumer that owns the entry; null after a nack."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    idle_ms: int | None = None
    """Milliseconds since the last delivery; null if the entry has no owner."""

    deliveries: int
    """How often the entry was delivered."""

    delivered_at_ms: int
    """The time of the last delivery, in Unix milliseconds; 0 after a nack."""

    claimable_at_ms: int | None = None
    """After a nack with a delay: the time before which no consumer can claim the entry, in Unix milliseconds;
    else absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOfConsumer(Record):
    """The number of pending entries of one consumer."""

    name: str
    """The consumer's name."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    pending: int
    """How many entries are pending for the consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOverview(Record):
    """A summary of the pending entries of a group."""

    count: int
    """How many entries are pending in the group."""

    min_id: str | None = None
    """The smallest pending id; null if no entry is pending."""

    max_id: str | None = None
    """The greatest pending id; null if no entry is pending."""

    consumers: list[PendingOfConsumer]
    """Consumers that have pending entries, in byte order of their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerState(Record):
    """What a stream remembers of a producer."""

    producer: str
    """The producer."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    epochs: list[EpochState]
    """The last epoch and the current one, in this order; empty if the stream remembers none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveReply(Record):
    """The dead letters that were sent back."""

    redriven: list[RedrivenEntry]
    """The entries that were sent back, in the order of their ids."""

    skipped: int
    """How many were examined and stay where they are: they are missing, or they are not dead letters of this
    group."""

    next_: str | None = None
    """The id from which the next request continues; null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivenEntry(Record):
    """A dead letter that was sent back."""

    id: str
    """Its id in the dead-letter stream, from which it was deleted."""

    new_id: str
    """Its new id in the group's stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionState(Record):
    """The retention of a stream, and what it has removed."""

    max_age_ms: int | None = None
    """How long an entry is kept, in milliseconds, from the time in its id on."""

    max_length: int | None = None
    """How many entries are kept."""

    max_bytes: int | None = None
    """How many bytes of entries are kept, as compact JSON before compression. Whole blocks are removed; the
    last block stays."""

    acknowledged: bool | None = None
    """Whether to remove entries that every group has read and acknowledged, up to the first one that a group
    has not. A stream without groups keeps all."""

    protect_unread: bool | None = None
    """Whether to keep entries that a group has not read, whatever the other rules say."""

    removed: dict[str, int]
    """How many entries were ever removed, by the rule that removed the most at that time."""

    removed_at_ms: int | None = None
    """When the last entries were removed, in Unix milliseconds; null if none were."""

    protected_entries: int
    """How many entries remain only because of `protect_unread`."""

    protected_bytes: int
    """The bytes of the blocks that have only such entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekPosition(Record):
    """Where a page of `count` entries ends."""

    end: str | None = None
    """The id of the page's last entry; null if there is no entry at or after the start."""

    count: int
    """How many entries the page has; fewer than asked for at the end of the stream."""

    incarnation: str | None = None
    """An opaque text that tells the stream from every other one, also from one that is created under the same
    key after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps
    none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState(Record):
    """The state of the whole server."""

    version: str
    """The version of the server."""

    started_at_ms: int | None = None
    """When the process started, in Unix milliseconds; null if it is not measured."""

    store: Literal["disk", "memory", "engine"]
    """Where the data is: `disk`, `memory`, or for a gateway `engine`: Redis or Valkey."""

    durability: Literal["always", "interval", "none"] | None = None
    """The option `--durability`; null behind a gateway."""

    nodes: list[EngineNode]
    """The nodes of the engine behind a gateway, masters first."""

    memory: MemoryState | None = None
    """The memory of the process; null if it is not measured."""

    connections: ConnectionsState | None = None
    """The clients; null if they are not counted."""

    storage: StorageState | None = None
    """The data directory; null if the server has none."""

    contents: Contents | None = None
    """What the server keeps; null behind a gateway."""

    largest_streams: list[LargeStream]
    """The streams with the most bytes, the largest first. Empty behind a gateway."""

    slow_log: SlowLogPage
    """The most recent slow operations."""

    audit: AuditPage
    """The most recent administrative acts."""

    limits: Limits
    """All limits, as `GET /v1/limits` shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCommand(Record):
    """A command in the slow log: its names and sizes, without values and ids."""

    command: str
    """The command's name, as in Redis, in lower case."""

    keys: list[str] | None = None
    r"""The first eight streams that the command names; bytes that are not UTF-8 are `\xNN`."""

    group: str | None = None
    """The consumer group that the command names."""

    sizes: dict[str, int] | None = None
    """Sizes of the command: `entries` and their `bytes`, `ids`, `keys`, and the `count` asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowLogPage(Record):
    """The most recent slow operations, newest first."""

    threshold_ms: int
    """Milliseconds of the server's own time from which on an operation is recorded. 0 records all operations,
    -1 none."""

    capacity: int
    """How many operations the log keeps."""

    operations: list[SlowOperation]
    """The operations, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowOperation(Record):
    """A slow operation. Waiting that the request asks for, such as `wait_ms`, does not count."""

    id: int
    """The number of the operation in the slow log. It increases by one, and starts at 1 with the process."""

    at_ms: int
    """The time when the operation ended, in Unix milliseconds."""

    operation: str
    """The operation's id in this document; or `websocket`, `subscription` or `waiting_reader` for the work of
    WebSockets and waiting reads, or `tick` for the server's own work."""

    request_id: str | None = None
    """The id of the request, as in the log and the response; null if there was no request."""

    engine_ms: float
    """Milliseconds in the engine; other requests wait during this time."""

    commit_ms: float
    """Milliseconds of waiting for the disk; they do not count towards the threshold."""

    other_ms: float
    """Milliseconds of everything else: parsing, queueing, and writing the response."""

    command_count: int
    """How many commands the operation ran."""

    commands: list[SlowCommand]
    """The first eight commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPart(Record):
    """One part of a range."""

    start: str
    """The smallest id of the part, inclusive."""

    end: str
    """The greatest id of the part, inclusive."""

    count: int
    """How many entries the part has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan(Record):
    """Consecutive parts of about equal size that together cover the whole range."""

    parts: list[SplitPart]
    """The parts, in id order."""

    count: int
    """How many entries the whole range has."""

    incarnation: str | None = None
    """An opaque text that tells the stream from every other one, also from one that is created under the same
    key after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps
    none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageState(Record):
    """The data directory of the server."""

    data_bytes: int
    """Size of the files in the data directory."""

    disk_free_bytes: int
    """Free space on the disk."""

    journal_bytes: int
    """Size of the journal since the last checkpoint, uncompressed."""

    commits: int
    """Commits since the data directory was created."""

    commits_behind: int
    """Commits that are not durable yet."""

    checkpoints: int
    """Checkpoints since the start."""

    has_failed: bool
    """Whether a commit failed. The server then refuses writes until it is restarted."""

    commit_latency: CommitLatency
    """The last commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamItem(Record):
    """A stream in a listing."""

    key: str
    """The stream's key."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    length: int
    """How many entries the stream has."""

    last_id: str
    """The last id that the stream issued."""

    entries_added: int
    """How many entries were ever added."""

    groups: int
    """How many consumer groups the stream has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPage(Record):
    """A page of streams, in byte order of their keys."""

    streams: list[StreamItem]
    """The streams."""

    next_: str | None = None
    """Send it as `start_after` for the next page; null on the last page."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState(Record):
    """The state of a stream."""

    key: str
    """The stream's key."""

    encoding: Literal["base64"] | None = None
    """`base64`: the names in this object are base64, because at least one of them is not UTF-8."""

    incarnation: str | None = None
    """An opaque text that tells the stream from every other one, also from one that is created under the same
    key after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps
    none."""

    length: int
    """How many entries the stream has."""

    first_id: str | None = None
    """The id of the first entry; null if the stream is empty."""

    last_id: str
    """An entry id, `ms-seq`, as a string."""

    max_deleted_id: str
    """The greatest id that was ever deleted; `0-0` if none."""

    entries_added: int
    """How many entries were ever added."""

    recorded_first_id: str
    """The first id that the server uses to compute the lag of groups; `0-0` if the stream is empty."""

    groups: int
    """How many consumer groups the stream has."""

    blocks: int
    """How many blocks hold the entries."""

    bytes_: int | None = None
    """The bytes of the entries as compact JSON, before compression. A deleted entry may count until its block
    goes. Null behind a gateway."""

    idempotency: IdempotencyState
    """The idempotency keys that the stream remembers."""

    retention: RetentionState | None = None
    """The rules by which the server removes the oldest entries; absent without rules."""

    scheduled: int | None = None
    """How many entries are scheduled to be appended later; absent if none are."""

    first_entry: Entry | None = None
    """The first entry; null if the stream is empty."""

    last_entry: Entry | None = None
    """The last entry; null if the stream is empty."""

    entries: list[Entry] | None = None
    """The first `count` entries; only with `full=true`."""

    group_details: list[GroupDetail] | None = None
    """Each group with its pending entries; only with `full=true`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket(Record):
    """A ticket for one WebSocket handshake. Send it as the subprotocol `tailrace.ticket.<ticket>`."""

    ticket: str
    """The ticket."""

    expires_in_s: int
    """Seconds until the ticket expires."""
