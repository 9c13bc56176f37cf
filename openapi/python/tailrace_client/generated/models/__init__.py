"""The models of requests and responses. Each is loaded when it is first used, because loading all of them takes
longer than most programs need."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access_reply import AccessReply
    from .access_reply_scopes_item import AccessReplyScopesItem
    from .ack_body import AckBody
    from .ack_body_references import AckBodyReferences
    from .ack_reply import AckReply
    from .audit_line import AuditLine
    from .audit_page import AuditPage
    from .auto_claim_body import AutoClaimBody
    from .auto_claim_body_encoding import AutoClaimBodyEncoding
    from .auto_claim_reply import AutoClaimReply
    from .backoff import Backoff
    from .backoff_state import BackoffState
    from .base_64_argument import Base64Argument
    from .batch_reply import BatchReply
    from .check_import_shape import CheckImportShape
    from .claim_body import ClaimBody
    from .claim_body_encoding import ClaimBodyEncoding
    from .claim_reply import ClaimReply
    from .command_outcome import CommandOutcome
    from .command_reply import CommandReply
    from .commit_latency import CommitLatency
    from .connections_state import ConnectionsState
    from .connections_state_cut import ConnectionsStateCut
    from .consumer import Consumer
    from .consumer_created import ConsumerCreated
    from .consumer_created_encoding_type_0 import ConsumerCreatedEncodingType0
    from .consumer_deleted import ConsumerDeleted
    from .consumer_detail import ConsumerDetail
    from .consumer_detail_encoding_type_0 import ConsumerDetailEncodingType0
    from .consumer_encoding_type_0 import ConsumerEncodingType0
    from .consumer_list import ConsumerList
    from .contents import Contents
    from .delete_body import DeleteBody
    from .delete_body_references import DeleteBodyReferences
    from .delete_outcome import DeleteOutcome
    from .delete_outcome_result import DeleteOutcomeResult
    from .delete_reply import DeleteReply
    from .delivered_entry import DeliveredEntry
    from .delivered_entry_encoding_type_0 import DeliveredEntryEncodingType0
    from .delivered_entry_fields_type_0 import DeliveredEntryFieldsType0
    from .engine_node import EngineNode
    from .engine_support import EngineSupport
    from .engine_support_support import EngineSupportSupport
    from .entry import Entry
    from .entry_encoding_type_0 import EntryEncodingType0
    from .entry_fields_type_0 import EntryFieldsType0
    from .entry_to_append import EntryToAppend
    from .entry_to_append_encoding import EntryToAppendEncoding
    from .entry_to_append_fields import EntryToAppendFields
    from .epoch_state import EpochState
    from .error_item import ErrorItem
    from .export_entries_encoding import ExportEntriesEncoding
    from .export_entries_shape import ExportEntriesShape
    from .extend_body import ExtendBody
    from .extend_body_encoding import ExtendBodyEncoding
    from .extend_reply import ExtendReply
    from .get_entry_encoding import GetEntryEncoding
    from .get_entry_shape import GetEntryShape
    from .group import Group
    from .group_body import GroupBody
    from .group_detail import GroupDetail
    from .group_detail_encoding_type_0 import GroupDetailEncodingType0
    from .group_encoding_type_0 import GroupEncodingType0
    from .group_list import GroupList
    from .group_position_body import GroupPositionBody
    from .group_read_body import GroupReadBody
    from .group_read_body_encoding import GroupReadBodyEncoding
    from .group_read_page import GroupReadPage
    from .group_read_position import GroupReadPosition
    from .group_read_position_encoding import GroupReadPositionEncoding
    from .group_settings_body import GroupSettingsBody
    from .group_settings_body_encoding import GroupSettingsBodyEncoding
    from .group_stream_slice import GroupStreamSlice
    from .group_stream_slice_encoding_type_0 import GroupStreamSliceEncodingType0
    from .health import Health
    from .health_status import HealthStatus
    from .idempotency_state import IdempotencyState
    from .import_check import ImportCheck
    from .import_entries_shape import ImportEntriesShape
    from .import_entries_tailrace_trace import ImportEntriesTailraceTrace
    from .large_stream import LargeStream
    from .large_stream_encoding_type_0 import LargeStreamEncodingType0
    from .limits import Limits
    from .list_scheduled_encoding import ListScheduledEncoding
    from .list_scheduled_shape import ListScheduledShape
    from .memory_state import MemoryState
    from .nack_body import NackBody
    from .nack_body_mode import NackBodyMode
    from .nack_reply import NackReply
    from .pending_item import PendingItem
    from .pending_item_encoding_type_0 import PendingItemEncodingType0
    from .pending_of_consumer import PendingOfConsumer
    from .pending_of_consumer_encoding_type_0 import PendingOfConsumerEncodingType0
    from .pending_overview import PendingOverview
    from .pending_page import PendingPage
    from .position_body import PositionBody
    from .problem import Problem
    from .problem_encoding_type_0 import ProblemEncodingType0
    from .problem_missing_type_0 import ProblemMissingType0
    from .problem_side_effects import ProblemSideEffects
    from .producer_state import ProducerState
    from .producer_state_encoding_type_0 import ProducerStateEncodingType0
    from .range_page import RangePage
    from .read_body import ReadBody
    from .read_page import ReadPage
    from .read_position import ReadPosition
    from .read_position_encoding import ReadPositionEncoding
    from .readiness import Readiness
    from .readiness_status import ReadinessStatus
    from .redrive_body import RedriveBody
    from .redrive_reply import RedriveReply
    from .redriven_entry import RedrivenEntry
    from .retention_body import RetentionBody
    from .retention_state import RetentionState
    from .retention_state_removed import RetentionStateRemoved
    from .scheduled_batch_reply import ScheduledBatchReply
    from .scheduled_entry import ScheduledEntry
    from .scheduled_entry_encoding_type_0 import ScheduledEntryEncodingType0
    from .scheduled_entry_fields_type_0 import ScheduledEntryFieldsType0
    from .scheduled_page import ScheduledPage
    from .scheduled_reply import ScheduledReply
    from .seek_position import SeekPosition
    from .server_state import ServerState
    from .server_state_durability import ServerStateDurability
    from .server_state_store import ServerStateStore
    from .slow_command import SlowCommand
    from .slow_command_sizes_type_0 import SlowCommandSizesType0
    from .slow_log_page import SlowLogPage
    from .slow_operation import SlowOperation
    from .split_part import SplitPart
    from .split_plan import SplitPlan
    from .storage_state import StorageState
    from .stream_created import StreamCreated
    from .stream_created_encoding_type_0 import StreamCreatedEncodingType0
    from .stream_item import StreamItem
    from .stream_item_encoding_type_0 import StreamItemEncodingType0
    from .stream_length_reply import StreamLengthReply
    from .stream_page import StreamPage
    from .stream_page_encoding_type_0 import StreamPageEncodingType0
    from .stream_settings import StreamSettings
    from .stream_slice import StreamSlice
    from .stream_slice_encoding_type_0 import StreamSliceEncodingType0
    from .stream_state import StreamState
    from .stream_state_encoding_type_0 import StreamStateEncodingType0
    from .tail_encoding import TailEncoding
    from .tail_shape import TailShape
    from .tail_streams_encoding import TailStreamsEncoding
    from .tail_streams_shape import TailStreamsShape
    from .take_over_body import TakeOverBody
    from .ticket import Ticket
    from .trim_reply import TrimReply
    from .trimming import Trimming
    from .trimming_references import TrimmingReferences
    from .xadd_batch_body import XaddBatchBody
    from .xadd_batch_tailrace_trace import XaddBatchTailraceTrace
    from .xadd_body import XaddBody
    from .xadd_body_encoding import XaddBodyEncoding
    from .xadd_body_fields import XaddBodyFields
    from .xadd_reply import XaddReply
    from .xadd_tailrace_trace import XaddTailraceTrace
    from .xautoclaim_encoding import XautoclaimEncoding
    from .xautoclaim_shape import XautoclaimShape
    from .xclaim_encoding import XclaimEncoding
    from .xclaim_shape import XclaimShape
    from .xinfo_stream_encoding import XinfoStreamEncoding
    from .xinfo_stream_shape import XinfoStreamShape
    from .xrange_encoding import XrangeEncoding
    from .xrange_order import XrangeOrder
    from .xrange_shape import XrangeShape
    from .xread_encoding import XreadEncoding
    from .xread_shape import XreadShape
    from .xreadgroup_encoding import XreadgroupEncoding
    from .xreadgroup_shape import XreadgroupShape

_MODULES = {
    "AccessReply": ".access_reply",
    "AccessReplyScopesItem": ".access_reply_scopes_item",
    "AckBody": ".ack_body",
    "AckBodyReferences": ".ack_body_references",
    "AckReply": ".ack_reply",
    "AuditLine": ".audit_line",
    "AuditPage": ".audit_page",
    "AutoClaimBody": ".auto_claim_body",
    "AutoClaimBodyEncoding": ".auto_claim_body_encoding",
    "AutoClaimReply": ".auto_claim_reply",
    "Backoff": ".backoff",
    "BackoffState": ".backoff_state",
    "Base64Argument": ".base_64_argument",
    "BatchReply": ".batch_reply",
    "CheckImportShape": ".check_import_shape",
    "ClaimBody": ".claim_body",
    "ClaimBodyEncoding": ".claim_body_encoding",
    "ClaimReply": ".claim_reply",
    "CommandOutcome": ".command_outcome",
    "CommandReply": ".command_reply",
    "CommitLatency": ".commit_latency",
    "ConnectionsState": ".connections_state",
    "ConnectionsStateCut": ".connections_state_cut",
    "Consumer": ".consumer",
    "ConsumerCreated": ".consumer_created",
    "ConsumerCreatedEncodingType0": ".consumer_created_encoding_type_0",
    "ConsumerDeleted": ".consumer_deleted",
    "ConsumerDetail": ".consumer_detail",
    "ConsumerDetailEncodingType0": ".consumer_detail_encoding_type_0",
    "ConsumerEncodingType0": ".consumer_encoding_type_0",
    "ConsumerList": ".consumer_list",
    "Contents": ".contents",
    "DeleteBody": ".delete_body",
    "DeleteBodyReferences": ".delete_body_references",
    "DeleteOutcome": ".delete_outcome",
    "DeleteOutcomeResult": ".delete_outcome_result",
    "DeleteReply": ".delete_reply",
    "DeliveredEntry": ".delivered_entry",
    "DeliveredEntryEncodingType0": ".delivered_entry_encoding_type_0",
    "DeliveredEntryFieldsType0": ".delivered_entry_fields_type_0",
    "EngineNode": ".engine_node",
    "EngineSupport": ".engine_support",
    "EngineSupportSupport": ".engine_support_support",
    "Entry": ".entry",
    "EntryEncodingType0": ".entry_encoding_type_0",
    "EntryFieldsType0": ".entry_fields_type_0",
    "EntryToAppend": ".entry_to_append",
    "EntryToAppendEncoding": ".entry_to_append_encoding",
    "EntryToAppendFields": ".entry_to_append_fields",
    "EpochState": ".epoch_state",
    "ErrorItem": ".error_item",
    "ExportEntriesEncoding": ".export_entries_encoding",
    "ExportEntriesShape": ".export_entries_shape",
    "ExtendBody": ".extend_body",
    "ExtendBodyEncoding": ".extend_body_encoding",
    "ExtendReply": ".extend_reply",
    "GetEntryEncoding": ".get_entry_encoding",
    "GetEntryShape": ".get_entry_shape",
    "Group": ".group",
    "GroupBody": ".group_body",
    "GroupDetail": ".group_detail",
    "GroupDetailEncodingType0": ".group_detail_encoding_type_0",
    "GroupEncodingType0": ".group_encoding_type_0",
    "GroupList": ".group_list",
    "GroupPositionBody": ".group_position_body",
    "GroupReadBody": ".group_read_body",
    "GroupReadBodyEncoding": ".group_read_body_encoding",
    "GroupReadPage": ".group_read_page",
    "GroupReadPosition": ".group_read_position",
    "GroupReadPositionEncoding": ".group_read_position_encoding",
    "GroupSettingsBody": ".group_settings_body",
    "GroupSettingsBodyEncoding": ".group_settings_body_encoding",
    "GroupStreamSlice": ".group_stream_slice",
    "GroupStreamSliceEncodingType0": ".group_stream_slice_encoding_type_0",
    "Health": ".health",
    "HealthStatus": ".health_status",
    "IdempotencyState": ".idempotency_state",
    "ImportCheck": ".import_check",
    "ImportEntriesShape": ".import_entries_shape",
    "ImportEntriesTailraceTrace": ".import_entries_tailrace_trace",
    "LargeStream": ".large_stream",
    "LargeStreamEncodingType0": ".large_stream_encoding_type_0",
    "Limits": ".limits",
    "ListScheduledEncoding": ".list_scheduled_encoding",
    "ListScheduledShape": ".list_scheduled_shape",
    "MemoryState": ".memory_state",
    "NackBody": ".nack_body",
    "NackBodyMode": ".nack_body_mode",
    "NackReply": ".nack_reply",
    "PendingItem": ".pending_item",
    "PendingItemEncodingType0": ".pending_item_encoding_type_0",
    "PendingOfConsumer": ".pending_of_consumer",
    "PendingOfConsumerEncodingType0": ".pending_of_consumer_encoding_type_0",
    "PendingOverview": ".pending_overview",
    "PendingPage": ".pending_page",
    "PositionBody": ".position_body",
    "Problem": ".problem",
    "ProblemEncodingType0": ".problem_encoding_type_0",
    "ProblemMissingType0": ".problem_missing_type_0",
    "ProblemSideEffects": ".problem_side_effects",
    "ProducerState": ".producer_state",
    "ProducerStateEncodingType0": ".producer_state_encoding_type_0",
    "RangePage": ".range_page",
    "ReadBody": ".read_body",
    "ReadPage": ".read_page",
    "ReadPosition": ".read_position",
    "ReadPositionEncoding": ".read_position_encoding",
    "Readiness": ".readiness",
    "ReadinessStatus": ".readiness_status",
    "RedriveBody": ".redrive_body",
    "RedriveReply": ".redrive_reply",
    "RedrivenEntry": ".redriven_entry",
    "RetentionBody": ".retention_body",
    "RetentionState": ".retention_state",
    "RetentionStateRemoved": ".retention_state_removed",
    "ScheduledBatchReply": ".scheduled_batch_reply",
    "ScheduledEntry": ".scheduled_entry",
    "ScheduledEntryEncodingType0": ".scheduled_entry_encoding_type_0",
    "ScheduledEntryFieldsType0": ".scheduled_entry_fields_type_0",
    "ScheduledPage": ".scheduled_page",
    "ScheduledReply": ".scheduled_reply",
    "SeekPosition": ".seek_position",
    "ServerState": ".server_state",
    "ServerStateDurability": ".server_state_durability",
    "ServerStateStore": ".server_state_store",
    "SlowCommand": ".slow_command",
    "SlowCommandSizesType0": ".slow_command_sizes_type_0",
    "SlowLogPage": ".slow_log_page",
    "SlowOperation": ".slow_operation",
    "SplitPart": ".split_part",
    "SplitPlan": ".split_plan",
    "StorageState": ".storage_state",
    "StreamCreated": ".stream_created",
    "StreamCreatedEncodingType0": ".stream_created_encoding_type_0",
    "StreamItem": ".stream_item",
    "StreamItemEncodingType0": ".stream_item_encoding_type_0",
    "StreamLengthReply": ".stream_length_reply",
    "StreamPage": ".stream_page",
    "StreamPageEncodingType0": ".stream_page_encoding_type_0",
    "StreamSettings": ".stream_settings",
    "StreamSlice": ".stream_slice",
    "StreamSliceEncodingType0": ".stream_slice_encoding_type_0",
    "StreamState": ".stream_state",
    "StreamStateEncodingType0": ".stream_state_encoding_type_0",
    "TailEncoding": ".tail_encoding",
    "TailShape": ".tail_shape",
    "TailStreamsEncoding": ".tail_streams_encoding",
    "TailStreamsShape": ".tail_streams_shape",
    "TakeOverBody": ".take_over_body",
    "Ticket": ".ticket",
    "TrimReply": ".trim_reply",
    "Trimming": ".trimming",
    "TrimmingReferences": ".trimming_references",
    "XaddBatchBody": ".xadd_batch_body",
    "XaddBatchTailraceTrace": ".xadd_batch_tailrace_trace",
    "XaddBody": ".xadd_body",
    "XaddBodyEncoding": ".xadd_body_encoding",
    "XaddBodyFields": ".xadd_body_fields",
    "XaddReply": ".xadd_reply",
    "XaddTailraceTrace": ".xadd_tailrace_trace",
    "XautoclaimEncoding": ".xautoclaim_encoding",
    "XautoclaimShape": ".xautoclaim_shape",
    "XclaimEncoding": ".xclaim_encoding",
    "XclaimShape": ".xclaim_shape",
    "XinfoStreamEncoding": ".xinfo_stream_encoding",
    "XinfoStreamShape": ".xinfo_stream_shape",
    "XrangeEncoding": ".xrange_encoding",
    "XrangeOrder": ".xrange_order",
    "XrangeShape": ".xrange_shape",
    "XreadEncoding": ".xread_encoding",
    "XreadShape": ".xread_shape",
    "XreadgroupEncoding": ".xreadgroup_encoding",
    "XreadgroupShape": ".xreadgroup_shape",
}

__all__ = (
    "AccessReply",
    "AccessReplyScopesItem",
    "AckBody",
    "AckBodyReferences",
    "AckReply",
    "AuditLine",
    "AuditPage",
    "AutoClaimBody",
    "AutoClaimBodyEncoding",
    "AutoClaimReply",
    "Backoff",
    "BackoffState",
    "Base64Argument",
    "BatchReply",
    "CheckImportShape",
    "ClaimBody",
    "ClaimBodyEncoding",
    "ClaimReply",
    "CommandOutcome",
    "CommandReply",
    "CommitLatency",
    "ConnectionsState",
    "ConnectionsStateCut",
    "Consumer",
    "ConsumerCreated",
    "ConsumerCreatedEncodingType0",
    "ConsumerDeleted",
    "ConsumerDetail",
    "ConsumerDetailEncodingType0",
    "ConsumerEncodingType0",
    "ConsumerList",
    "Contents",
    "DeleteBody",
    "DeleteBodyReferences",
    "DeleteOutcome",
    "DeleteOutcomeResult",
    "DeleteReply",
    "DeliveredEntry",
    "DeliveredEntryEncodingType0",
    "DeliveredEntryFieldsType0",
    "EngineNode",
    "EngineSupport",
    "EngineSupportSupport",
    "Entry",
    "EntryEncodingType0",
    "EntryFieldsType0",
    "EntryToAppend",
    "EntryToAppendEncoding",
    "EntryToAppendFields",
    "EpochState",
    "ErrorItem",
    "ExportEntriesEncoding",
    "ExportEntriesShape",
    "ExtendBody",
    "ExtendBodyEncoding",
    "ExtendReply",
    "GetEntryEncoding",
    "GetEntryShape",
    "Group",
    "GroupBody",
    "GroupDetail",
    "GroupDetailEncodingType0",
    "GroupEncodingType0",
    "GroupList",
    "GroupPositionBody",
    "GroupReadBody",
    "GroupReadBodyEncoding",
    "GroupReadPage",
    "GroupReadPosition",
    "GroupReadPositionEncoding",
    "GroupSettingsBody",
    "GroupSettingsBodyEncoding",
    "GroupStreamSlice",
    "GroupStreamSliceEncodingType0",
    "Health",
    "HealthStatus",
    "IdempotencyState",
    "ImportCheck",
    "ImportEntriesShape",
    "ImportEntriesTailraceTrace",
    "LargeStream",
    "LargeStreamEncodingType0",
    "Limits",
    "ListScheduledEncoding",
    "ListScheduledShape",
    "MemoryState",
    "NackBody",
    "NackBodyMode",
    "NackReply",
    "PendingItem",
    "PendingItemEncodingType0",
    "PendingOfConsumer",
    "PendingOfConsumerEncodingType0",
    "PendingOverview",
    "PendingPage",
    "PositionBody",
    "Problem",
    "ProblemEncodingType0",
    "ProblemMissingType0",
    "ProblemSideEffects",
    "ProducerState",
    "ProducerStateEncodingType0",
    "RangePage",
    "ReadBody",
    "Readiness",
    "ReadinessStatus",
    "ReadPage",
    "ReadPosition",
    "ReadPositionEncoding",
    "RedriveBody",
    "RedrivenEntry",
    "RedriveReply",
    "RetentionBody",
    "RetentionState",
    "RetentionStateRemoved",
    "ScheduledBatchReply",
    "ScheduledEntry",
    "ScheduledEntryEncodingType0",
    "ScheduledEntryFieldsType0",
    "ScheduledPage",
    "ScheduledReply",
    "SeekPosition",
    "ServerState",
    "ServerStateDurability",
    "ServerStateStore",
    "SlowCommand",
    "SlowCommandSizesType0",
    "SlowLogPage",
    "SlowOperation",
    "SplitPart",
    "SplitPlan",
    "StorageState",
    "StreamCreated",
    "StreamCreatedEncodingType0",
    "StreamItem",
    "StreamItemEncodingType0",
    "StreamLengthReply",
    "StreamPage",
    "StreamPageEncodingType0",
    "StreamSettings",
    "StreamSlice",
    "StreamSliceEncodingType0",
    "StreamState",
    "StreamStateEncodingType0",
    "TailEncoding",
    "TailShape",
    "TailStreamsEncoding",
    "TailStreamsShape",
    "TakeOverBody",
    "Ticket",
    "Trimming",
    "TrimmingReferences",
    "TrimReply",
    "XaddBatchBody",
    "XaddBatchTailraceTrace",
    "XaddBody",
    "XaddBodyEncoding",
    "XaddBodyFields",
    "XaddReply",
    "XaddTailraceTrace",
    "XautoclaimEncoding",
    "XautoclaimShape",
    "XclaimEncoding",
    "XclaimShape",
    "XinfoStreamEncoding",
    "XinfoStreamShape",
    "XrangeEncoding",
    "XrangeOrder",
    "XrangeShape",
    "XreadEncoding",
    "XreadgroupEncoding",
    "XreadgroupShape",
    "XreadShape",
)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(import_module(module, __name__), name))


def __dir__() -> list[str]:
    return sorted(__all__)
