"""Runs commands as a gateway does on an engine that lacks most of them: by the library, else by the
engine's words.

Replies are RESP2 in the types of `hiredis`, with the gateway's own names hidden. Owns no comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import hiredis

from tailrace.app.remote.functions import appends, pending, reads, streams
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import NACKED, is_reserved
from tailrace.app.remote.functions.pending import visible_deliveries
from tailrace.app.remote.link.port import EngineError
from tailrace.core import commands as c
from tailrace.core.errors import StreamError
from tailrace.core.parser import parse_request
from tests.differential.harness import as_bytes
from tests.differential.vocabulary import Words
from tests.remote.functions.engines import FunctionEngine

_CALLS: Final[dict[type, Callable[[Any], Call[Any]]]] = {
    c.Append: lambda command: appends.append(command, native_policies=False),
    c.TrimStream: lambda command: appends.trim(command, native_policies=False),
    c.DeleteEntriesByPolicy: appends.delete_by_policy,
    c.AcknowledgeAndDelete: appends.acknowledge_and_delete,
    c.NegativeAcknowledge: pending.nack,
    c.Claim: pending.claim,
    c.ReadGroup: reads.read_group,
    c.ConfigureStream: streams.configure,
    c.RecordIdempotencyKey: streams.record,
    c.RenameKey: streams.rename,
    c.CopyKey: streams.copy,
}
"""The commands that the library carries out, where an engine lacks them or does them in another way."""


def is_well_formed(words: Words) -> bool:
    """Whether the gateway's grammar takes the command, and all of its arguments."""
    try:
        command = parse_request(words).command
    except StreamError:
        return False
    return command is not None and "Malformed" not in repr(command)


class Emulation:
    """One engine behind the library."""

    def __init__(self, engine: FunctionEngine) -> None:
        self._engine = engine

    def run(self, words: Words) -> Any:
        try:
            return self._run(words)
        except EngineError as error:
            return hiredis.ReplyError(str(error))
        except StreamError as error:
            return hiredis.ReplyError(error.line)

    def _run(self, words: Words) -> Any:
        request = parse_request(words)
        command = request.command
        make = _CALLS.get(type(command))
        if make is not None:
            return as_bytes(request.to_resp(self._engine.run(make(command))))
        if isinstance(command, c.DeleteKeys):
            return sum(self._engine.run(streams.delete(key)) for key in command.keys)
        if isinstance(command, c.AutoClaim):
            self._create_consumer(command)
        return self._seen(command, self._engine.command(*words))

    def _create_consumer(self, command: c.AutoClaim) -> None:
        """Redis 7.0 creates no consumer where a claim yields nothing."""
        words = (b"XGROUP", b"CREATECONSUMER", command.key, command.group, command.consumer)
        self._engine.server.run(*words)

    # --- what a client sees ----------------------------------------------------------------------

    def _seen(self, command: object, reply: Any) -> Any:
        if isinstance(command, c.PendingSummary):
            owners = [row for row in reply[3] or [] if not is_reserved(row[0])]
            return [*reply[:3], owners if reply[0] else None]
        if isinstance(command, c.PendingRange):
            return [_seen_row(row, idle_ms=-1) for row in reply]
        if isinstance(command, c.InfoConsumers):
            return [row for row in reply if not is_reserved(_map(row)[b"name"])]
        if isinstance(command, c.InfoGroups):
            return [
                self._seen_group(command.key, row) for row in reply if not is_reserved(_map(row)[b"name"])
            ]
        if isinstance(command, c.InfoStream):
            return self._seen_stream(command.key, reply)
        return reply

    def _seen_group(self, key: bytes, flat: list[Any]) -> list[Any]:
        group = _map(flat)
        consumers = self._engine.command(b"XINFO", b"CONSUMERS", key, group[b"name"])
        hidden = sum(is_reserved(_map(row)[b"name"]) for row in consumers)
        return _flat(group | {b"consumers": group[b"consumers"] - hidden})

    def _seen_stream(self, key: bytes, flat: list[Any]) -> list[Any]:
        stream = _map(flat)
        state = self._engine.run(streams.state(key))
        assert state is not None
        stream |= {
            b"idmp-duration": state.idmp_duration_s,
            b"idmp-maxsize": state.idmp_maxsize,
            # Those of the engine's own IDMP, if it has it, and those of the library.
            b"pids-tracked": stream.get(b"pids-tracked", 0) + state.producer_count,
            b"iids-tracked": stream.get(b"iids-tracked", 0) + state.idmp_key_count,
            b"iids-added": stream.get(b"iids-added", 0) + state.idmp_keys_added,
            b"iids-duplicates": stream.get(b"iids-duplicates", 0) + state.idmp_duplicates,
        }
        groups = stream[b"groups"]
        if isinstance(groups, list):
            seen = [_seen_full_group(group) for group in groups if not is_reserved(_map(group)[b"name"])]
            stream[b"groups"] = seen
        else:
            stream[b"groups"] = groups - bool(state.incarnation)
        return _flat(stream)


def _seen_full_group(flat: list[Any]) -> list[Any]:
    group = _map(flat)
    consumers = [_map(each) for each in group[b"consumers"]]
    hidden = [each for each in consumers if each[b"name"] == NACKED]
    return _flat(
        group
        | {
            b"nacked-count": sum(each[b"pel-count"] for each in hidden),
            b"pending": [_seen_row(row, idle_ms=0) for row in group[b"pending"]],
            b"consumers": [_seen_consumer(each) for each in consumers if each[b"name"] != NACKED],
        }
    )


def _seen_consumer(consumer: dict[bytes, Any]) -> list[Any]:
    rows = [[*row[:2], visible_deliveries(row[2])] for row in consumer[b"pending"]]
    return _flat(consumer | {b"pending": rows})


def _seen_row(row: list[Any], *, idle_ms: int) -> list[Any]:
    deliveries = visible_deliveries(row[3])
    return [*row[:3], deliveries] if row[1] != NACKED else [row[0], b"", idle_ms, deliveries]


def _map(flat: Sequence[Any]) -> dict[bytes, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _flat(members: dict[bytes, Any]) -> list[Any]:
    return [item for pair in members.items() for item in pair]
