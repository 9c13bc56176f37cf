"""XDELEX, XACKDEL and trims with a reference policy, for engines without them (Redis below 8.2, Valkey
below 9.2)."""

from __future__ import annotations

from tailrace.app.remote.functions.appends import trim_arguments
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.functions.values import id_words, number
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import (
    AcknowledgeAndDelete,
    DeleteEntriesByPolicy,
    Malformed,
    References,
    TrimStream,
)
from tailrace.core.replies import DeleteResult

_POLICIES = {References.KEEP: b"KEEPREF", References.DELETE: b"DELREF", References.ACKNOWLEDGED: b"ACKED"}


def delete_by_policy(command: DeleteEntriesByPolicy) -> Call[list[DeleteResult]]:
    """XDELEX: reply a `DeleteResult` for each id. The ids must be well formed. O(ids log n) a group.

    Refused with LIMIT_EXCEEDED if the ids times the groups are more than a script may look at.
    """
    assert not isinstance(command.ids, Malformed)
    arguments = [_POLICIES[command.references], *id_words(command.ids)]
    return Call(b"delete", (command.key,), arguments, "change", _results)


def acknowledge_and_delete(command: AcknowledgeAndDelete) -> Call[list[DeleteResult]]:
    """XACKDEL: reply a `DeleteResult` for each id, as `delete_by_policy`. A missing stream or group is -1
    for each."""
    assert not isinstance(command.ids, Malformed)
    arguments = [_POLICIES[command.references], command.group, *id_words(command.ids)]
    return Call(b"ack_delete", (command.key,), arguments, "change", _results)


def _results(answer: Resp) -> list[DeleteResult]:
    return [DeleteResult(number(value)) for value in accepted(answer)]


def trim(command: TrimStream, *, native_policies: bool) -> Call[int | None]:
    """XTRIM: reply the number of removed entries, None for a missing stream.

    Under ACKED at most 5 000 entries are examined; the next trim continues. DELREF is refused with
    LIMIT_EXCEEDED if it would have to look at more than a script may.
    """
    arguments = trim_arguments(command.trim, native_policies=native_policies)
    return Call(b"trim", (command.key,), arguments, "change", _removed)


def _removed(answer: Resp) -> int | None:
    values = accepted(answer)
    return number(values[0]) if values else None
