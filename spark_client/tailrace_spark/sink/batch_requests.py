"""The requests about a batch that an earlier run of the query began: check a chunk, take over.

This module builds and sends single requests. The callers decide what the answers mean, and repeat requests.
"""

# The generated operations keep their requests in `_get_kwargs`.
# ruff: noqa: SLF001
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from tailrace_client import Tailrace
from tailrace_client.call import Call, member, nothing
from tailrace_client.generated.api.entries import check_import
from tailrace_client.generated.api.streams import take_over_epoch
from tailrace_client.generated.models import TakeOverBody
from tailrace_client.generated.types import UNSET, File

if TYPE_CHECKING:
    from tailrace_spark.sink.sender import Replay


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one request, as it is sent."""

    content: bytes
    shape: Literal["fields", "entry"]
    encoding: Literal["gzip", "zstd"] | None


def is_known(client: Tailrace, stream: str, key: str, body: Body, replay: Replay, layout: str) -> bool:
    """Return whether the server appended this body under this key. It appends nothing now."""
    request = check_import._get_kwargs(
        stream,
        body=File(payload=cast("BinaryIO", body.content)),
        shape=body.shape,
        content_encoding=UNSET if body.encoding is None else body.encoding,
        idempotency_key=key,
        producer_id=replay.producer_id,
        producer_epoch=replay.batch_id,
        producer_layout=layout,
    )
    request["headers"]["Content-Length"] = str(len(body.content))
    return bool(client.session.send(Call(request, member("known"), is_idempotent=True)))


def take_over(client: Tailrace, stream: str, replay: Replay, replaces: str, keys: int) -> None:
    """Replace the layout of the batch. Fails if the batch has another layout or another number of keys."""
    body = TakeOverBody(epoch=replay.batch_id, replaces=replaces, layout=replay.pinned, keys=keys)
    request = take_over_epoch._get_kwargs(stream, replay.producer_id, body=body)
    client.session.send(Call(request, nothing, is_idempotent=True))
