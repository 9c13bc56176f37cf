"""The effects of commands: one frozen struct per kind of change, in the order in which the changes happened.

Handlers read the keyspace, decide, and then emit effects; only `core.apply` carries effects out. So a command
that raises has changed nothing, and applying the effects of all commands to an empty keyspace rebuilds the
keyspace. The journal stores effects. An effect contains results (ids, times, counts) and never a request, so
a replay needs no rule of any command. The package holds data only.

Ids are `StreamId`; in a list of ids documented as rising, each id is greater than the one before it.
"""

from tailrace.core.effects.dead_letters import DeadLettered, Redriven
from tailrace.core.effects.delay import (
    EntriesScheduled,
    RetriesDelayed,
    RetriesReleased,
    ScheduledCancelled,
    ScheduledPublished,
)
from tailrace.core.effects.effect import Effect
from tailrace.core.effects.entries import (
    EntriesAppended,
    EntriesRemoved,
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
from tailrace.core.effects.keyspace import (
    ConfigChanged,
    KeyspaceFlushed,
    StreamCopied,
    StreamCreated,
    StreamDeleted,
    StreamPositionSet,
    StreamRenamed,
)
from tailrace.core.effects.pending import (
    Claimed,
    Delivered,
    LeasesExtended,
    Nacked,
    PendingBetweenRemoved,
    PendingRemoved,
    ReferencesTrimmed,
    Transferred,
)
from tailrace.core.effects.retention import EntriesRetired, RetentionConfigured

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
    "EntriesRemoved",
    "EntriesRetired",
    "EntriesScheduled",
    "EntriesTrimmed",
    "EpochTakenOver",
    "GroupConfigured",
    "GroupCreated",
    "GroupDestroyed",
    "GroupMoved",
    "IdempotencyConfigured",
    "IdempotencyExpired",
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
