"""The retention of streams in words: calls of the function library, because no engine has it.

It owns which rules are refused, and what a command on a stream with a retention sends in addition.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType
from msgspec.structs import replace

from tailrace.app.remote.functions import retention as calls
from tailrace.app.remote.functions.capabilities import NEEDS_OWN_STORAGE
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, value
from tailrace.core.commands import ConfigureStream, RetentionRules
from tailrace.core.errors import engine_lacks
from tailrace.core.replies import Reply, StreamFullInfo, StreamInfo


def configured(engine: Engine, command: ConfigureStream, plan: Plan) -> Plan:
    """Return the plan of XCFGSET with the rules that the command has. Raises ENGINE_LACKS_FEATURE for a rule
    that needs a server with its own storage."""
    rules = command.retention
    if isinstance(rules, UnsetType):
        return plan
    _require_emulated(rules)
    call = calls.configure_retention(command.key, rules)
    words = engine.words(call, engine.capabilities.retention)

    def read(results: Sequence[Result]) -> Reply:
        reply = plan.read(results[:-1])
        call.read(value(results[-1]))
        return reply

    return Plan([*plan.commands, words], read, command.key, is_write=True, is_atomic=True)


def _require_emulated(rules: RetentionRules | None) -> None:
    for name in RetentionRules.__struct_fields__ if rules is not None else ():
        if name not in calls.EMULATED and getattr(rules, name):
            raise engine_lacks(f"rule `{name}` of retention", NEEDS_OWN_STORAGE)


def retiring(engine: Engine, key: bytes, plan: Plan) -> Plan:
    """Return the plan of an append that then applies the rules of its stream. What the rules do never fails
    it."""
    call = calls.retire(key, exact=False)
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
    call = calls.show_retention(key)
    words = engine.words(call, engine.capabilities.retention)

    def read(results: Sequence[Result]) -> Reply:
        reply = plan.read(results[:-1])
        retention = call.read(value(results[-1]))
        if isinstance(reply, StreamFullInfo):
            return replace(reply, info=replace(reply.info, retention=retention))
        assert isinstance(reply, StreamInfo)
        return replace(reply, retention=retention)

    return Plan([*plan.commands, words], read, key)
