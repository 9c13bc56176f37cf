"""The models of requests and responses. Each is loaded when it is first used, because loading all of them takes
longer than most programs need."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ack_body import AckBody
    from .ack_body_references import AckBodyReferences
    from .auto_claim_body import AutoClaimBody
    from .auto_claim_body_encoding import AutoClaimBodyEncoding
    from .backoff import Backoff
    from .base_64_argument import Base64Argument
    from .check_import_shape import CheckImportShape
    from .claim_body import ClaimBody
    from .claim_body_encoding import ClaimBodyEncoding
    from .delete_body import DeleteBody
    from .delete_body_references import DeleteBodyReferences
    from .entry_to_append import EntryToAppend
    from .entry_to_append_encoding import EntryToAppendEncoding
    from .entry_to_append_fields import EntryToAppendFields
    from .error_item import ErrorItem
    from .export_entries_encoding import ExportEntriesEncoding
    from .export_entries_shape import ExportEntriesShape
    from .extend_body import ExtendBody
    from .extend_body_encoding import ExtendBodyEncoding
    from .get_entry_encoding import GetEntryEncoding
    from .get_entry_shape import GetEntryShape
    from .group_body import GroupBody
    from .group_position_body import GroupPositionBody
    from .group_read_body import GroupReadBody
    from .group_read_body_encoding import GroupReadBodyEncoding
    from .group_read_position import GroupReadPosition
    from .group_read_position_encoding import GroupReadPositionEncoding
    from .group_settings_body import GroupSettingsBody
    from .group_settings_body_encoding import GroupSettingsBodyEncoding
    from .import_entries_shape import ImportEntriesShape
    from .import_entries_tailrace_trace import ImportEntriesTailraceTrace
    from .list_scheduled_encoding import ListScheduledEncoding
    from .list_scheduled_shape import ListScheduledShape
    from .nack_body import NackBody
    from .nack_body_mode import NackBodyMode
    from .position_body import PositionBody
    from .problem import Problem
    from .problem_encoding import ProblemEncoding
    from .problem_missing import ProblemMissing
    from .problem_side_effects import ProblemSideEffects
    from .read_body import ReadBody
    from .read_position import ReadPosition
    from .read_position_encoding import ReadPositionEncoding
    from .redrive_body import RedriveBody
    from .retention_body import RetentionBody
    from .stream_settings import StreamSettings
    from .tail_encoding import TailEncoding
    from .tail_shape import TailShape
    from .tail_streams_encoding import TailStreamsEncoding
    from .tail_streams_shape import TailStreamsShape
    from .take_over_body import TakeOverBody
    from .trimming import Trimming
    from .trimming_references import TrimmingReferences
    from .xadd_batch_body import XaddBatchBody
    from .xadd_batch_tailrace_trace import XaddBatchTailraceTrace
    from .xadd_body import XaddBody
    from .xadd_body_encoding import XaddBodyEncoding
    from .xadd_body_fields import XaddBodyFields
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
    "AckBody": ".ack_body",
    "AckBodyReferences": ".ack_body_references",
    "AutoClaimBody": ".auto_claim_body",
    "AutoClaimBodyEncoding": ".auto_claim_body_encoding",
    "Backoff": ".backoff",
    "Base64Argument": ".base_64_argument",
    "CheckImportShape": ".check_import_shape",
    "ClaimBody": ".claim_body",
    "ClaimBodyEncoding": ".claim_body_encoding",
    "DeleteBody": ".delete_body",
    "DeleteBodyReferences": ".delete_body_references",
    "EntryToAppend": ".entry_to_append",
    "EntryToAppendEncoding": ".entry_to_append_encoding",
    "EntryToAppendFields": ".entry_to_append_fields",
    "ErrorItem": ".error_item",
    "ExportEntriesEncoding": ".export_entries_encoding",
    "ExportEntriesShape": ".export_entries_shape",
    "ExtendBody": ".extend_body",
    "ExtendBodyEncoding": ".extend_body_encoding",
    "GetEntryEncoding": ".get_entry_encoding",
    "GetEntryShape": ".get_entry_shape",
    "GroupBody": ".group_body",
    "GroupPositionBody": ".group_position_body",
    "GroupReadBody": ".group_read_body",
    "GroupReadBodyEncoding": ".group_read_body_encoding",
    "GroupReadPosition": ".group_read_position",
    "GroupReadPositionEncoding": ".group_read_position_encoding",
    "GroupSettingsBody": ".group_settings_body",
    "GroupSettingsBodyEncoding": ".group_settings_body_encoding",
    "ImportEntriesShape": ".import_entries_shape",
    "ImportEntriesTailraceTrace": ".import_entries_tailrace_trace",
    "ListScheduledEncoding": ".list_scheduled_encoding",
    "ListScheduledShape": ".list_scheduled_shape",
    "NackBody": ".nack_body",
    "NackBodyMode": ".nack_body_mode",
    "PositionBody": ".position_body",
    "Problem": ".problem",
    "ProblemEncoding": ".problem_encoding",
    "ProblemMissing": ".problem_missing",
    "ProblemSideEffects": ".problem_side_effects",
    "ReadBody": ".read_body",
    "ReadPosition": ".read_position",
    "ReadPositionEncoding": ".read_position_encoding",
    "RedriveBody": ".redrive_body",
    "RetentionBody": ".retention_body",
    "StreamSettings": ".stream_settings",
    "TailEncoding": ".tail_encoding",
    "TailShape": ".tail_shape",
    "TailStreamsEncoding": ".tail_streams_encoding",
    "TailStreamsShape": ".tail_streams_shape",
    "TakeOverBody": ".take_over_body",
    "Trimming": ".trimming",
    "TrimmingReferences": ".trimming_references",
    "XaddBatchBody": ".xadd_batch_body",
    "XaddBatchTailraceTrace": ".xadd_batch_tailrace_trace",
    "XaddBody": ".xadd_body",
    "XaddBodyEncoding": ".xadd_body_encoding",
    "XaddBodyFields": ".xadd_body_fields",
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
    "AckBody",
    "AckBodyReferences",
    "AutoClaimBody",
    "AutoClaimBodyEncoding",
    "Backoff",
    "Base64Argument",
    "CheckImportShape",
    "ClaimBody",
    "ClaimBodyEncoding",
    "DeleteBody",
    "DeleteBodyReferences",
    "EntryToAppend",
    "EntryToAppendEncoding",
    "EntryToAppendFields",
    "ErrorItem",
    "ExportEntriesEncoding",
    "ExportEntriesShape",
    "ExtendBody",
    "ExtendBodyEncoding",
    "GetEntryEncoding",
    "GetEntryShape",
    "GroupBody",
    "GroupPositionBody",
    "GroupReadBody",
    "GroupReadBodyEncoding",
    "GroupReadPosition",
    "GroupReadPositionEncoding",
    "GroupSettingsBody",
    "GroupSettingsBodyEncoding",
    "ImportEntriesShape",
    "ImportEntriesTailraceTrace",
    "ListScheduledEncoding",
    "ListScheduledShape",
    "NackBody",
    "NackBodyMode",
    "PositionBody",
    "Problem",
    "ProblemEncoding",
    "ProblemMissing",
    "ProblemSideEffects",
    "ReadBody",
    "ReadPosition",
    "ReadPositionEncoding",
    "RedriveBody",
    "RetentionBody",
    "StreamSettings",
    "TailEncoding",
    "TailShape",
    "TailStreamsEncoding",
    "TailStreamsShape",
    "TakeOverBody",
    "Trimming",
    "TrimmingReferences",
    "XaddBatchBody",
    "XaddBatchTailraceTrace",
    "XaddBody",
    "XaddBodyEncoding",
    "XaddBodyFields",
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
