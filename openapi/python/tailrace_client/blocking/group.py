# `make sdk-python` writes this module from `asynchronous/group.py`. Do not edit it.

"""One consumer group of one stream, for blocking programs. `group_calls` contains the requests.

For the loop of a worker, use `Consumer`, which uses the same calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailrace_client import group_calls, replies
from tailrace_client.entries import Delivery, Entry
from tailrace_client.errors import TailraceError
from tailrace_client.generated.types import UNSET, Unset
from tailrace_client.group_calls import ClaimChanges, NackMode, ScanResult
from tailrace_client.group_settings import Backoff, Setting
from tailrace_client.session import Session

if TYPE_CHECKING:
    from tailrace_client.stream_calls import References


class Group:
    """A group by its name. Creating this object sends no request; `create` creates the group on the
    server."""

    def __init__(self, session: Session, key: str, name: str) -> None:
        self._session = session
        self.key = key
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r}, {self.name!r})"

    # --- the group -----------------------------------------------------------------------------

    def create(self, after: str = "$", *, create_stream: bool = False, exist_ok: bool = False) -> None:
        """Create the group. It delivers entries after `after`: `$` is the last id of the stream, `0` delivers
        all entries.

        An existing group is an error (BUSYGROUP). With `exist_ok` it is not, and its position stays
        unchanged.
        """
        try:
            self._session.send(group_calls.create(self.key, self.name, after, create_stream=create_stream))
        except TailraceError as error:
            if not (exist_ok and error.code == "BUSYGROUP"):
                raise

    def destroy(self) -> None:
        """Delete the group with its consumers and pending entries."""
        self._session.send(group_calls.destroy(self.key, self.name))

    def set_position(self, after: str, *, entries_read: int | None = None) -> None:
        """Set the position of the group: it delivers entries after `after` from now on. Pending entries stay
        pending."""
        self._session.send(group_calls.set_position(self.key, self.name, after, entries_read))

    def info(self) -> replies.Group:
        """Return the position, the lag and the number of pending entries of the group."""
        return self._session.send(group_calls.info(self.key, self.name))

    def configure(
        self,
        *,
        max_deliveries: int | Unset | None = UNSET,
        dead_letter_stream: str | Unset | None = UNSET,
        filter: str | Unset | None = UNSET,  # noqa: A002 - the name of the parameter of the server
        claim_min_idle_ms: int | Unset | None = UNSET,
        consumer_expiry_ms: int | Unset | None = UNSET,
        max_lag_ms: int | Unset | None = UNSET,
        backoff: Backoff | Unset | None = UNSET,
        order_by: str | Unset | None = UNSET,
    ) -> replies.Group:
        """Change the settings that are given, and return the state of the group. None removes a setting.

        An entry that was delivered `max_deliveries` times moves to `dead_letter_stream` instead of one more
        delivery; set both, or remove both. The group delivers only entries that match `filter`. A read first
        claims entries that are idle for `claim_min_idle_ms`. A consumer that was not seen for
        `consumer_expiry_ms` gives its entries back and is deleted. The server warns if the oldest unread
        entry is older than `max_lag_ms`. `backoff`: how long a nack without `delay_ms` delays an entry. Of
        the entries with the same value of the field `order_by`, one at a time is delivered and not
        acknowledged. O(1).
        """
        settings: dict[str, Setting | Unset | None] = {
            "max_deliveries": max_deliveries,
            "dead_letter_stream": dead_letter_stream,
            "filter": filter,
            "claim_min_idle_ms": claim_min_idle_ms,
            "consumer_expiry_ms": consumer_expiry_ms,
            "max_lag_ms": max_lag_ms,
            "backoff": backoff,
            "order_by": order_by,
        }
        return self._session.send(group_calls.configure(self.key, self.name, settings))

    def redrive(self, *ids: str, start: str = "-", limit: int = 100) -> replies.RedriveReply:
        """Send dead letters of the group back to its stream, each once, and delete them.

        All from the id `start` on, or those with these ids; at most `limit` in one call. Continue with the
        `next_` of the result. After a lost response, call it again: it sends no letter twice.
        """
        return self._session.send(group_calls.redrive(self.key, self.name, ids, start, limit))

    def consumers(self) -> list[replies.Consumer]:
        """Return the consumers of the group, with their pending entries and the time since their last
        request."""
        return self._session.send(group_calls.consumers(self.key, self.name))

    def create_consumer(self, consumer: str) -> bool:
        """Create a consumer and return whether it is new. Reads create consumers, too. O(1)."""
        return self._session.send(group_calls.create_consumer(self.key, self.name, consumer))

    def delete_consumer(self, consumer: str, *, force: bool = False, transfer_to: str | None = None) -> int:
        """Delete a consumer and return how many entries were pending for it.

        The pending entries move to the consumer `transfer_to`, or are dropped with `force`.
        """
        call = group_calls.delete_consumer(
            self.key, self.name, consumer, force=force, transfer_to=transfer_to
        )
        return self._session.send(call)

    # --- entries -------------------------------------------------------------------------------

    def read(  # noqa: PLR0913 - the options of XREADGROUP
        self,
        consumer: str,
        count: int | None = None,
        *,
        id: str = ">",  # noqa: A002 - entry ids have this name everywhere
        max_bytes: int | None = None,
        wait_ms: int | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        claim_min_idle_ms: int | None = None,
        noack: bool = False,
    ) -> list[Delivery]:
        """Read entries for a consumer. They are pending for it until it acknowledges them.

        With `claim_min_idle_ms`, the result begins with entries that have been pending for any consumer for
        that time. With an `id` instead of `>`, the result is the consumer's own pending entries after that
        id. A lost response is an error, and its entries are pending. `max_bytes`: end the result once it has
        this many bytes. With `wait_ms` and `min_count`, the server gathers that many entries, or what has
        arrived `linger_ms` after the first one.
        """
        call = group_calls.read(
            self.name,
            consumer,
            {self.key: id},
            count=count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )
        return (self._session.send(call))[0].entries

    def ack(self, *ids: str, delete: bool = False, references: References | None = None) -> int:
        """Acknowledge entries and return how many were pending. `delete`: also delete them from the stream,
        in the same step."""
        if not ids:
            return 0
        call = group_calls.ack(self.key, self.name, ids, delete=delete, references=references)
        return self._session.send(call)

    def nack(
        self,
        *ids: str,
        mode: NackMode = "fail",
        retry_count: int | None = None,
        delay_ms: int | None = None,
    ) -> int:
        """Return entries to the group for the next consumer that claims, and return how many were pending.

        `silent`: the delivery does not count. `fail`: it counts. `fatal`: the entry should not be tried
        again. `delay_ms`: no consumer can claim the entries before that time; without it, the group's backoff
        applies, unless the mode is `silent`.
        """
        if not ids:
            return 0
        call = group_calls.nack(self.key, self.name, ids, mode, retry_count, delay_ms)
        return self._session.send(call)

    def claim(
        self,
        consumer: str,
        *ids: str,
        min_idle_ms: int,
        idle_ms: int | None = None,
        delivered_at_ms: int | None = None,
        retry_count: int | None = None,
        force: bool = False,
        last_id: str | None = None,
    ) -> list[Entry]:
        """Take over pending entries by their ids, if they are idle long enough (XCLAIM). O(ids log n).

        `idle_ms` or `delivered_at_ms`: the idle time or the time of the last delivery that the entries have
        afterwards; now unless given. `retry_count`: their number of deliveries afterwards. `force`: also take
        entries that are not pending. `last_id`: move the position of the group forward to this id.
        """
        if not ids:
            return []
        changes = ClaimChanges(idle_ms, delivered_at_ms, retry_count, force, last_id)
        return self._session.send(group_calls.claim(self.key, self.name, consumer, ids, min_idle_ms, changes))

    def extend(self, consumer: str, *ids: str) -> list[str]:
        """Begin the idle time of a consumer's own entries again, and return their ids (a heartbeat).

        No delivery is counted. Ids that are missing from the result belong to another consumer now, or are no
        longer pending: stop working on them.
        """
        if not ids:
            return []
        return self._session.send(group_calls.extend(self.key, self.name, consumer, ids))

    def autoclaim(
        self, consumer: str, *, min_idle_ms: int, start: str = "0-0", count: int = 100
    ) -> ScanResult:
        """Take over idle entries that a scan in id order finds."""
        call = group_calls.autoclaim(self.key, self.name, consumer, min_idle_ms, start, count)
        return self._session.send(call)

    def pending(
        self,
        *,
        start: str = "-",
        end: str = "+",
        count: int | None = None,
        consumer: str | None = None,
        min_idle_ms: int | None = None,
    ) -> list[replies.PendingItem]:
        """Return pending entries in id order; 100 unless `count` is given."""
        call = group_calls.pending(
            self.key,
            self.name,
            start=start,
            end=end,
            count=count,
            consumer=consumer,
            min_idle_ms=min_idle_ms,
        )
        return self._session.send(call)

    def pending_summary(self) -> replies.PendingOverview:
        """Return the number of pending entries, their first and last id, and the number for each consumer."""
        return self._session.send(group_calls.pending_summary(self.key, self.name))
