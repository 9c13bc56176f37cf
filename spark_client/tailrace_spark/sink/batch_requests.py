"""The requests about a batch that an earlier run of the query began: check a chunk, take over.

This module builds and sends single requests. The callers decide what the answers mean, and repeat requests.
"""

# The generated operations keep their requests in `_get_kwargs`.
# ruff: noqa: SLF001
from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO, Literal, NamedTuple, cast

from tailrace_client import Tailrace
from tailrace_client.call import Call, member, nothing
from tailrace_client.generated.api.entries import check_import
from tailrace_client.generated.api.streams import take_over_epoch
from tailrace_client.generated.models import TakeOverBody
from tailrace_client.generated.types import UNSET, File


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one request, as it is sent."""

    content: bytes
    shape: Literal["fields", "entry"]
    encoding: Literal["gzip", "zstd"] | None


class Batch(NamedTuple):
    """A batch as the server identifies it: its producer, its number and its layout."""

    producer_id: str
    number: int
    layout: str


def is_known(client: Tailrace, stream: str, key: str, body: Body, batch: Batch) -> bool:
    """Return whether the server appended this body under this key. It appends nothing now."""
    request = check_import._get_kwargs(
        stream,
        body=File(payload=cast("BinaryIO", body.content)),
        shape=body.shape,
        content_encoding=UNSET if body.encoding is None else body.encoding,
        idempotency_key=key,
        producer_id=batch.producer_id,
        producer_epoch=batch.number,
        producer_layout=batch.layout,
    )
    request["headers"]["Content-Length"] = str(len(body.content))
    return bool(client.session.send(Call(request, member("known"), is_idempotent=True)))


def take_over(client: Tailrace, stream: str, batch: Batch, replaces: str, keys: int) -> None:
    """Replace the layout of the batch. Fails if the batch has another layout or another number of keys."""
    body = TakeOverBody(epoch=batch.number, replaces=replaces, layout=batch.layout, keys=keys)
    request = take_over_epoch._get_kwargs(stream, batch.producer_id, body=body)
    client.session.send(Call(request, nothing, is_idempotent=True))
