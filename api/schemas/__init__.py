"""Wire models: the members of request and response bodies, each with a description and an example.

The package owns the models and their descriptions. The server parses request bodies with these models. It
writes responses with `api.wire.replies`, without the models, because most responses are joined from stored
bytes; for responses the models are documentation.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from tailrace.api.schemas.access import AccessReply, Ticket
from tailrace.api.schemas.appends import (
    BatchReply,
    EntryToAppend,
    ImportCheck,
    ProducerState,
    TakeOverBody,
    Trimming,
    XaddBatchBody,
    XaddBody,
    XaddReply,
)
from tailrace.api.schemas.command import CommandBody, CommandOutcomes, CommandReply, CommandsBody
from tailrace.api.schemas.entries import (
    DeleteBody,
    DeleteReply,
    Entry,
    RangePage,
    SeekPosition,
    SplitPlan,
    TrimReply,
)
from tailrace.api.schemas.groups import (
    ConsumerCreated,
    ConsumerDeleted,
    ConsumerList,
    Group,
    GroupBody,
    GroupList,
    GroupPositionBody,
    GroupSettingsBody,
    RedriveBody,
    RedriveReply,
)
from tailrace.api.schemas.limits import Limits
from tailrace.api.schemas.pending import (
    AckBody,
    AckReply,
    AutoClaimBody,
    AutoClaimReply,
    ClaimBody,
    ClaimReply,
    ExtendBody,
    ExtendReply,
    NackBody,
    NackReply,
    PendingOverview,
    PendingPage,
)
from tailrace.api.schemas.problem import Problem
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPage, ReadBody, ReadPage
from tailrace.api.schemas.scheduled import ScheduledBatchReply, ScheduledPage, ScheduledReply
from tailrace.api.schemas.server import Health, Readiness, ServerState, SlowLogPage
from tailrace.api.schemas.streams import (
    PositionBody,
    StreamCreated,
    StreamLengthReply,
    StreamPage,
    StreamSettings,
    StreamState,
)

DOCUMENTED_MODELS: Final[tuple[type[BaseModel], ...]] = (
    AccessReply,
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
    ExtendBody,
    ExtendReply,
    Group,
    GroupBody,
    GroupList,
    GroupPositionBody,
    GroupReadBody,
    GroupReadPage,
    GroupSettingsBody,
    Health,
    ImportCheck,
    Limits,
    NackBody,
    NackReply,
    PendingOverview,
    PendingPage,
    PositionBody,
    Problem,
    ProducerState,
    RangePage,
    ReadBody,
    ReadPage,
    Readiness,
    RedriveBody,
    RedriveReply,
    ScheduledBatchReply,
    ScheduledPage,
    ScheduledReply,
    SeekPosition,
    ServerState,
    SlowLogPage,
    SplitPlan,
    StreamCreated,
    StreamLengthReply,
    StreamPage,
    StreamSettings,
    StreamState,
    Ticket,
    TakeOverBody,
    TrimReply,
    Trimming,
    XaddBatchBody,
    XaddBody,
    XaddReply,
)
"""The models that the OpenAPI document defines; models nested in these are included."""
