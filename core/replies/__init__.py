"""The replies of the engine: one frozen struct per kind of reply that is more than an int, bytes or None.

Replies are neutral: `core.grammar` writes them as Redis's arrays, and `api` as JSON. Entries stay in their
stored form (`core.log.entry`) until then. The package holds data only, and does not depend on RESP or HTTP.
"""

from collections.abc import Sequence
from typing import TypeAlias

from tailrace.core.group_settings import GroupSettings
from tailrace.core.replies.entries import (
    NO_ENTRIES,
    AppendReply,
    Boundary,
    DeleteResult,
    Entries,
    RangeReply,
    ReadReply,
    ScheduledPage,
    ScheduleReply,
    SeekReply,
    SplitReply,
    StreamRead,
)
from tailrace.core.replies.info import (
    ConsumerFullInfo,
    ConsumerInfo,
    EpochInfo,
    GroupFullInfo,
    GroupInfo,
    KeyScan,
    RetentionInfo,
    ServerStats,
    StreamFullInfo,
    StreamInfo,
    StreamList,
    StreamSummary,
)
from tailrace.core.replies.pending import (
    ClaimReply,
    ExpiryReply,
    ExtendReply,
    PendingEntry,
    PendingSummaryReply,
    RedriveReply,
)

Reply: TypeAlias = (
    int
    | Sequence[bytes]
    | Sequence[DeleteResult]
    | Sequence[PendingEntry]
    | Sequence[GroupInfo]
    | Sequence[ConsumerInfo]
    | Sequence[EpochInfo]
    | dict[str, int]
    | AppendReply
    | RangeReply
    | ReadReply
    | ClaimReply
    | PendingSummaryReply
    | RedriveReply
    | ScheduleReply
    | ScheduledPage
    | ExtendReply
    | ExpiryReply
    | StreamInfo
    | StreamFullInfo
    | StreamList
    | KeyScan
    | SplitReply
    | SeekReply
    | ServerStats
    | None
)
"""Every type that `Outcome.reply` can have. A command's docstring names the type of its reply."""

__all__ = [
    "NO_ENTRIES",
    "AppendReply",
    "Boundary",
    "ClaimReply",
    "ConsumerFullInfo",
    "ConsumerInfo",
    "DeleteResult",
    "Entries",
    "EpochInfo",
    "ExpiryReply",
    "ExtendReply",
    "GroupFullInfo",
    "GroupInfo",
    "GroupSettings",
    "KeyScan",
    "PendingEntry",
    "PendingSummaryReply",
    "RangeReply",
    "ReadReply",
    "RedriveReply",
    "Reply",
    "RetentionInfo",
    "ScheduleReply",
    "ScheduledPage",
    "SeekReply",
    "ServerStats",
    "SplitReply",
    "StreamFullInfo",
    "StreamInfo",
    "StreamList",
    "StreamRead",
    "StreamSummary",
]
