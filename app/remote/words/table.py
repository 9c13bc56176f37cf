"""The plan of every command that concerns one slot.

It owns the choice between the engine's own command and the function library. `app.remote.keys` has the other
commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tailrace.app.remote.functions import appends as append_calls
from tailrace.app.remote.functions import pending as pending_calls
from tailrace.app.remote.functions import reads as read_calls
from tailrace.app.remote.functions import streams as stream_calls
from tailrace.app.remote.functions.capabilities import NEEDS_OWN_STORAGE
from tailrace.app.remote.words import appends, group_reads, groups, pending, reads, settings
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, waking
from tailrace.core import commands as c
from tailrace.core.errors import engine_lacks
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX

Planner = Callable[[Engine, Any], Plan]


def _plain_append(engine: Engine, command: c.Append) -> Plan:
    known = engine.capabilities
    if append_calls.needs_library(command):
        if engine.library is None and not appends.needs_function(command):
            return appends.append(command)
        call = append_calls.append(command, native_policies=known.policies.is_native)
        return engine.call(call, known.batches if command.idempotency is None else known.idempotency)
    trim = command.trim
    if trim is not None and trim.references is not c.References.KEEP and not known.policies.is_native:
        return engine.call(append_calls.append(command, native_policies=False), known.policies)
    return appends.append(command)


def _append(engine: Engine, command: c.Append) -> Plan:
    """An append, followed by the retention of its stream, if it may have one."""
    plan = _plain_append(engine, command)
    if command.key not in engine.configured.retained:
        return plan
    return settings.retiring(engine, command.key, plan)


def _find_append(engine: Engine, command: c.FindAppend) -> Plan:
    call = append_calls.find_append(command)
    if call is None:
        return Plan([], lambda _: None, command.key)
    return engine.call(call, engine.capabilities.idempotency)


def _info_producer(engine: Engine, command: c.InfoProducer) -> Plan:
    return engine.call(append_calls.info_producer(command), engine.capabilities.idempotency)


def _take_over_epoch(engine: Engine, command: c.TakeOverEpoch) -> Plan:
    return engine.call(append_calls.take_over_epoch(command), engine.capabilities.idempotency)


def _trim(engine: Engine, command: c.TrimStream) -> Plan:
    known = engine.capabilities
    if command.trim.references is c.References.KEEP or known.policies.is_native:
        return pending.trim(command)
    return engine.call(append_calls.trim(command, native_policies=False), known.policies)


def _delete_by_policy(engine: Engine, command: c.DeleteEntriesByPolicy) -> Plan:
    known = engine.capabilities
    if known.xdelex.is_native or isinstance(command.ids, c.Malformed):
        return pending.delete_by_policy(command)
    return engine.call(append_calls.delete_by_policy(command), known.xdelex)


def _acknowledge_and_delete(engine: Engine, command: c.AcknowledgeAndDelete) -> Plan:
    known = engine.capabilities
    plan = pending.acknowledge_and_delete(command)
    if known.xackdel.is_native or isinstance(command.ids, c.Malformed):
        return plan
    words = engine.words(append_calls.acknowledge_and_delete(command), known.xackdel)
    return pending.acknowledge_and_delete_by(
        command, words, append_calls.acknowledge_and_delete(command).read
    )


def _nack(engine: Engine, command: c.NegativeAcknowledge) -> Plan:
    if command.delay_ms:
        raise engine_lacks("nacks with a delay", NEEDS_OWN_STORAGE)
    known, is_native = engine.capabilities, engine.capabilities.xnack.is_native
    has_settings = engine.has_settings(command.key)
    if isinstance(command.ids, c.Malformed) or (is_native and not has_settings):
        return pending.negative_acknowledge(command)
    call = pending_calls.nack(command, native=is_native, has_settings=has_settings)
    return waking(engine.call(call, known.xnack))


def _claim(engine: Engine, command: c.Claim) -> Plan:
    """The engine's own XCLAIM tells no deleted entries, and older engines let a count near the greatest
    overflow."""
    known = engine.capabilities
    if engine.library is None or isinstance(command.options, c.Malformed) or not command.options.ids:
        return pending.claim(command)
    is_native, has_settings = known.xnack.is_native, engine.has_settings(command.key)
    call = pending_calls.claim(command, native=is_native, has_settings=has_settings)
    return waking(engine.call(call, known.functions))


def _configure(engine: Engine, command: c.ConfigureStream) -> Plan:
    return settings.configured(engine, command, _configure_idempotency(engine, command))


def _configure_idempotency(engine: Engine, command: c.ConfigureStream) -> Plan:
    if engine.library is None or isinstance(command.idmp_duration_s, c.Malformed):
        return appends.configure(command)
    return engine.call(stream_calls.configure(command), engine.capabilities.idmp)


def _record(engine: Engine, command: c.RecordIdempotencyKey) -> Plan:
    known = engine.capabilities
    if engine.library is None and known.idmp.is_native:
        return appends.record(command)
    return engine.call(stream_calls.record(command), known.idmp)


def _create_stream(engine: Engine, command: c.CreateStream) -> Plan:
    key, duration_s, maxsize = command.key, command.idmp_duration_s, command.idmp_maxsize
    settings = c.ConfigureStream(key, duration_s, maxsize, command.retention)
    if settings == c.ConfigureStream(key):
        return groups.create_stream(command)
    return groups.create_stream(command, _configure(engine, settings))


def _info_stream(engine: Engine, command: c.InfoStream) -> Plan:
    if engine.library is None or isinstance(command.full_count, c.Malformed):
        return groups.info_stream(command)
    call = stream_calls.state(command.key)
    plan = groups.info_stream(command, (engine.words(call, engine.capabilities.functions), call))
    return settings.shown(engine, command.key, plan)


def _auto_claim(engine: Engine, command: c.AutoClaim) -> Plan:
    if engine.has_settings(command.key) and command.count <= AUTOCLAIM_COUNT_MAX:
        return waking(engine.call(pending_calls.auto_claim(command), engine.capabilities.group_settings))
    return pending.auto_claim(command, creates_consumer=engine.capabilities.empty_reads.is_native)


def _read_group(engine: Engine, command: c.ReadGroup) -> Plan:
    """Budgets over one stream are COUNT, so an engine without MAXCOUNT needs the library for several streams,
    and for a limit on bytes. The answer to a read that names a stream twice does not show which of the two
    has entries; that of the library does."""
    known = engine.capabilities
    if group_reads.malformed(command) is not None:
        return group_reads.read_group(command, has_max_count=known.budgets.is_native)
    if engine.configured.keys and any(engine.has_settings(source.key) for source in command.streams):
        return engine.call(read_calls.read_group(command, has_settings=True), known.group_settings)
    lacks_claim = command.claim_min_idle_ms is not None and not known.claim.is_native
    names_twice = len({source.key for source in command.streams}) < len(command.streams)
    lacks_budgets = (names_twice or not known.budgets.is_native) and engine.library is not None
    if lacks_claim or lacks_budgets:
        return engine.call(read_calls.read_group(command), known.claim if lacks_claim else known.budgets)
    return group_reads.read_group(command, has_max_count=known.budgets.is_native)


def _extend(engine: Engine, command: c.ExtendLeases) -> Plan:
    return engine.call(pending_calls.extend(command), engine.capabilities.leases)


def _schedule(_engine: Engine, _command: c.ScheduleEntries | c.ListScheduled | c.CancelScheduled) -> Plan:
    raise engine_lacks("scheduled entries", NEEDS_OWN_STORAGE)


def _native(planner: Callable[[Any], Plan]) -> Planner:
    return lambda _engine, command: planner(command)


PLANNERS: Final[Mapping[type[c.Command], Planner]] = {
    c.Append: _append,
    c.ScheduleEntries: _schedule,
    c.ListScheduled: _schedule,
    c.CancelScheduled: _schedule,
    c.FindAppend: _find_append,
    c.InfoProducer: _info_producer,
    c.TakeOverEpoch: _take_over_epoch,
    c.StreamLength: _native(reads.length),
    c.Range: reads.read_range,
    c.Read: reads.read,
    c.ReadGroup: _read_group,
    c.DeleteEntries: _native(pending.delete_entries),
    c.DeleteEntriesByPolicy: _delete_by_policy,
    c.TrimStream: _trim,
    c.SetStreamPosition: _native(appends.set_position),
    c.ConfigureStream: _configure,
    c.RecordIdempotencyKey: _record,
    c.CreateStream: _create_stream,
    c.Acknowledge: _native(pending.acknowledge),
    c.AcknowledgeAndDelete: _acknowledge_and_delete,
    c.NegativeAcknowledge: _nack,
    c.Claim: _claim,
    c.AutoClaim: _auto_claim,
    c.PendingSummary: _native(pending.summary),
    c.PendingRange: _native(pending.pending_range),
    c.CreateGroup: settings.create,
    c.SetGroupPosition: _native(groups.set_group_position),
    c.ConfigureGroup: settings.configure,
    c.Redrive: settings.redrive,
    c.ExtendLeases: _extend,
    c.DestroyGroup: settings.destroy,
    c.CreateConsumer: _native(groups.create_consumer),
    c.DeleteConsumer: groups.delete_consumer,
    c.InfoStream: _info_stream,
    c.InfoGroups: settings.info,
    c.InfoConsumers: _native(groups.info_consumers),
}
"""The planner of each command."""


def plan_of(engine: Engine, command: c.Command) -> Plan | None:
    """Return the plan of a command; None if the command concerns more than one slot.

    Raises `StreamError` if the command is refused before it reaches the engine.
    """
    planner = PLANNERS.get(type(command))
    return None if planner is None else planner(engine, command)
