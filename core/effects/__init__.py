"""The effects of commands: one frozen struct per kind of change, in the order in which the changes happened.

Handlers read the keyspace, decide, and then emit effects; only `Effect.apply` changes the keyspace. So a
command that raises has changed nothing, and applying the effects of all commands to an empty keyspace
rebuilds the keyspace. The journal stores effects. An effect contains results (ids, times, counts) and never a
request, so a replay needs no rule of any command: executing commands and replaying their journal make the
same calls in the same order.

Ids are `StreamId`; in a list of ids documented as rising, each id is greater than the one before it.
"""

from tailrace.core.effects.effect import Effect
from tailrace.core.effects.entries import (
    EntriesAppended,
    EntriesRemoved,
    EntriesRetired,
    EntriesTrimmed,
)
from tailrace.core.effects.groups import (
    ConsumerCreated,
    ConsumerDeleted,
    ConsumerSeen,
    GroupConfigured,
    GroupCreated,
    GroupDestroyed,
    GroupMoved,
)
from tailrace.core.effects.idempotency import (
    AppendRemembered,
    DuplicateCounted,
    EpochTakenOver,
    IdempotencyConfigured,
    IdempotencyExpired,
)
from tailrace.core.effects.key_order import EntriesHeld, HeldForgotten, KeysTaken
from tailrace.core.effects.keyspace import (
    ConfigChanged,
    KeyspaceFlushed,
    RetentionConfigured,
    StreamCopied,
    StreamCreated,
    StreamDeleted,
    StreamPositionSet,
    StreamRenamed,
)
from tailrace.core.effects.pending import (
    Claimed,
    DeadLettered,
    Delivered,
    EntriesScheduled,
    LeasesExtended,
    Nacked,
    PendingBetweenRemoved,
    PendingRemoved,
    Redriven,
    ReferencesTrimmed,
    RetriesDelayed,
    RetriesReleased,
    ScheduledCancelled,
    ScheduledPublished,
    Transferred,
)

__all__ = [
    "AppendRemembered",
    "Claimed",
    "ConfigChanged",
    "ConsumerCreated",
    "ConsumerDeleted",
    "ConsumerSeen",
    "DeadLettered",
    "Delivered",
    "DuplicateCounted",
    "Effect",
    "EntriesAppended",
    "EntriesHeld",
    "EntriesRemoved",
    "EntriesRetired",
    "EntriesScheduled",
    "EntriesTrimmed",
    "EpochTakenOver",
    "GroupConfigured",
    "GroupCreated",
    "GroupDestroyed",
    "GroupMoved",
    "HeldForgotten",
    "IdempotencyConfigured",
    "IdempotencyExpired",
    "KeysTaken",
    "KeyspaceFlushed",
    "LeasesExtended",
    "Nacked",
    "PendingBetweenRemoved",
    "PendingRemoved",
    "Redriven",
    "ReferencesTrimmed",
    "RetentionConfigured",
    "RetriesDelayed",
    "RetriesReleased",
    "ScheduledCancelled",
    "ScheduledPublished",
    "StreamCopied",
    "StreamCreated",
    "StreamDeleted",
    "StreamPositionSet",
    "StreamRenamed",
    "Transferred",
]
