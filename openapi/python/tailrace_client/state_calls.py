"""The calls of a stream as a whole: its state, settings, counters, groups and producers. This module sends
nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from tailrace_client import replies
from tailrace_client.call import Answer, Call, given, member, nothing, record, records
from tailrace_client.generated import models
from tailrace_client.generated.api import groups as groups_api
from tailrace_client.generated.api import streams as streams_api
from tailrace_client.generated.types import UNSET

# --- retention ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retention:
    """The rules of one stream. An entry goes if one rule removes it, always the oldest entries first.

    `max_age_ms`: how long an entry is kept, from the time in its id on. `max_length`: how many entries.
    `max_bytes`: how many bytes of entries, as compact JSON before compression. `acknowledged`: whether
    entries go that every group has acknowledged. `protect_unread`: whether entries stay that a group has not
    read.
    """

    max_age_ms: int | None = None
    max_length: int | None = None
    max_bytes: int | None = None
    acknowledged: bool = False
    protect_unread: bool = False


RetentionChange = Retention | Literal["keep"] | None
"""New rules; `"keep"` keeps the rules, and None removes them all."""


def with_retention(request: dict[str, Any], change: RetentionChange) -> dict[str, Any]:
    """Add the change to the body of a request. The generated model cannot hold null, which removes rules."""
    if change != "keep":
        rules = None if change is None else asdict(change)
        request["json"] = {**request.get("json", {}), "retention": rules}
        request["headers"] = {**request.get("headers", {}), "Content-Type": "application/json"}
    return request


# --- calls --------------------------------------------------------------------------------------


class StreamHead(NamedTuple):
    """The length and the ids of a stream.

    `first_id`: the id of the first entry; None if the stream is empty. `last_id`: the last id that the stream
    issued, also if that entry is deleted. `incarnation`: it differs from that of every other stream,
    including an earlier stream with the same key; None if the engine behind a gateway refuses to store it.
    """

    length: int
    first_id: str | None
    last_id: str
    incarnation: str | None


def length(key: str) -> Call[int]:
    """Return the call of XLEN."""
    return Call(streams_api.xlen._get_kwargs(key), member("length"), is_idempotent=True)


def head(key: str) -> Call[StreamHead]:
    """Return the call that reads the length and the ids of a stream."""
    return Call(streams_api.head_stream._get_kwargs(key), _head, is_idempotent=True)


def info(key: str, count: int | None, *, full: bool) -> Call[replies.StreamState]:
    """Return the call of XINFO STREAM, or XINFO STREAM FULL."""
    counted = UNSET if count is None else count
    request = streams_api.xinfo_stream._get_kwargs(key, full=full or UNSET, count=counted, shape=UNSET)
    return Call(request, record(replies.StreamState), is_idempotent=True)


def create(
    key: str, idmp_duration_s: int | None, idmp_maxsize: int | None, retention: RetentionChange
) -> Call[bool]:
    """Return the call that creates an empty stream, or changes the settings of an existing one."""
    settings = _settings(idmp_duration_s, idmp_maxsize)
    request = streams_api.create_stream._get_kwargs(key, body=settings if settings.to_dict() else UNSET)
    return Call(with_retention(request, retention), member("created"), is_idempotent=True)


def configure(
    key: str, idmp_duration_s: int | None, idmp_maxsize: int | None, retention: RetentionChange
) -> Call[None]:
    """Return the call that changes the settings of a stream, as XCFGSET does."""
    request = streams_api.xcfgset._get_kwargs(key, body=_settings(idmp_duration_s, idmp_maxsize))
    return Call(with_retention(request, retention), nothing, is_idempotent=True)


def set_id(key: str, last_id: str, entries_added: int | None, max_deleted_id: str | None) -> Call[None]:
    """Return the call of XSETID. The call is not repeated after a lost response, because another client may
    append meanwhile."""
    body = models.PositionBody(
        last_id=last_id, entries_added=given(entries_added), max_deleted_id=given(max_deleted_id)
    )
    return Call(streams_api.xsetid._get_kwargs(key, body=body), nothing)


def drop(key: str) -> Call[None]:
    """Return the call of DEL. The call is not repeated after a lost response, because a repetition finds no
    stream."""
    return Call(streams_api.delete_stream._get_kwargs(key), nothing)


def groups(key: str) -> Call[list[replies.Group]]:
    """Return the call of XINFO GROUPS."""
    return Call(
        groups_api.xinfo_groups._get_kwargs(key),
        records(replies.Group, "groups"),
        is_idempotent=True,
    )


def producer(key: str, producer_id: str) -> Call[replies.ProducerState]:
    """Return the call that reads the epochs of a producer."""
    request = streams_api.get_producer._get_kwargs(key, producer_id)
    return Call(request, record(replies.ProducerState), is_idempotent=True)


def take_over(key: str, producer_id: str, epoch: int, replaces: str, layout: str, keys: int) -> Call[None]:
    """Return the call that gives an epoch another layout."""
    body = models.TakeOverBody(epoch=epoch, replaces=replaces, layout=layout, keys=keys)
    return Call(
        streams_api.take_over_epoch._get_kwargs(key, producer_id, body=body), nothing, is_idempotent=True
    )


def _settings(idmp_duration_s: int | None, idmp_maxsize: int | None) -> models.StreamSettings:
    return models.StreamSettings(idmp_duration_s=given(idmp_duration_s), idmp_maxsize=given(idmp_maxsize))


def _head(answer: Answer) -> StreamHead:
    headers = answer.headers
    return StreamHead(
        int(headers["x-stream-length"]),
        headers.get("x-first-id"),
        headers["x-last-id"],
        headers.get("x-incarnation"),
    )
