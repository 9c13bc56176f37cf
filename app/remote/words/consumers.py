"""XGROUP DELCONSUMER with the conditions that only Tailrace has, as an atomic script.

The engine's own command drops the pending entries of the consumer. The script refuses that, or hands the
entries to another consumer with their times and counts; the engine drops pending entries whose message was
deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.functions.names import RESERVED
from tailrace.app.remote.words.groups import delete_consumer
from tailrace.app.remote.words.plan import Plan, Result, number, value
from tailrace.core.commands import DeleteConsumer
from tailrace.core.errors import ErrorCode, StreamError, printable

_MISSING: Final = -1
_REFUSED: Final = -2

_SCRIPT: Final = b"""
local key, group, consumer, heir = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local pending = -1
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', key, group)) do
  local found = {}
  for i = 1, #info, 2 do found[info[i]] = info[i + 1] end
  if found['name'] == consumer then pending = found['pending'] end
end
if pending < 0 then return {-1, 0} end
if heir == '' and pending > 0 then return {-2, pending} end
if heir ~= '' and heir ~= consumer then
  redis.call('XGROUP', 'CREATECONSUMER', key, group, heir)
  local start = '-'
  while true do
    local rows = redis.call('XPENDING', key, group, start, '+', 500, consumer)
    if #rows == 0 then break end
    for _, row in ipairs(rows) do
      redis.call('XCLAIM', key, group, heir, 0, row[1], 'IDLE', row[3], 'RETRYCOUNT', row[4], 'JUSTID')
    end
    start = '(' .. rows[#rows][1]
  end
end
redis.call('XGROUP', 'DELCONSUMER', key, group, consumer)
return {0, pending}
"""


def delete(command: DeleteConsumer) -> Plan:
    """Return the plan of a deletion, with its condition if it has one."""
    if command.transfer_to is None and not command.refuse_pending:
        return delete_consumer(command)
    key, group, heir = command.key, command.group, command.transfer_to or b""
    # A deletion of an unknown consumer fails as the engine's command does if the key or the group is missing.
    unknown = [b"XGROUP", b"DELCONSUMER", key, group, RESERVED + b"unknown"]
    script = [b"EVAL", _SCRIPT, b"1", key, group, command.consumer, heir]

    def read(results: Sequence[Result]) -> int | None:
        number(results[0])
        answer = value(results[1])
        assert isinstance(answer, list)
        status, pending = map(number, answer)
        if status == _REFUSED:
            raise _has_pending(command, pending)
        return None if status == _MISSING else pending

    return Plan([unknown, script], read, key, is_write=True, wakes=True)


def _has_pending(command: DeleteConsumer, pending: int) -> StreamError:
    return StreamError(
        ErrorCode.CONSUMER_HAS_PENDING,
        f"ERR consumer '{printable(command.consumer)}' has {pending} pending entries",
        {"key": command.key, "group": command.group, "consumer": command.consumer},
        pending=str(pending),
    )
