"""The commands for the bodies of hot operations on pending entries, for documented routes and the hot way.

It owns the step from a body to a command, and never writes a response. A body in an uncommon form raises an
error; the documented route then describes the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from tailrace.api.schemas.claims import AutoClaimBody, ClaimBody, ExtendBody
from tailrace.api.schemas.pending import NackBody
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import require_few_elements
from tailrace.api.wire.id_lists import consecutive_ids
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.parameters import ids_of, optional_id_of, start_of
from tailrace.core.commands import (
    Acknowledge,
    AutoClaim,
    Claim,
    ClaimOptions,
    ExtendLeases,
    NackMode,
    NegativeAcknowledge,
)
from tailrace.core.limits import IDS_PER_REQUEST_MAX, REQUEST_ELEMENTS_MAX


class _HotAck(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The common form of the body of `xack`. The documented model, `AckBody`, has more members."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_PER_REQUEST_MAX)]


_IDS_ONLY: Final = b'{"ids":'

_decode_hot_ack: Final = msgspec.json.Decoder(_HotAck).decode


def hot_ack_command(key: bytes, group: bytes, raw: bytes) -> Acknowledge | None:
    """Return the command for a body of `xack` with ids only, else None: the model then decodes the body.

    Raises `RequestRefused` 400 or 413.
    """
    if raw.startswith(_IDS_ONLY):
        ids = consecutive_ids(raw[len(_IDS_ONLY) : -1])
        if ids is not None and raw.endswith(b"}"):
            return Acknowledge(key, group, ids, require_group=True)
    require_few_elements(raw, REQUEST_ELEMENTS_MAX)
    if raw.count(b":") > 1:
        return None
    try:
        return ack_command(key, group, _decode_hot_ack(raw).ids)
    except UNREADABLE:
        return None


def ack_command(key: bytes, group: bytes, ids: Sequence[str]) -> Acknowledge:
    """Return the command that acknowledges entries."""
    return Acknowledge(key, group, ids_of(ids), require_group=True)


def nack_command(key: bytes, group: bytes, body: NackBody) -> NegativeAcknowledge:
    """Return the command that returns entries to the group."""
    mode, ids = NackMode(body.mode), ids_of(body.ids)
    return NegativeAcknowledge(key, group, mode, ids, body.retry_count, body.force, body.delay_ms)


def claim_command(key: bytes, group: bytes, body: ClaimBody) -> Claim:
    """Return the command that claims entries by id."""
    options = ClaimOptions(
        min_idle_ms=body.min_idle_ms,
        ids=ids_of(body.ids),
        idle_ms=body.idle_ms,
        delivered_at_ms=body.delivered_at_ms,
        retry_count=body.retry_count,
        force=body.force,
        just_id=body.just_id,
        last_id=optional_id_of(body.last_id, "last_id"),
    )
    return Claim(key, group, name_from_body(body.consumer, body.encoding, "consumer"), options)


def extend_command(key: bytes, group: bytes, body: ExtendBody) -> ExtendLeases:
    """Return the command that begins the idle time of a consumer's entries again."""
    return ExtendLeases(
        key, group, name_from_body(body.consumer, body.encoding, "consumer"), ids_of(body.ids)
    )


def autoclaim_command(key: bytes, group: bytes, body: AutoClaimBody) -> AutoClaim:
    """Return the command that claims idle entries by a scan."""
    return AutoClaim(
        key,
        group,
        name_from_body(body.consumer, body.encoding, "consumer"),
        body.min_idle_ms,
        start_of(body.start),
        body.count,
        body.just_id,
    )
