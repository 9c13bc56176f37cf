from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.engine_support import EngineSupport


T = TypeVar("T", bound="Limits")


@_attrs_define
class Limits:
    """All limits of the server: those that its operator sets, and the fixed limits of one request. The length
    of a stream has no limit.

        Example:
            {'header_timeout_s': 6, 'body_bytes_per_s_min': 1024, 'answer_timeout_s': 30, 'keep_alive_timeout_s': 75,
                'connections_max': 16384, 'connections_per_peer_max': 0, 'waiting_readers_max': 100000, 'event_streams_max':
                10000, 'websockets_max': 10000, 'subscriptions_max': 100000, 'bodies_mb': 512, 'requests_per_s': 0,
                'request_burst': 0, 'memory_limit_mb': 0, 'xautoclaim_scan_max': 20000, 'pending_steps_max': 40000,
                'info_full_parts_max': 5000, 'held_entries_max': 100000, 'keys_in_flight_max': 100000, 'ordered_entries_max':
                10000, 'filter_characters_max': 4096, 'filter_depth_max': 32, 'filter_tests_max': 64, 'filter_step_entries':
                1000, 'filter_step_bytes': 262144, 'filter_turn_entries_max': 10000, 'filter_read_ms_max': 5000,
                'filter_scan_entries_max': 100000, 'filter_scan_bytes_max': 67108864, 'delay_ms_max': 31622400000,
                'backoff_factor_max': 100, 'scheduled_entries_max': 100000, 'scheduled_bytes_max': 33554432,
                'scheduled_entries_total_max': 1000000, 'scheduled_bytes_total_max': 536870912, 'scheduled_page_max': 1000,
                'due_entries_per_step': 1000, 'due_bytes_per_step': 8388608, 'due_places_per_step': 200, 'name_bytes_max': 512,
                'fields_per_entry_max': 65536, 'entry_bytes_max': 16777216, 'body_bytes_max': 67108864, 'body_members_max':
                10000, 'large_imports_max': 2, 'batch_entries_max': 100000, 'body_lines_max': 200000, 'bulk_elements_max':
                2000000, 'body_elements_max': 300000, 'request_elements_max': 30000, 'ids_per_request_max': 10000,
                'reference_looks_max': 150000, 'keys_per_request_max': 10000, 'url_bytes_max': 65535, 'head_bytes_max': 131072,
                'headers_max': 100, 'frame_bytes_max': 17825792, 'requests_per_frame_max': 10000,
                'subscriptions_per_socket_max': 100, 'read_streams_max': 1000, 'page_entries_max': 100000, 'read_entries_max':
                20000, 'page_bytes_max': 8388608, 'list_page_max': 10000, 'list_page_default': 100, 'pipeline_commands_max':
                10000, 'transaction_commands_max': 2000, 'transaction_steps_max': 100000, 'command_steps_max': 80000,
                'command_arguments_max': 262144, 'copy_parts_max': 20000, 'pattern_bytes_max': 1024, 'matching_steps_max':
                10000000, 'scan_count_max': 1000, 'scan_request_keys_max': 10000, 'pending_looks_max': 200000,
                'acked_trim_looks_max': 10000, 'dead_letters_max': 1000, 'consumer_expiry_ms_min': 5000,
                'dead_letter_bytes_max': 8388608, 'reply_bytes_max': 50331648, 'socket_reply_bytes_max': 16777216,
                'turn_commands_max': 100, 'turn_steps_max': 10000, 'turn_reply_bytes_max': 262144, 'split_parts_max': 10000,
                'wait_ms_max': 60000, 'node_entries_default': 100, 'node_bytes_default': 4096, 'idmp_duration_s_default': 100,
                'idmp_duration_s_max': 86400, 'idmp_maxsize_default': 100, 'idmp_maxsize_max': 10000, 'idmp_keys_max': 1000000,
                'epoch_producers_max': 10000, 'epoch_keys_max': 100000, 'autoclaim_count_max': 4294967296, 'trim_limit_max':
                1000000, 'engine': []}

    """

    header_timeout_s: int
    """ Seconds for the head of a request, counted from the connection or the first byte. After that the server
    answers 408; if the client sent nothing, it closes the connection. """
    body_bytes_per_s_min: int
    """ Minimum bytes per second of a body, on average over every 8 seconds. A slower body is 408. 0: no minimum.
    """
    answer_timeout_s: int
    """ Seconds that a client may read nothing of its response before the server cuts the connection. """
    keep_alive_timeout_s: int
    """ Seconds that the server keeps a connection open between requests. """
    connections_max: int
    """ Open connections, including WebSockets. Further ones are answered with 503 and closed. """
    connections_per_peer_max: int
    """ Open connections from one address (IPv6: one /64 network). 0: no limit per address. Behind a proxy, all
    clients share the proxy's address. """
    waiting_readers_max: int
    """ Reads that wait for data, over all transports. Further ones are 503. """
    event_streams_max: int
    """ Open tails (Server-Sent Events). Further ones are 503. """
    websockets_max: int
    """ Open WebSockets. Further handshakes are 503. """
    subscriptions_max: int
    """ Subscriptions of all WebSockets. Further ones are refused with 503. """
    bodies_mb: int
    """ MiB of request bodies and WebSocket messages in memory; those below 64 KiB do not count. Further ones are
    503, or close code 4013. """
    requests_per_s: int
    """ Requests per second for each token, or for each address without a token. WebSocket messages count as
    requests. Further ones are 429 with Retry-After. 0: no limit. """
    request_burst: int
    """ Requests that may arrive at once before the rate applies. 0: as many as one second allows. """
    memory_limit_mb: int
    """ MiB of resident memory. Above it, commands that make the data grow are 507; reads, acknowledgments,
    deletions and trims still work. 0: no limit. """
    xautoclaim_scan_max: int
    """ Pending entries that one scan for idle entries examines. """
    pending_steps_max: int
    """ Work of one group read with `claim_min_idle_ms`, one read of a consumer's history, or one scan for idle
    entries: 1 for each pending entry, 6 for each set of entries delivered or claimed together, and 8 for each block
    of the stream in which entries are looked up. The next request continues from there. """
    info_full_parts_max: int
    """ Groups and consumers that `XINFO STREAM` with `FULL` shows. """
    held_entries_max: int
    """ Entries that a group with `order_by` holds back. At this number it reads no further until one of them is
    delivered or deleted. """
    keys_in_flight_max: int
    """ Entries with a value of `order_by` that a group has in flight. At this number it delivers no further ones
    until some are acknowledged. """
    ordered_entries_max: int
    """ Pending and held entries of a group for which `order_by` can be set or changed. """
    filter_characters_max: int
    """ Characters of a filter. """
    filter_depth_max: int
    """ How deeply the conditions of a filter can be nested. """
    filter_tests_max: int
    """ Tests of single fields in one filter. """
    filter_step_entries: int
    """ Entries that a filter examines before other requests are served; for a group, in one command. """
    filter_step_bytes: int
    """ Bytes of entries that a filter examines before other requests are served. """
    filter_turn_entries_max: int
    """ Entries that the filters of groups examine in one transaction, or in one turn of a pipeline. """
    filter_read_ms_max: int
    """ Milliseconds for which a read of a group that does not wait looks for an entry that matches. """
    filter_scan_entries_max: int
    """ Entries that one read with a filter examines, whether or not they match. `next` continues. """
    filter_scan_bytes_max: int
    """ Bytes of entries that one read with a filter examines. """
    delay_ms_max: int
    """ The longest delay of an entry, of a nack and of a backoff, in milliseconds. """
    backoff_factor_max: int
    """ The greatest factor of a backoff. """
    scheduled_entries_max: int
    """ Scheduled entries of one stream. """
    scheduled_bytes_max: int
    """ Bytes of the scheduled entries of one stream. """
    scheduled_entries_total_max: int
    """ Scheduled entries of all streams. """
    scheduled_bytes_total_max: int
    """ Bytes of the scheduled entries of all streams. """
    scheduled_page_max: int
    """ Scheduled entries in one page of their list. """
    due_entries_per_step: int
    """ Entries that the server appends or releases, once they are due, before it serves other requests. """
    due_bytes_per_step: int
    """ Bytes of entries that it appends then. """
    due_places_per_step: int
    """ Streams and groups that it examines then. """
    name_bytes_max: int
    """ Bytes of the name of a key, group or consumer. """
    fields_per_entry_max: int
    """ Field-value pairs of one entry. """
    entry_bytes_max: int
    """ Bytes of one entry's fields as JSON. """
    body_bytes_max: int
    """ Bytes of a body, after decompression. """
    body_members_max: int
    """ Gzip members or zstd frames of one body. """
    large_imports_max: int
    """ Import bodies above 1 MiB that the server reads at a time; others wait. """
    batch_entries_max: int
    """ Entries of one batch or import. """
    body_lines_max: int
    """ Lines of an NDJSON body, including blank lines. """
    bulk_elements_max: int
    """ JSON members and items in the body of a batch, an import or a pipeline, or in a WebSocket message. """
    body_elements_max: int
    """ JSON members and items in the body of one entry or one command. """
    request_elements_max: int
    """ JSON members and items in any other body. """
    ids_per_request_max: int
    """ Ids named in one request. """
    reference_looks_max: int
    """ Ids times groups with pending entries of one deletion by the policy `delete` or `acknowledged`. """
    keys_per_request_max: int
    """ Keys named in one DEL or EXISTS. """
    url_bytes_max: int
    """ Bytes of a request's target: path and query. """
    head_bytes_max: int
    """ Bytes of a request's head (request line and headers), and of its trailers. """
    headers_max: int
    """ Header lines of one request. """
    frame_bytes_max: int
    """ Bytes of one WebSocket message. """
    requests_per_frame_max: int
    """ Requests in one WebSocket message. """
    subscriptions_per_socket_max: int
    """ Subscriptions of one WebSocket. """
    read_streams_max: int
    """ Streams named in one read. """
    page_entries_max: int
    """ Entries of one page, and the default count. """
    read_entries_max: int
    """ Entries that one read of several streams, one group read or one read after a position returns, and pending
    entries of one page, even if the request asks for more. """
    page_bytes_max: int
    """ Bytes at which a page ends, even if more entries were asked for. """
    list_page_max: int
    """ Streams in one page of the listing. """
    list_page_default: int
    """ Streams in one page of the listing if the request has no `limit`. """
    pipeline_commands_max: int
    """ Commands of one pipeline. """
    transaction_commands_max: int
    """ Commands of one transaction. """
    transaction_steps_max: int
    """ Estimated work of one transaction, in steps of about a microsecond: 10 for a command, 6 for an id. """
    command_steps_max: int
    """ Steps that one command of a transaction counts as at most. """
    command_arguments_max: int
    """ Arguments of one command, including its name. """
    copy_parts_max: int
    """ Blocks, groups, consumers, pending entries and idempotency keys that one COPY may copy. """
    pattern_bytes_max: int
    """ Bytes of a glob pattern. """
    matching_steps_max: int
    """ Steps of matching keys with glob patterns in one request; each key takes 64 steps or more. """
    scan_count_max: int
    """ Keys that one `SCAN` examines at once. """
    scan_request_keys_max: int
    """ Keys that `SCAN` as the only command of an HTTP request examines. """
    pending_looks_max: int
    """ Pending entries that one group read with `claim_min_idle_ms` or one list of idle pending entries examines
    without success. """
    acked_trim_looks_max: int
    """ Blocks and entries with pending references that one trim with `references=acknowledged` examines. """
    dead_letters_max: int
    """ Entries that one request moves to a dead-letter stream, or back. """
    consumer_expiry_ms_min: int
    """ The shortest `consumer_expiry_ms` of a group, in milliseconds. """
    dead_letter_bytes_max: int
    """ Bytes of entries that one request moves in this way. """
    reply_bytes_max: int
    """ Bytes of all replies of one request: the JSON text of entries and names, plus 128 for each. """
    socket_reply_bytes_max: int
    """ Bytes of all replies to one WebSocket message, counted like `reply_bytes_max`. """
    turn_commands_max: int
    """ Commands of a pipeline that run before the server serves other requests. """
    turn_steps_max: int
    """ Steps of a pipeline after which other requests get a turn. """
    turn_reply_bytes_max: int
    """ Bytes of replies after which the server serves other requests. """
    split_parts_max: int
    """ Parts of one split of a range. """
    wait_ms_max: int
    """ The longest wait of one request, in milliseconds. """
    node_entries_default: int
    """ Entries of a block: the unit of approximate trimming. """
    node_bytes_default: int
    """ Bytes of a block: the unit of approximate trimming. """
    idmp_duration_s_default: int
    """ How long an idempotency key is remembered, in seconds. """
    idmp_duration_s_max: int
    """ The greatest value of `idmp_duration_s`, in seconds. """
    idmp_maxsize_default: int
    """ Idempotency keys remembered for each producer. """
    idmp_maxsize_max: int
    """ The greatest value of `idmp_maxsize`. """
    idmp_keys_max: int
    """ Idempotency keys with an epoch, and as many without an epoch, that a stream remembers. Above this limit, the
    stream forgets the least recently used producer. """
    epoch_producers_max: int
    """ Producers with an epoch that a stream remembers. Above this limit, the stream forgets the least recently
    used producer. """
    epoch_keys_max: int
    """ Idempotency keys in one epoch. """
    autoclaim_count_max: int
    """ The greatest `COUNT` of an XAUTOCLAIM command. """
    trim_limit_max: int
    """ Entries that one approximate trim without `limit` removes at most. """
    engine: list[EngineSupport]
    """ What the engine behind the server can do, if the server runs with `--store`; otherwise empty. """

    def to_dict(self) -> dict[str, Any]:
        header_timeout_s = self.header_timeout_s

        body_bytes_per_s_min = self.body_bytes_per_s_min

        answer_timeout_s = self.answer_timeout_s

        keep_alive_timeout_s = self.keep_alive_timeout_s

        connections_max = self.connections_max

        connections_per_peer_max = self.connections_per_peer_max

        waiting_readers_max = self.waiting_readers_max

        event_streams_max = self.event_streams_max

        websockets_max = self.websockets_max

        subscriptions_max = self.subscriptions_max

        bodies_mb = self.bodies_mb

        requests_per_s = self.requests_per_s

        request_burst = self.request_burst

        memory_limit_mb = self.memory_limit_mb

        xautoclaim_scan_max = self.xautoclaim_scan_max

        pending_steps_max = self.pending_steps_max

        info_full_parts_max = self.info_full_parts_max

        held_entries_max = self.held_entries_max

        keys_in_flight_max = self.keys_in_flight_max

        ordered_entries_max = self.ordered_entries_max

        filter_characters_max = self.filter_characters_max

        filter_depth_max = self.filter_depth_max

        filter_tests_max = self.filter_tests_max

        filter_step_entries = self.filter_step_entries

        filter_step_bytes = self.filter_step_bytes

        filter_turn_entries_max = self.filter_turn_entries_max

        filter_read_ms_max = self.filter_read_ms_max

        filter_scan_entries_max = self.filter_scan_entries_max

        filter_scan_bytes_max = self.filter_scan_bytes_max

        delay_ms_max = self.delay_ms_max

        backoff_factor_max = self.backoff_factor_max

        scheduled_entries_max = self.scheduled_entries_max

        scheduled_bytes_max = self.scheduled_bytes_max

        scheduled_entries_total_max = self.scheduled_entries_total_max

        scheduled_bytes_total_max = self.scheduled_bytes_total_max

        scheduled_page_max = self.scheduled_page_max

        due_entries_per_step = self.due_entries_per_step

        due_bytes_per_step = self.due_bytes_per_step

        due_places_per_step = self.due_places_per_step

        name_bytes_max = self.name_bytes_max

        fields_per_entry_max = self.fields_per_entry_max

        entry_bytes_max = self.entry_bytes_max

        body_bytes_max = self.body_bytes_max

        body_members_max = self.body_members_max

        large_imports_max = self.large_imports_max

        batch_entries_max = self.batch_entries_max

        body_lines_max = self.body_lines_max

        bulk_elements_max = self.bulk_elements_max

        body_elements_max = self.body_elements_max

        request_elements_max = self.request_elements_max

        ids_per_request_max = self.ids_per_request_max

        reference_looks_max = self.reference_looks_max

        keys_per_request_max = self.keys_per_request_max

        url_bytes_max = self.url_bytes_max

        head_bytes_max = self.head_bytes_max

        headers_max = self.headers_max

        frame_bytes_max = self.frame_bytes_max

        requests_per_frame_max = self.requests_per_frame_max

        subscriptions_per_socket_max = self.subscriptions_per_socket_max

        read_streams_max = self.read_streams_max

        page_entries_max = self.page_entries_max

        read_entries_max = self.read_entries_max

        page_bytes_max = self.page_bytes_max

        list_page_max = self.list_page_max

        list_page_default = self.list_page_default

        pipeline_commands_max = self.pipeline_commands_max

        transaction_commands_max = self.transaction_commands_max

        transaction_steps_max = self.transaction_steps_max

        command_steps_max = self.command_steps_max

        command_arguments_max = self.command_arguments_max

        copy_parts_max = self.copy_parts_max

        pattern_bytes_max = self.pattern_bytes_max

        matching_steps_max = self.matching_steps_max

        scan_count_max = self.scan_count_max

        scan_request_keys_max = self.scan_request_keys_max

        pending_looks_max = self.pending_looks_max

        acked_trim_looks_max = self.acked_trim_looks_max

        dead_letters_max = self.dead_letters_max

        consumer_expiry_ms_min = self.consumer_expiry_ms_min

        dead_letter_bytes_max = self.dead_letter_bytes_max

        reply_bytes_max = self.reply_bytes_max

        socket_reply_bytes_max = self.socket_reply_bytes_max

        turn_commands_max = self.turn_commands_max

        turn_steps_max = self.turn_steps_max

        turn_reply_bytes_max = self.turn_reply_bytes_max

        split_parts_max = self.split_parts_max

        wait_ms_max = self.wait_ms_max

        node_entries_default = self.node_entries_default

        node_bytes_default = self.node_bytes_default

        idmp_duration_s_default = self.idmp_duration_s_default

        idmp_duration_s_max = self.idmp_duration_s_max

        idmp_maxsize_default = self.idmp_maxsize_default

        idmp_maxsize_max = self.idmp_maxsize_max

        idmp_keys_max = self.idmp_keys_max

        epoch_producers_max = self.epoch_producers_max

        epoch_keys_max = self.epoch_keys_max

        autoclaim_count_max = self.autoclaim_count_max

        trim_limit_max = self.trim_limit_max

        engine = []
        for engine_item_data in self.engine:
            engine_item = engine_item_data.to_dict()
            engine.append(engine_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "header_timeout_s": header_timeout_s,
                "body_bytes_per_s_min": body_bytes_per_s_min,
                "answer_timeout_s": answer_timeout_s,
                "keep_alive_timeout_s": keep_alive_timeout_s,
                "connections_max": connections_max,
                "connections_per_peer_max": connections_per_peer_max,
                "waiting_readers_max": waiting_readers_max,
                "event_streams_max": event_streams_max,
                "websockets_max": websockets_max,
                "subscriptions_max": subscriptions_max,
                "bodies_mb": bodies_mb,
                "requests_per_s": requests_per_s,
                "request_burst": request_burst,
                "memory_limit_mb": memory_limit_mb,
                "xautoclaim_scan_max": xautoclaim_scan_max,
                "pending_steps_max": pending_steps_max,
                "info_full_parts_max": info_full_parts_max,
                "held_entries_max": held_entries_max,
                "keys_in_flight_max": keys_in_flight_max,
                "ordered_entries_max": ordered_entries_max,
                "filter_characters_max": filter_characters_max,
                "filter_depth_max": filter_depth_max,
                "filter_tests_max": filter_tests_max,
                "filter_step_entries": filter_step_entries,
                "filter_step_bytes": filter_step_bytes,
                "filter_turn_entries_max": filter_turn_entries_max,
                "filter_read_ms_max": filter_read_ms_max,
                "filter_scan_entries_max": filter_scan_entries_max,
                "filter_scan_bytes_max": filter_scan_bytes_max,
                "delay_ms_max": delay_ms_max,
                "backoff_factor_max": backoff_factor_max,
                "scheduled_entries_max": scheduled_entries_max,
                "scheduled_bytes_max": scheduled_bytes_max,
                "scheduled_entries_total_max": scheduled_entries_total_max,
                "scheduled_bytes_total_max": scheduled_bytes_total_max,
                "scheduled_page_max": scheduled_page_max,
                "due_entries_per_step": due_entries_per_step,
                "due_bytes_per_step": due_bytes_per_step,
                "due_places_per_step": due_places_per_step,
                "name_bytes_max": name_bytes_max,
                "fields_per_entry_max": fields_per_entry_max,
                "entry_bytes_max": entry_bytes_max,
                "body_bytes_max": body_bytes_max,
                "body_members_max": body_members_max,
                "large_imports_max": large_imports_max,
                "batch_entries_max": batch_entries_max,
                "body_lines_max": body_lines_max,
                "bulk_elements_max": bulk_elements_max,
                "body_elements_max": body_elements_max,
                "request_elements_max": request_elements_max,
                "ids_per_request_max": ids_per_request_max,
                "reference_looks_max": reference_looks_max,
                "keys_per_request_max": keys_per_request_max,
                "url_bytes_max": url_bytes_max,
                "head_bytes_max": head_bytes_max,
                "headers_max": headers_max,
                "frame_bytes_max": frame_bytes_max,
                "requests_per_frame_max": requests_per_frame_max,
                "subscriptions_per_socket_max": subscriptions_per_socket_max,
                "read_streams_max": read_streams_max,
                "page_entries_max": page_entries_max,
                "read_entries_max": read_entries_max,
                "page_bytes_max": page_bytes_max,
                "list_page_max": list_page_max,
                "list_page_default": list_page_default,
                "pipeline_commands_max": pipeline_commands_max,
                "transaction_commands_max": transaction_commands_max,
                "transaction_steps_max": transaction_steps_max,
                "command_steps_max": command_steps_max,
                "command_arguments_max": command_arguments_max,
                "copy_parts_max": copy_parts_max,
                "pattern_bytes_max": pattern_bytes_max,
                "matching_steps_max": matching_steps_max,
                "scan_count_max": scan_count_max,
                "scan_request_keys_max": scan_request_keys_max,
                "pending_looks_max": pending_looks_max,
                "acked_trim_looks_max": acked_trim_looks_max,
                "dead_letters_max": dead_letters_max,
                "consumer_expiry_ms_min": consumer_expiry_ms_min,
                "dead_letter_bytes_max": dead_letter_bytes_max,
                "reply_bytes_max": reply_bytes_max,
                "socket_reply_bytes_max": socket_reply_bytes_max,
                "turn_commands_max": turn_commands_max,
                "turn_steps_max": turn_steps_max,
                "turn_reply_bytes_max": turn_reply_bytes_max,
                "split_parts_max": split_parts_max,
                "wait_ms_max": wait_ms_max,
                "node_entries_default": node_entries_default,
                "node_bytes_default": node_bytes_default,
                "idmp_duration_s_default": idmp_duration_s_default,
                "idmp_duration_s_max": idmp_duration_s_max,
                "idmp_maxsize_default": idmp_maxsize_default,
                "idmp_maxsize_max": idmp_maxsize_max,
                "idmp_keys_max": idmp_keys_max,
                "epoch_producers_max": epoch_producers_max,
                "epoch_keys_max": epoch_keys_max,
                "autoclaim_count_max": autoclaim_count_max,
                "trim_limit_max": trim_limit_max,
                "engine": engine,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.engine_support import EngineSupport  # noqa: PLC0415

        d = dict(src_dict)
        header_timeout_s = d.pop("header_timeout_s")

        body_bytes_per_s_min = d.pop("body_bytes_per_s_min")

        answer_timeout_s = d.pop("answer_timeout_s")

        keep_alive_timeout_s = d.pop("keep_alive_timeout_s")

        connections_max = d.pop("connections_max")

        connections_per_peer_max = d.pop("connections_per_peer_max")

        waiting_readers_max = d.pop("waiting_readers_max")

        event_streams_max = d.pop("event_streams_max")

        websockets_max = d.pop("websockets_max")

        subscriptions_max = d.pop("subscriptions_max")

        bodies_mb = d.pop("bodies_mb")

        requests_per_s = d.pop("requests_per_s")

        request_burst = d.pop("request_burst")

        memory_limit_mb = d.pop("memory_limit_mb")

        xautoclaim_scan_max = d.pop("xautoclaim_scan_max")

        pending_steps_max = d.pop("pending_steps_max")

        info_full_parts_max = d.pop("info_full_parts_max")

        held_entries_max = d.pop("held_entries_max")

        keys_in_flight_max = d.pop("keys_in_flight_max")

        ordered_entries_max = d.pop("ordered_entries_max")

        filter_characters_max = d.pop("filter_characters_max")

        filter_depth_max = d.pop("filter_depth_max")

        filter_tests_max = d.pop("filter_tests_max")

        filter_step_entries = d.pop("filter_step_entries")

        filter_step_bytes = d.pop("filter_step_bytes")

        filter_turn_entries_max = d.pop("filter_turn_entries_max")

        filter_read_ms_max = d.pop("filter_read_ms_max")

        filter_scan_entries_max = d.pop("filter_scan_entries_max")

        filter_scan_bytes_max = d.pop("filter_scan_bytes_max")

        delay_ms_max = d.pop("delay_ms_max")

        backoff_factor_max = d.pop("backoff_factor_max")

        scheduled_entries_max = d.pop("scheduled_entries_max")

        scheduled_bytes_max = d.pop("scheduled_bytes_max")

        scheduled_entries_total_max = d.pop("scheduled_entries_total_max")

        scheduled_bytes_total_max = d.pop("scheduled_bytes_total_max")

        scheduled_page_max = d.pop("scheduled_page_max")

        due_entries_per_step = d.pop("due_entries_per_step")

        due_bytes_per_step = d.pop("due_bytes_per_step")

        due_places_per_step = d.pop("due_places_per_step")

        name_bytes_max = d.pop("name_bytes_max")

        fields_per_entry_max = d.pop("fields_per_entry_max")

        entry_bytes_max = d.pop("entry_bytes_max")

        body_bytes_max = d.pop("body_bytes_max")

        body_members_max = d.pop("body_members_max")

        large_imports_max = d.pop("large_imports_max")

        batch_entries_max = d.pop("batch_entries_max")

        body_lines_max = d.pop("body_lines_max")

        bulk_elements_max = d.pop("bulk_elements_max")

        body_elements_max = d.pop("body_elements_max")

        request_elements_max = d.pop("request_elements_max")

        ids_per_request_max = d.pop("ids_per_request_max")

        reference_looks_max = d.pop("reference_looks_max")

        keys_per_request_max = d.pop("keys_per_request_max")

        url_bytes_max = d.pop("url_bytes_max")

        head_bytes_max = d.pop("head_bytes_max")

        headers_max = d.pop("headers_max")

        frame_bytes_max = d.pop("frame_bytes_max")

        requests_per_frame_max = d.pop("requests_per_frame_max")

        subscriptions_per_socket_max = d.pop("subscriptions_per_socket_max")

        read_streams_max = d.pop("read_streams_max")

        page_entries_max = d.pop("page_entries_max")

        read_entries_max = d.pop("read_entries_max")

        page_bytes_max = d.pop("page_bytes_max")

        list_page_max = d.pop("list_page_max")

        list_page_default = d.pop("list_page_default")

        pipeline_commands_max = d.pop("pipeline_commands_max")

        transaction_commands_max = d.pop("transaction_commands_max")

        transaction_steps_max = d.pop("transaction_steps_max")

        command_steps_max = d.pop("command_steps_max")

        command_arguments_max = d.pop("command_arguments_max")

        copy_parts_max = d.pop("copy_parts_max")

        pattern_bytes_max = d.pop("pattern_bytes_max")

        matching_steps_max = d.pop("matching_steps_max")

        scan_count_max = d.pop("scan_count_max")

        scan_request_keys_max = d.pop("scan_request_keys_max")

        pending_looks_max = d.pop("pending_looks_max")

        acked_trim_looks_max = d.pop("acked_trim_looks_max")

        dead_letters_max = d.pop("dead_letters_max")

        consumer_expiry_ms_min = d.pop("consumer_expiry_ms_min")

        dead_letter_bytes_max = d.pop("dead_letter_bytes_max")

        reply_bytes_max = d.pop("reply_bytes_max")

        socket_reply_bytes_max = d.pop("socket_reply_bytes_max")

        turn_commands_max = d.pop("turn_commands_max")

        turn_steps_max = d.pop("turn_steps_max")

        turn_reply_bytes_max = d.pop("turn_reply_bytes_max")

        split_parts_max = d.pop("split_parts_max")

        wait_ms_max = d.pop("wait_ms_max")

        node_entries_default = d.pop("node_entries_default")

        node_bytes_default = d.pop("node_bytes_default")

        idmp_duration_s_default = d.pop("idmp_duration_s_default")

        idmp_duration_s_max = d.pop("idmp_duration_s_max")

        idmp_maxsize_default = d.pop("idmp_maxsize_default")

        idmp_maxsize_max = d.pop("idmp_maxsize_max")

        idmp_keys_max = d.pop("idmp_keys_max")

        epoch_producers_max = d.pop("epoch_producers_max")

        epoch_keys_max = d.pop("epoch_keys_max")

        autoclaim_count_max = d.pop("autoclaim_count_max")

        trim_limit_max = d.pop("trim_limit_max")

        engine = []
        _engine = d.pop("engine")
        for engine_item_data in _engine:
            engine_item = EngineSupport.from_dict(engine_item_data)

            engine.append(engine_item)

        limits = cls(
            header_timeout_s=header_timeout_s,
            body_bytes_per_s_min=body_bytes_per_s_min,
            answer_timeout_s=answer_timeout_s,
            keep_alive_timeout_s=keep_alive_timeout_s,
            connections_max=connections_max,
            connections_per_peer_max=connections_per_peer_max,
            waiting_readers_max=waiting_readers_max,
            event_streams_max=event_streams_max,
            websockets_max=websockets_max,
            subscriptions_max=subscriptions_max,
            bodies_mb=bodies_mb,
            requests_per_s=requests_per_s,
            request_burst=request_burst,
            memory_limit_mb=memory_limit_mb,
            xautoclaim_scan_max=xautoclaim_scan_max,
            pending_steps_max=pending_steps_max,
            info_full_parts_max=info_full_parts_max,
            held_entries_max=held_entries_max,
            keys_in_flight_max=keys_in_flight_max,
            ordered_entries_max=ordered_entries_max,
            filter_characters_max=filter_characters_max,
            filter_depth_max=filter_depth_max,
            filter_tests_max=filter_tests_max,
            filter_step_entries=filter_step_entries,
            filter_step_bytes=filter_step_bytes,
            filter_turn_entries_max=filter_turn_entries_max,
            filter_read_ms_max=filter_read_ms_max,
            filter_scan_entries_max=filter_scan_entries_max,
            filter_scan_bytes_max=filter_scan_bytes_max,
            delay_ms_max=delay_ms_max,
            backoff_factor_max=backoff_factor_max,
            scheduled_entries_max=scheduled_entries_max,
            scheduled_bytes_max=scheduled_bytes_max,
            scheduled_entries_total_max=scheduled_entries_total_max,
            scheduled_bytes_total_max=scheduled_bytes_total_max,
            scheduled_page_max=scheduled_page_max,
            due_entries_per_step=due_entries_per_step,
            due_bytes_per_step=due_bytes_per_step,
            due_places_per_step=due_places_per_step,
            name_bytes_max=name_bytes_max,
            fields_per_entry_max=fields_per_entry_max,
            entry_bytes_max=entry_bytes_max,
            body_bytes_max=body_bytes_max,
            body_members_max=body_members_max,
            large_imports_max=large_imports_max,
            batch_entries_max=batch_entries_max,
            body_lines_max=body_lines_max,
            bulk_elements_max=bulk_elements_max,
            body_elements_max=body_elements_max,
            request_elements_max=request_elements_max,
            ids_per_request_max=ids_per_request_max,
            reference_looks_max=reference_looks_max,
            keys_per_request_max=keys_per_request_max,
            url_bytes_max=url_bytes_max,
            head_bytes_max=head_bytes_max,
            headers_max=headers_max,
            frame_bytes_max=frame_bytes_max,
            requests_per_frame_max=requests_per_frame_max,
            subscriptions_per_socket_max=subscriptions_per_socket_max,
            read_streams_max=read_streams_max,
            page_entries_max=page_entries_max,
            read_entries_max=read_entries_max,
            page_bytes_max=page_bytes_max,
            list_page_max=list_page_max,
            list_page_default=list_page_default,
            pipeline_commands_max=pipeline_commands_max,
            transaction_commands_max=transaction_commands_max,
            transaction_steps_max=transaction_steps_max,
            command_steps_max=command_steps_max,
            command_arguments_max=command_arguments_max,
            copy_parts_max=copy_parts_max,
            pattern_bytes_max=pattern_bytes_max,
            matching_steps_max=matching_steps_max,
            scan_count_max=scan_count_max,
            scan_request_keys_max=scan_request_keys_max,
            pending_looks_max=pending_looks_max,
            acked_trim_looks_max=acked_trim_looks_max,
            dead_letters_max=dead_letters_max,
            consumer_expiry_ms_min=consumer_expiry_ms_min,
            dead_letter_bytes_max=dead_letter_bytes_max,
            reply_bytes_max=reply_bytes_max,
            socket_reply_bytes_max=socket_reply_bytes_max,
            turn_commands_max=turn_commands_max,
            turn_steps_max=turn_steps_max,
            turn_reply_bytes_max=turn_reply_bytes_max,
            split_parts_max=split_parts_max,
            wait_ms_max=wait_ms_max,
            node_entries_default=node_entries_default,
            node_bytes_default=node_bytes_default,
            idmp_duration_s_default=idmp_duration_s_default,
            idmp_duration_s_max=idmp_duration_s_max,
            idmp_maxsize_default=idmp_maxsize_default,
            idmp_maxsize_max=idmp_maxsize_max,
            idmp_keys_max=idmp_keys_max,
            epoch_producers_max=epoch_producers_max,
            epoch_keys_max=epoch_keys_max,
            autoclaim_count_max=autoclaim_count_max,
            trim_limit_max=trim_limit_max,
            engine=engine,
        )

        return limits
