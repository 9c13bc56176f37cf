"""The deletion of a consumer that may not drop entries, or that hands them to another consumer."""

from __future__ import annotations

from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.functions.values import flag, number
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import DeleteConsumer
from tailrace.core.errors import consumer_has_pending


def delete(command: DeleteConsumer) -> Call[int | None]:
    """XGROUP DELCONSUMER with the conditions that only Tailrace has: reply as `DeleteConsumer`.

    No engine gives a pending entry whose message was deleted to another consumer. A transfer drops such
    entries, and counts them as dropped: it is refused if nothing may be dropped. The engine's error is
    NO_SUCH_STREAM, NOGROUP or WRONGTYPE. O(pending log n).
    """
    group, consumer, heir = command.group, command.consumer, command.transfer_to
    arguments = [group, consumer, heir or b"", flag(command.refuse_pending)]

    def read(answer: Resp) -> int | None:
        values = accepted(answer)
        if not values:
            return None
        status, count = values
        if status == b"refused":
            are_deleted = heir not in {None, consumer}
            raise consumer_has_pending(command.key, group, consumer, number(count), are_deleted=are_deleted)
        return number(count)

    return Call(b"delete_consumer", (command.key,), arguments, "change", read)
