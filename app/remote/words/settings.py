"""The retention of streams and the settings of groups in words: calls of the function library, because no
engine has them.

It owns which rules and settings are refused, what a command on a stream with a retention sends in addition,
and what creates, destroys and shows a group that may have settings.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType
from msgspec.structs import replace

from tailrace.app.remote.functions import pending as pending_calls
from tailrace.app.remote.functions import settings as calls
from tailrace.app.remote.functions import streams as stream_calls
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.capabilities import NEEDS_OWN_STORAGE
from tailrace.app.remote.link.discovery import slot_of
from tailrace.app.remote.words import groups
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, Words, last, nothing, value, waking
from tailrace.core.commands import (
    ConfigureGroup,
    ConfigureStream,
    CreateGroup,
    DestroyGroup,
    InfoGroups,
    Redrive,
    RetentionRules,
)
from tailrace.core.errors import ErrorCode, StreamError, engine_lacks, printable
from tailrace.core.replies import GroupInfo, Reply, StreamFullInfo, StreamInfo


def configured(engine: Engine, command: ConfigureStream, plan: Plan) -> Plan:
    """Return the plan of XCFGSET with the rules that the command has. Raises ENGINE_LACKS_FEATURE for a rule
    that needs a server with its own storage."""
    rules = command.retention
    if isinstance(rules, UnsetType):
        return plan
    _require_emulated(rules)
    call = stream_calls.configure_retention(command.key, rules)
    words = engine.words(call, engine.capabilities.retention)

    def read(results: Sequence[Result]) -> Reply:
        reply = plan.read(results[:-1])
        call.read(value(results[-1]))
        return reply

    return Plan([*plan.commands, words], read, command.key, is_write=True, is_atomic=True)


def _require_emulated(rules: RetentionRules | None) -> None:
    for name in RetentionRules.__struct_fields__ if rules is not None else ():
        if name not in stream_calls.EMULATED and getattr(rules, name):
            raise engine_lacks(f"rule `{name}` of retention", NEEDS_OWN_STORAGE)


def retiring(engine: Engine, key: bytes, plan: Plan) -> Plan:
    """Return the plan of an append that then applies the rules of its stream. What the rules do never fails
    it."""
    call = stream_calls.retire(key, exact=False)
    words = engine.words(call, engine.capabilities.retention)
    return Plan(
        [*plan.commands, words],
        lambda results: plan.read(results[:-1]),
        key,
        is_write=True,
        is_atomic=plan.is_atomic,
        trailing=1,
        wakes=plan.wakes,
    )


def shown(engine: Engine, key: bytes, plan: Plan) -> Plan:
    """Return the plan of XINFO STREAM with the retention of the stream, if it may have one."""
    if key not in engine.configured.retained:
        return plan
    call = stream_calls.show_retention(key)
    words = engine.words(call, engine.capabilities.retention)

    def read(results: Sequence[Result]) -> Reply:
        reply = plan.read(results[:-1])
        retention = call.read(value(results[-1]))
        if isinstance(reply, StreamFullInfo):
            return replace(reply, info=replace(reply.info, retention=retention))
        assert isinstance(reply, StreamInfo)
        return replace(reply, retention=retention)

    return Plan([*plan.commands, words], read, key)


def configure(engine: Engine, command: ConfigureGroup) -> Plan:
    """Change settings of a group. Raises ENGINE_LACKS_FEATURE for those that need a server with its own
    storage."""
    refused = calls.refused_setting(command)
    if refused is not None:
        raise engine_lacks(f"setting `{refused}` of groups", NEEDS_OWN_STORAGE)
    if engine.is_cluster and isinstance(command.dead_letter_stream, bytes):
        _require_one_slot(command.key, command.dead_letter_stream)
    return waking(engine.call(calls.configure_group(command), engine.capabilities.group_settings))


def _require_one_slot(key: bytes, dead_letter_stream: bytes) -> None:
    """Raise CROSSSLOT if an entry cannot be moved in one step."""
    if slot_of(key) == slot_of(dead_letter_stream):
        return
    raise StreamError(
        ErrorCode.CROSSSLOT,
        f"CROSSSLOT dead_letter_stream '{printable(dead_letter_stream)}' is in another slot of the Cluster "
        f"than '{printable(key)}', so an entry cannot move in one step; give both keys a common part in "
        "braces, such as {race}:france and {race}:dead",
    )


def redrive(engine: Engine, command: Redrive) -> Plan:
    """Send dead letters back to the group's stream."""
    return waking(engine.call(calls.redrive(command), engine.capabilities.group_settings))


def create(engine: Engine, command: CreateGroup) -> Plan:
    """XGROUP CREATE."""
    return _renewing(engine, command, groups.create_group(command))


def destroy(engine: Engine, command: DestroyGroup) -> Plan:
    """XGROUP DESTROY."""
    return _renewing(engine, command, groups.destroy_group(command))


def _renewing(engine: Engine, command: CreateGroup | DestroyGroup, plan: Plan) -> Plan:
    """Return a plan that also forgets the settings of an earlier group of this name."""
    if not plan.is_write or not engine.has_settings(command.key):
        return plan
    call = calls.renew_group(command, plan.commands[0])
    words = engine.words(call, engine.capabilities.group_settings)
    read = last(
        lambda result: call.read(value(result)) if isinstance(command, DestroyGroup) else nothing(result)
    )
    return Plan([words], read, plan.key, is_write=True, wakes=plan.wakes)


def info(engine: Engine, command: InfoGroups) -> Plan:
    """XINFO GROUPS, with the settings of the groups if the stream may have any."""
    if engine.library is None:
        return groups.info_groups(command)
    nacked = pending_calls.nacked_groups(command.key)
    plan = groups.info_groups(command, (engine.words(nacked, engine.capabilities.xnack), nacked))
    if not engine.has_settings(command.key):
        return plan
    call = calls.list_settings(command.key)
    return _with_settings(plan, engine.words(call, engine.capabilities.group_settings), call)


def _with_settings(plan: Plan, words: Words, call: Call[calls.SettingsByGroup]) -> Plan:
    def read(results: Sequence[Result]) -> list[GroupInfo]:
        infos: list[GroupInfo] = plan.read(results[:-1])  # type: ignore[assignment] # XINFO GROUPS
        found = call.read(value(results[-1]))
        return [_shown(each, found) for each in infos]

    return Plan([*plan.commands, words], read, plan.key, is_atomic=True)


def _shown(group: GroupInfo, found: calls.SettingsByGroup) -> GroupInfo:
    if group.name not in found:
        return group
    settings, dead_letter_count = found[group.name]
    return replace(group, settings=settings, dead_letter_count=dead_letter_count)
