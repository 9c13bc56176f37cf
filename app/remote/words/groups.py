"""XGROUP and XINFO in words.

The engine looks for the key and the group before it parses an id, so a command with a malformed id checks
both before it is refused. XGROUP DELCONSUMER is a call of the library if it has a condition.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from tailrace.app.remote.functions import pending as pending_calls
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.hidden import (
    visible_consumers,
    visible_full_groups,
    visible_groups,
    visible_stream,
)
from tailrace.app.remote.functions.names import RESERVED
from tailrace.app.remote.functions.streams import StreamState
from tailrace.app.remote.link.port import EngineError
from tailrace.app.remote.replies.infos import consumer_infos, group_infos, stream_full_info, stream_info
from tailrace.app.remote.words.appends import refused_if_exists
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, Words, last, nothing, number, value, values, waking
from tailrace.app.remote.words.spelling import number_word, option, position_word
from tailrace.core.commands import (
    CreateConsumer,
    CreateGroup,
    CreateStream,
    DeleteConsumer,
    DestroyGroup,
    InfoConsumers,
    InfoGroups,
    InfoStream,
    Malformed,
    SetGroupPosition,
)
from tailrace.core.errors import key_required, no_group
from tailrace.core.replies import GroupInfo, StreamFullInfo, StreamInfo

UNKNOWN_ENTRIES_READ: Final = -1


def create_group(command: CreateGroup) -> Plan:
    """XGROUP CREATE."""
    key, group, after = command.key, command.group, command.after
    if isinstance(after, Malformed):
        return _refused_group(command, after)
    words = [b"XGROUP", b"CREATE", key, group, position_word(after)]
    if command.create_stream:
        words.append(b"MKSTREAM")
    words += _entries_read(command.entries_read)
    return Plan([words], last(nothing), key, is_write=True)


def set_group_position(command: SetGroupPosition) -> Plan:
    """XGROUP SETID."""
    key, group, after = command.key, command.group, command.after
    if isinstance(after, Malformed):
        return _refused_group(command, after)
    words = [b"XGROUP", b"SETID", key, group, position_word(after), *_entries_read(command.entries_read)]
    return Plan([words], last(nothing), key, is_write=True, wakes=True)


def _entries_read(entries_read: int | None) -> Words:
    return option(b"ENTRIESREAD", entries_read)


def _refused_group(command: CreateGroup | SetGroupPosition, malformed: Malformed) -> Plan:
    """A missing key, and for SETID a missing group, comes before the malformed id."""
    key, group = command.key, command.group
    is_created = isinstance(command, CreateGroup)

    def refuse(results: Sequence[Result]) -> None:
        if isinstance(results[0], EngineError) and b"no such key" in results[0].line:
            if isinstance(command, CreateGroup) and command.create_stream:
                raise malformed.error
            raise key_required(key, group)
        if not is_created and all(info.name != group for info in group_infos(values(results[0]))):
            raise no_group(key, group)
        raise malformed.error

    return Plan([[b"XINFO", b"GROUPS", key]], refuse, key)


def destroy_group(command: DestroyGroup) -> Plan:
    """XGROUP DESTROY."""
    words = [b"XGROUP", b"DESTROY", command.key, command.group]
    return Plan([words], last(number), command.key, is_write=True, wakes=True)


def create_consumer(command: CreateConsumer) -> Plan:
    """XGROUP CREATECONSUMER."""
    words = [b"XGROUP", b"CREATECONSUMER", command.key, command.group, command.consumer]
    return Plan([words], last(number), command.key, is_write=True)


def _delete_plainly(command: DeleteConsumer) -> Plan:
    """XGROUP DELCONSUMER, after a look whether the consumer exists: the engine answers 0 in both cases."""
    key, group, consumer = command.key, command.group, command.consumer
    commands = [[b"XINFO", b"CONSUMERS", key, group], [b"XGROUP", b"DELCONSUMER", key, group, consumer]]

    def read(results: Sequence[Result]) -> int | None:
        count = number(results[1])
        known = {info.name for info in consumer_infos(values(results[0]))}
        return count if consumer in known else None

    return Plan(commands, read, key, is_write=True, is_atomic=True, wakes=True)


def create_stream(command: CreateStream, settings: Plan | None = None) -> Plan:
    """Create an empty stream: a group that is deleted at once makes one. The name of the group is chosen by
    chance, so that no group of a client is deleted. `settings`: the plan that changes the settings."""
    key = command.key
    name = RESERVED + secrets.token_hex(8).encode()
    commands = [
        [b"EXISTS", key],
        [b"XGROUP", b"CREATE", key, name, b"0", b"MKSTREAM"],
        [b"XGROUP", b"DESTROY", key, name],
    ]
    count = len(commands)
    configuring = [] if settings is None else settings.commands

    def read(results: Sequence[Result]) -> int:
        for result in results[1:count]:
            value(result)
        if settings is not None:
            settings.read(results[count:])
        return int(not number(results[0]))

    return Plan([*commands, *configuring], read, key, is_write=True, is_atomic=True)


# --- looking -------------------------------------------------------------------------------------------


def info_stream(command: InfoStream, state: tuple[Words, Call[StreamState | None]] | None = None) -> Plan:
    """XINFO STREAM, short or full. `state`: the call that asks the library for the state of the
    stream, and its words."""
    key, full_count = command.key, command.full_count
    if isinstance(full_count, Malformed):
        return refused_if_exists(key, full_count)
    words = [b"XINFO", b"STREAM", key]
    if full_count is not None:
        words += [b"FULL", b"COUNT", number_word(full_count)]
    is_full = full_count is not None

    def read(results: Sequence[Result]) -> StreamInfo | StreamFullInfo:
        known = None if state is None else state[1].read(value(results[0]))
        answer = value(results[-1])
        if not is_full:
            return with_state(stream_info(answer), known)
        full = stream_full_info(answer, time.time_ns() // 1_000_000)
        return StreamFullInfo(with_state(full.info, known), full.entries, visible_full_groups(full.groups))

    # The state comes first: if the stream is created again in between, its incarnation is that of the one
    # before, which every later look tells from the new one.
    return Plan([words] if state is None else [state[0], words], read, key)


def with_state(info: StreamInfo, state: StreamState | None) -> StreamInfo:
    """Return the description of the stream with its incarnation and the idempotency keys that the library
    keeps for it, and without the library's own group."""
    if state is None:
        return info
    shown = visible_stream(info, is_marked=bool(state.incarnation))
    return replace(
        shown,
        incarnation=state.incarnation or None,
        idmp_duration_s=state.idmp_duration_s,
        idmp_maxsize=state.idmp_maxsize,
        producer_count=info.producer_count + state.producer_count,
        idmp_key_count=info.idmp_key_count + state.idmp_key_count,
        idmp_keys_added=info.idmp_keys_added + state.idmp_keys_added,
        idmp_duplicates=info.idmp_duplicates + state.idmp_duplicates,
    )


def info_groups(command: InfoGroups, nacked: tuple[Words, Call[AbstractSet[bytes]]] | None = None) -> Plan:
    """XINFO GROUPS. `nacked`: the call that asks the library which groups have the hidden consumer, and its
    words."""
    words = [b"XINFO", b"GROUPS", command.key]

    def read(results: Sequence[Result]) -> list[GroupInfo]:
        groups = group_infos(values(results[0]))
        return visible_groups(groups, frozenset() if nacked is None else nacked[1].read(value(results[1])))

    return Plan([words] if nacked is None else [words, nacked[0]], read, command.key, is_atomic=True)


def info_consumers(command: InfoConsumers) -> Plan:
    """XINFO CONSUMERS."""
    read = last(lambda result: visible_consumers(consumer_infos(values(result))))
    return Plan([[b"XINFO", b"CONSUMERS", command.key, command.group]], read, command.key)


def delete_consumer(engine: Engine, command: DeleteConsumer) -> Plan:
    """Return the plan of a deletion, with its condition if it has one."""
    if command.transfer_to is None and not command.refuse_pending:
        return _delete_plainly(command)
    return waking(engine.call(pending_calls.delete_consumer(command), engine.capabilities.functions))
