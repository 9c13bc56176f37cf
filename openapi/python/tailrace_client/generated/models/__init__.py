"""Contains all the data models used in inputs/outputs"""

from .access_reply import AccessReply
from .access_reply_scopes_item import AccessReplyScopesItem
from .ack_body import AckBody
from .ack_body_references import AckBodyReferences
from .ack_reply import AckReply
from .auto_claim_body import AutoClaimBody
from .auto_claim_body_encoding import AutoClaimBodyEncoding
from .auto_claim_reply import AutoClaimReply
from .base_64_argument import Base64Argument
from .batch_reply import BatchReply
from .check_import_shape import CheckImportShape
from .claim_body import ClaimBody
from .claim_body_encoding import ClaimBodyEncoding
from .claim_reply import ClaimReply
from .command_outcome import CommandOutcome
from .command_reply import CommandReply
from .consumer import Consumer
from .consumer_created import ConsumerCreated
from .consumer_created_encoding import ConsumerCreatedEncoding
from .consumer_deleted import ConsumerDeleted
from .consumer_detail import ConsumerDetail
from .consumer_detail_encoding import ConsumerDetailEncoding
from .consumer_encoding import ConsumerEncoding
from .consumer_list import ConsumerList
from .delete_body import DeleteBody
from .delete_body_references import DeleteBodyReferences
from .delete_outcome import DeleteOutcome
from .delete_outcome_result import DeleteOutcomeResult
from .delete_reply import DeleteReply
from .delivered_entry import DeliveredEntry
from .delivered_entry_encoding import DeliveredEntryEncoding
from .delivered_entry_fields import DeliveredEntryFields
from .engine_support import EngineSupport
from .engine_support_support import EngineSupportSupport
from .entry import Entry
from .entry_encoding import EntryEncoding
from .entry_fields import EntryFields
from .entry_to_append import EntryToAppend
from .entry_to_append_encoding import EntryToAppendEncoding
from .entry_to_append_fields import EntryToAppendFields
from .epoch_state import EpochState
from .error_item import ErrorItem
from .export_entries_encoding import ExportEntriesEncoding
from .export_entries_shape import ExportEntriesShape
from .get_entry_encoding import GetEntryEncoding
from .get_entry_shape import GetEntryShape
from .group import Group
from .group_body import GroupBody
from .group_detail import GroupDetail
from .group_detail_encoding import GroupDetailEncoding
from .group_encoding import GroupEncoding
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
from .group_stream_slice_encoding import GroupStreamSliceEncoding
from .health import Health
from .health_status import HealthStatus
from .idempotency_state import IdempotencyState
from .import_check import ImportCheck
from .import_entries_shape import ImportEntriesShape
from .import_entries_tailrace_trace import ImportEntriesTailraceTrace
from .limits import Limits
from .nack_body import NackBody
from .nack_body_mode import NackBodyMode
from .nack_reply import NackReply
from .pending_item import PendingItem
from .pending_item_encoding import PendingItemEncoding
from .pending_of_consumer import PendingOfConsumer
from .pending_of_consumer_encoding import PendingOfConsumerEncoding
from .pending_overview import PendingOverview
from .pending_page import PendingPage
from .position_body import PositionBody
from .problem import Problem
from .problem_encoding import ProblemEncoding
from .problem_missing import ProblemMissing
from .problem_side_effects import ProblemSideEffects
from .producer_state import ProducerState
from .producer_state_encoding import ProducerStateEncoding
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
from .seek_position import SeekPosition
from .slow_command import SlowCommand
from .slow_command_sizes import SlowCommandSizes
from .slow_log_page import SlowLogPage
from .slow_operation import SlowOperation
from .split_part import SplitPart
from .split_plan import SplitPlan
from .stream_created import StreamCreated
from .stream_created_encoding import StreamCreatedEncoding
from .stream_item import StreamItem
from .stream_item_encoding import StreamItemEncoding
from .stream_length_reply import StreamLengthReply
from .stream_page import StreamPage
from .stream_page_encoding import StreamPageEncoding
from .stream_settings import StreamSettings
from .stream_slice import StreamSlice
from .stream_slice_encoding import StreamSliceEncoding
from .stream_state import StreamState
from .stream_state_encoding import StreamStateEncoding
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

__all__ = (
    "AccessReply",
    "AccessReplyScopesItem",
    "AckBody",
    "AckBodyReferences",
    "AckReply",
    "AutoClaimBody",
    "AutoClaimBodyEncoding",
    "AutoClaimReply",
    "Base64Argument",
    "BatchReply",
    "CheckImportShape",
    "ClaimBody",
    "ClaimBodyEncoding",
    "ClaimReply",
    "CommandOutcome",
    "CommandReply",
    "Consumer",
    "ConsumerCreated",
    "ConsumerCreatedEncoding",
    "ConsumerDeleted",
    "ConsumerDetail",
    "ConsumerDetailEncoding",
    "ConsumerEncoding",
    "ConsumerList",
    "DeleteBody",
    "DeleteBodyReferences",
    "DeleteOutcome",
    "DeleteOutcomeResult",
    "DeleteReply",
    "DeliveredEntry",
    "DeliveredEntryEncoding",
    "DeliveredEntryFields",
    "EngineSupport",
    "EngineSupportSupport",
    "Entry",
    "EntryEncoding",
    "EntryFields",
    "EntryToAppend",
    "EntryToAppendEncoding",
    "EntryToAppendFields",
    "EpochState",
    "ErrorItem",
    "ExportEntriesEncoding",
    "ExportEntriesShape",
    "GetEntryEncoding",
    "GetEntryShape",
    "Group",
    "GroupBody",
    "GroupDetail",
    "GroupDetailEncoding",
    "GroupEncoding",
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
    "GroupStreamSliceEncoding",
    "Health",
    "HealthStatus",
    "IdempotencyState",
    "ImportCheck",
    "ImportEntriesShape",
    "ImportEntriesTailraceTrace",
    "Limits",
    "NackBody",
    "NackBodyMode",
    "NackReply",
    "PendingItem",
    "PendingItemEncoding",
    "PendingOfConsumer",
    "PendingOfConsumerEncoding",
    "PendingOverview",
    "PendingPage",
    "PositionBody",
    "Problem",
    "ProblemEncoding",
    "ProblemMissing",
    "ProblemSideEffects",
    "ProducerState",
    "ProducerStateEncoding",
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
    "SeekPosition",
    "SlowCommand",
    "SlowCommandSizes",
    "SlowLogPage",
    "SlowOperation",
    "SplitPart",
    "SplitPlan",
    "StreamCreated",
    "StreamCreatedEncoding",
    "StreamItem",
    "StreamItemEncoding",
    "StreamLengthReply",
    "StreamPage",
    "StreamPageEncoding",
    "StreamSettings",
    "StreamSlice",
    "StreamSliceEncoding",
    "StreamState",
    "StreamStateEncoding",
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
