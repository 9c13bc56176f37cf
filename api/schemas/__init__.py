"""Wire models: the members of bodies and responses, each with a description and an example.

It owns shapes and their words. Bodies are parsed with these models; answers are documented by them and
written from engine replies by `api.wire.replies`, since the hot ones are joined from stored bytes.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from tailrace.api.schemas.command import CommandBody, CommandOutcomes, CommandReply, CommandsBody
from tailrace.api.schemas.entries import (
    BatchReply,
    DeleteBody,
    DeleteReply,
    Entry,
    EntryToAppend,
    RangePage,
    SeekPosition,
    SplitPlan,
    Trimming,
    TrimReply,
    XaddBatchBody,
    XaddBody,
    XaddReply,
)
from tailrace.api.schemas.groups import (
    ConsumerCreated,
    ConsumerDeleted,
    ConsumerList,
    Group,
    GroupBody,
    GroupList,
    GroupPositionBody,
)
from tailrace.api.schemas.pending import (
    AckBody,
    AckReply,
    AutoClaimBody,
    AutoClaimReply,
    ClaimBody,
    ClaimReply,
    NackBody,
    NackReply,
    PendingOverview,
    PendingPage,
)
from tailrace.api.schemas.problem import Problem
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPage, ReadBody, ReadPage
from tailrace.api.schemas.service import Health, Limits, Readiness
from tailrace.api.schemas.slow_log import SlowLogPage
from tailrace.api.schemas.streams import (
    PositionBody,
    StreamCreated,
    StreamLengthReply,
    StreamPage,
    StreamSettings,
    StreamState,
)
from tailrace.api.schemas.tickets import Ticket

DOCUMENTED_MODELS: Final[tuple[type[BaseModel], ...]] = (
    AckBody,
    AckReply,
    AutoClaimBody,
    AutoClaimReply,
    BatchReply,
    ClaimBody,
    ClaimReply,
    CommandBody,
    CommandOutcomes,
    CommandReply,
    CommandsBody,
    ConsumerCreated,
    ConsumerDeleted,
    ConsumerList,
    DeleteBody,
    DeleteReply,
    Entry,
    EntryToAppend,
    Group,
    GroupBody,
    GroupList,
    GroupPositionBody,
    GroupReadBody,
    GroupReadPage,
    Health,
    Limits,
    NackBody,
    NackReply,
    PendingOverview,
    PendingPage,
    PositionBody,
    Problem,
    RangePage,
    ReadBody,
    ReadPage,
    Readiness,
    SeekPosition,
    SlowLogPage,
    SplitPlan,
    StreamCreated,
    StreamLengthReply,
    StreamPage,
    StreamSettings,
    StreamState,
    Ticket,
    TrimReply,
    Trimming,
    XaddBatchBody,
    XaddBody,
    XaddReply,
)
"""What the OpenAPI document defines; the models inside these come with them."""
