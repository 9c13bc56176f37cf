from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.server_state_durability import (
    ServerStateDurability,
    check_server_state_durability,
)
from ..models.server_state_store import ServerStateStore, check_server_state_store

if TYPE_CHECKING:
    from ..models.audit_page import AuditPage
    from ..models.connections_state import ConnectionsState
    from ..models.contents import Contents
    from ..models.engine_node import EngineNode
    from ..models.large_stream import LargeStream
    from ..models.limits import Limits
    from ..models.memory_state import MemoryState
    from ..models.slow_log_page import SlowLogPage
    from ..models.storage_state import StorageState


T = TypeVar("T", bound="ServerState")


@_attrs_define
class ServerState:
    """The state of the whole server.

    Example:
        {'version': '0.1.0', 'started_at_ms': 1795180000000, 'store': 'disk', 'durability': 'always', 'nodes': [],
            'memory': {'resident_bytes': 61000000, 'limit_bytes': None, 'is_limit_reached': False, 'cache_bytes': 1200000,
            'cache_max_bytes': 67633152}, 'connections': {'open': 3, 'websockets': 1, 'subscriptions': 2, 'event_streams':
            0, 'waiting_readers': 2, 'cut': {'header_timeout': 1}}, 'storage': {'data_bytes': 5200000, 'disk_free_bytes':
            41000000000, 'journal_bytes': 310000, 'commits': 15200, 'commits_behind': 0, 'checkpoints': 1, 'has_failed':
            False, 'commit_latency': {'commits': 1000, 'p50_ms': 0.41, 'p99_ms': 1.93, 'max_ms': 4.2}}, 'contents':
            {'streams': 12, 'entries': 4096, 'groups': 3, 'pending_entries': 17}, 'largest_streams': [{'key': 'race:france',
            'bytes': 201, 'length': 3}], 'slow_log': {'threshold_ms': 10, 'capacity': 128, 'operations': []}, 'audit':
            {'capacity': 128, 'acts': [{'at_ms': 1795180211331, 'token_id': '3f9a0c27b1d4', 'token': 'operator',
            'operation': 'delete_stream', 'keys': ['race:italy'], 'keys_count': 1, 'outcome': 'done', 'request_id':
            'c02051d26e634ba9af4eea1f243a0353'}]}, 'limits': {'header_timeout_s': 6, 'body_bytes_per_s_min': 1024,
            'answer_timeout_s': 30, 'keep_alive_timeout_s': 75, 'connections_max': 16384, 'connections_per_peer_max': 0,
            'waiting_readers_max': 100000, 'event_streams_max': 10000, 'websockets_max': 10000, 'subscriptions_max': 100000,
            'bodies_mb': 512, 'requests_per_s': 0, 'request_burst': 0, 'memory_limit_mb': 0, 'xautoclaim_scan_max': 20000,
            'pending_steps_max': 40000, 'info_full_parts_max': 5000, 'held_entries_max': 100000, 'keys_in_flight_max':
            100000, 'ordered_entries_max': 10000, 'filter_characters_max': 4096, 'filter_depth_max': 32, 'filter_tests_max':
            64, 'filter_step_entries': 1000, 'filter_step_bytes': 262144, 'filter_turn_entries_max': 10000,
            'filter_read_ms_max': 5000, 'filter_scan_entries_max': 100000, 'filter_scan_bytes_max': 67108864,
            'delay_ms_max': 31622400000, 'backoff_factor_max': 100, 'scheduled_entries_max': 100000, 'scheduled_bytes_max':
            33554432, 'scheduled_entries_total_max': 1000000, 'scheduled_bytes_total_max': 536870912, 'scheduled_page_max':
            1000, 'due_entries_per_step': 1000, 'due_bytes_per_step': 8388608, 'due_places_per_step': 200, 'name_bytes_max':
            512, 'fields_per_entry_max': 65536, 'entry_bytes_max': 16777216, 'body_bytes_max': 67108864, 'body_members_max':
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
            1000000, 'engine': []}}

    """

    version: str
    """ The version of the server. """
    started_at_ms: int | None
    """ When the process started, in Unix milliseconds; null if it is not measured. """
    store: ServerStateStore
    """ Where the data is: `disk`, `memory`, or for a gateway `engine`: Redis or Valkey. """
    durability: ServerStateDurability
    """ The option `--durability`; null behind a gateway. """
    nodes: list[EngineNode]
    """ The nodes of the engine behind a gateway, masters first. """
    memory: MemoryState | None
    """ The memory of the process; null if it is not measured. """
    connections: ConnectionsState | None
    """ The clients; null if they are not counted. """
    storage: None | StorageState
    """ The data directory; null if the server has none. """
    contents: Contents | None
    """ What the server keeps; null behind a gateway. """
    largest_streams: list[LargeStream]
    """ The streams with the most bytes, the largest first. Empty behind a gateway. """
    slow_log: SlowLogPage
    """ The most recent slow operations, newest first. """
    audit: AuditPage
    """ The most recent lines of the audit log. The log of the process has all of them. """
    limits: Limits
    """ All limits of the server: those that its operator sets, and the fixed limits of one request. The length
    of a stream has no limit. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.connections_state import ConnectionsState  # noqa: PLC0415
        from ..models.contents import Contents  # noqa: PLC0415
        from ..models.memory_state import MemoryState  # noqa: PLC0415
        from ..models.storage_state import StorageState  # noqa: PLC0415

        version = self.version

        started_at_ms: int | None
        started_at_ms = self.started_at_ms

        store: str = self.store

        durability: str = self.durability

        nodes = []
        for nodes_item_data in self.nodes:
            nodes_item = nodes_item_data.to_dict()
            nodes.append(nodes_item)

        memory: dict[str, Any] | None
        if isinstance(self.memory, MemoryState):
            memory = self.memory.to_dict()
        else:
            memory = self.memory

        connections: dict[str, Any] | None
        if isinstance(self.connections, ConnectionsState):
            connections = self.connections.to_dict()
        else:
            connections = self.connections

        storage: dict[str, Any] | None
        if isinstance(self.storage, StorageState):
            storage = self.storage.to_dict()
        else:
            storage = self.storage

        contents: dict[str, Any] | None
        if isinstance(self.contents, Contents):
            contents = self.contents.to_dict()
        else:
            contents = self.contents

        largest_streams = []
        for largest_streams_item_data in self.largest_streams:
            largest_streams_item = largest_streams_item_data.to_dict()
            largest_streams.append(largest_streams_item)

        slow_log = self.slow_log.to_dict()

        audit = self.audit.to_dict()

        limits = self.limits.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "version": version,
                "started_at_ms": started_at_ms,
                "store": store,
                "durability": durability,
                "nodes": nodes,
                "memory": memory,
                "connections": connections,
                "storage": storage,
                "contents": contents,
                "largest_streams": largest_streams,
                "slow_log": slow_log,
                "audit": audit,
                "limits": limits,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audit_page import AuditPage  # noqa: PLC0415
        from ..models.connections_state import ConnectionsState  # noqa: PLC0415
        from ..models.contents import Contents  # noqa: PLC0415
        from ..models.engine_node import EngineNode  # noqa: PLC0415
        from ..models.large_stream import LargeStream  # noqa: PLC0415
        from ..models.limits import Limits  # noqa: PLC0415
        from ..models.memory_state import MemoryState  # noqa: PLC0415
        from ..models.slow_log_page import SlowLogPage  # noqa: PLC0415
        from ..models.storage_state import StorageState  # noqa: PLC0415

        d = dict(src_dict)
        version = d.pop("version")

        def _parse_started_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        started_at_ms = _parse_started_at_ms(d.pop("started_at_ms", None))

        store = check_server_state_store(d.pop("store"))

        durability = check_server_state_durability(d.pop("durability"))

        nodes = []
        _nodes = d.pop("nodes")
        for nodes_item_data in _nodes:
            nodes_item = EngineNode.from_dict(nodes_item_data)

            nodes.append(nodes_item)

        def _parse_memory(data: object) -> MemoryState | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                memory_type_1 = MemoryState.from_dict(data)

                return memory_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MemoryState | None, data)

        memory = _parse_memory(d.pop("memory", None))

        def _parse_connections(data: object) -> ConnectionsState | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                connections_type_1 = ConnectionsState.from_dict(data)

                return connections_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ConnectionsState | None, data)

        connections = _parse_connections(d.pop("connections", None))

        def _parse_storage(data: object) -> None | StorageState:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                storage_type_1 = StorageState.from_dict(data)

                return storage_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StorageState, data)

        storage = _parse_storage(d.pop("storage", None))

        def _parse_contents(data: object) -> Contents | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                contents_type_1 = Contents.from_dict(data)

                return contents_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Contents | None, data)

        contents = _parse_contents(d.pop("contents", None))

        largest_streams = []
        _largest_streams = d.pop("largest_streams")
        for largest_streams_item_data in _largest_streams:
            largest_streams_item = LargeStream.from_dict(largest_streams_item_data)

            largest_streams.append(largest_streams_item)

        slow_log = SlowLogPage.from_dict(d.pop("slow_log"))

        audit = AuditPage.from_dict(d.pop("audit"))

        limits = Limits.from_dict(d.pop("limits"))

        server_state = cls(
            version=version,
            started_at_ms=started_at_ms,
            store=store,
            durability=durability,
            nodes=nodes,
            memory=memory,
            connections=connections,
            storage=storage,
            contents=contents,
            largest_streams=largest_streams,
            slow_log=slow_log,
            audit=audit,
            limits=limits,
        )

        return server_state
