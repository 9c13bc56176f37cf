"""The calls that append, trim and delete entries. This module sends nothing.

`entry_calls` has the calls that read, and `state_calls` those of the stream as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias, cast

from tailrace_client import replies
from tailrace_client.call import Answer, Call, given, member, nothing, record
from tailrace_client.fields import FieldsToAppend, wire_entry
from tailrace_client.generated import models
from tailrace_client.generated.api import entries as entries_api
from tailrace_client.generated.types import UNSET, File

References: TypeAlias = Literal["keep", "delete", "acknowledged"]


@dataclass(frozen=True, slots=True)
class Trim:
    """The rule of a trim: remove all but the newest `max_length` entries, or all entries below `min_id`. Set
    exactly one of the two.

    `approximate`: keep up to one node more than requested, which costs less. `limit`: the most entries to
    remove at once; only with `approximate`. `references`: the effect on pending entries, as for deletions.
    """

    max_length: int | None = None
    min_id: str | None = None
    approximate: bool | None = None
    limit: int | None = None
    references: References | None = None

    def wire(self) -> models.Trimming:
        """Return the rule as a request contains it."""
        return models.Trimming(
            max_length=given(self.max_length),
            min_id=given(self.min_id),
            approximate=given(self.approximate),
            limit=given(self.limit),
            references=given(self.references),
        )


@dataclass(frozen=True, slots=True)
class Producer:
    """The producer of an append, and its idempotency key. The same key with the same body appends nothing
    again.

    `epoch`: the server then keeps the keys of this epoch and the one before, without a time limit. `layout`:
    the first request of an epoch pins it; another layout in that epoch is an error.
    """

    id: str
    key: str
    epoch: int | None = None
    layout: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the generated operations."""
        return {
            "producer_id": self.id,
            "idempotency_key": self.key,
            "producer_epoch": given(self.epoch),
            "producer_layout": given(self.layout),
        }


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import. `replayed`: the key was used before, so nothing was appended, and the ids are
    those of the first request."""

    count: int
    first_id: str
    last_id: str
    replayed: bool


def append(
    key: str,
    fields: FieldsToAppend,
    *,
    id: str | None,  # noqa: A002
    trim: Trim | None,
    create: bool,
    if_last_id: str | None,
    producer: Producer | None,
    traceparent: str | None = None,
) -> Call[str]:
    """Return the call of XADD. A repetition is safe with a producer's key, and with an explicit id, which
    cannot be used twice."""
    body = models.XaddBody(
        id=given(id),
        trim=UNSET if trim is None else trim.wire(),
        nomkstream=UNSET if create else True,
        if_last_id=given(if_last_id),
    )
    request = entries_api.xadd._get_kwargs(key, body=body, **_arguments(producer, traceparent))
    request["json"] = {**wire_entry(fields), **request["json"]}
    return Call(request, member("id"), is_idempotent=producer is not None)


def append_batch(
    key: str,
    entries: Sequence[FieldsToAppend],
    *,
    ids: Sequence[str] | None,
    trim: Trim | None,
    if_last_id: str | None,
    producer: Producer | None,
    traceparent: str | None = None,
) -> Call[list[str]]:
    """Return the call that appends several entries, all or none, and returns their ids."""
    wired = [wire_entry(fields) for fields in entries]
    if ids is not None:
        if len(ids) != len(wired):
            raise ValueError(f"{len(ids)} ids for {len(wired)} entries; pass one id for each entry")
        wired = [{"id": entry_id, **each} for entry_id, each in zip(ids, wired, strict=True)]
    body = models.XaddBatchBody(
        entries=[], trim=UNSET if trim is None else trim.wire(), if_last_id=given(if_last_id)
    )
    request = entries_api.xadd_batch._get_kwargs(
        key, body=body, ids=True, **_arguments(producer, traceparent)
    )
    request["json"] = {**request["json"], "entries": wired}
    return Call(request, member("ids"), is_idempotent=producer is not None)


class Body(Protocol):
    """Bytes of a known length, whole or in parts."""

    def __len__(self) -> int: ...


def import_lines(
    key: str,
    body: Body,
    *,
    shape: Literal["fields", "entry"],
    content_encoding: str | None,
    producer: Producer | None,
    traceparent: str | None = None,
) -> Call[ImportResult]:
    """Return the call of one entries:import request."""
    request = entries_api.import_entries._get_kwargs(
        key,
        body=File(payload=cast("BinaryIO", body)),
        shape=UNSET
        if shape == "fields"
        else shape,  # The default is omitted: the server answers such requests fastest.
        content_encoding=given(content_encoding),
        **_arguments(producer, traceparent),
    )
    request["headers"]["Content-Length"] = str(len(body))
    return Call(request, _import_result, is_idempotent=producer is not None)


def check_lines(
    key: str,
    body: bytes,
    *,
    shape: Literal["fields", "entry"],
    content_encoding: str | None,
    producer: Producer | None,
) -> Call[replies.ImportCheck]:
    """Return the call of one entries:check request, which appends nothing."""
    request = entries_api.check_import._get_kwargs(
        key,
        body=File(payload=cast("BinaryIO", body)),
        shape=shape,
        content_encoding=given(content_encoding),
        **_arguments(producer),
    )
    request["headers"]["Content-Length"] = str(len(body))
    return Call(request, record(replies.ImportCheck), is_idempotent=True)


def trim(key: str, rule: Trim) -> Call[int]:
    """Return the call of XTRIM. A repetition of a trim by id has no further effect; after a lost response the
    count is that of the repetition. A trim by length is not repeated, because it would also remove entries
    for which others that were appended meanwhile leave no place."""
    return Call(
        entries_api.xtrim._get_kwargs(key, body=rule.wire()),
        member("trimmed"),
        is_idempotent=rule.max_length is None,
    )


def delete_entry(key: str, entry_id: str) -> Call[None]:
    """Return the call that deletes one entry. The call is not repeated after a lost response, because a
    repetition finds no entry."""
    return Call(entries_api.delete_entry._get_kwargs(key, entry_id), nothing)


def delete(key: str, ids: Sequence[str], references: References | None) -> Call[replies.DeleteReply]:
    """Return the call of XDEL, or XDELEX with `references`. Ids are never reused, so a repetition deletes
    nothing else."""
    request = entries_api.xdel._get_kwargs(
        key, body=models.DeleteBody(ids=list(ids), references=given(references))
    )
    return Call(request, record(replies.DeleteReply), is_idempotent=True)


def _arguments(producer: Producer | None, traceparent: str | None = None) -> dict[str, Any]:
    """Return the arguments of the generated operations that become headers."""
    traced = {} if traceparent is None else {"tailrace_trace": "entry", "traceparent": traceparent}
    return traced if producer is None else {**producer.arguments(), **traced}


def _import_result(answer: Answer) -> ImportResult:
    reply = answer.json()
    # Parsing the headers takes a tenth of the client's time for a request; a replay is not 201.
    is_replayed = (
        answer.status_code != HTTPStatus.CREATED and answer.headers.get("idempotent-replayed") == "true"
    )
    return ImportResult(reply["count"], reply["first_id"], reply["last_id"], is_replayed)
