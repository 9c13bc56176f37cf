"""XGROUP DELCONSUMER: by the engine's own command, or by the library if it has a condition."""

from __future__ import annotations

from tailrace.app.remote.functions import consumers as calls
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.groups import delete_consumer
from tailrace.app.remote.words.plan import Plan, waking
from tailrace.core.commands import DeleteConsumer


def delete(engine: Engine, command: DeleteConsumer) -> Plan:
    """Return the plan of a deletion, with its condition if it has one."""
    if command.transfer_to is None and not command.refuse_pending:
        return delete_consumer(command)
    return waking(engine.call(calls.delete(command), engine.capabilities.functions))
