"""Wire models of the server itself: its limits and its state."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from api.schemas.base import WireModel
from core import limits


class Health(WireModel):
    """The process answers."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ok"}})

    status: Literal["ok"] = Field(description="Always `ok`.", examples=["ok"])


class Readiness(WireModel):
    """The server takes requests."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ready"}})

    status: Literal["ready"] = Field(description="Always `ready`; else it is a 503.", examples=["ready"])


def _bound(value: int, description: str) -> Any:
    """A field whose example is the bound itself."""
    return Field(description=description, examples=[value])


class Limits(WireModel):
    """Every bound of the server. They bound what one request may cost, not what a stream may hold."""

    name_bytes_max: int = _bound(limits.NAME_BYTES_MAX, "Bytes of a key, group, consumer or producer name.")
    fields_per_entry_max: int = _bound(limits.FIELDS_PER_ENTRY_MAX, "Field-value pairs of one entry.")
    entry_bytes_max: int = _bound(limits.ENTRY_BYTES_MAX, "Bytes of one entry's fields as JSON.")
    body_bytes_max: int = _bound(limits.BODY_BYTES_MAX, "Bytes of a body, after decompression.")
    batch_entries_max: int = _bound(limits.BATCH_ENTRIES_MAX, "Entries of one batch or import.")
    ids_per_request_max: int = _bound(limits.IDS_PER_REQUEST_MAX, "Ids named in one request.")
    read_streams_max: int = _bound(limits.READ_STREAMS_MAX, "Streams named in one read.")
    page_entries_max: int = _bound(limits.PAGE_ENTRIES_MAX, "Entries of one page, and the default count.")
    page_bytes_max: int = _bound(limits.PAGE_BYTES_MAX, "Bytes at which a page ends early.")
    list_page_max: int = _bound(limits.LIST_PAGE_MAX, "Streams in one page of the listing.")
    list_page_default: int = _bound(limits.LIST_PAGE_DEFAULT, "Streams in a page where no limit is given.")
    pipeline_commands_max: int = _bound(
        limits.PIPELINE_COMMANDS_MAX, "Commands of one pipeline or transaction."
    )
    command_arguments_max: int = _bound(limits.COMMAND_ARGUMENTS_MAX, "Words of one command.")
    split_parts_max: int = _bound(limits.SPLIT_PARTS_MAX, "Parts that a range is split into at once.")
    wait_ms_max: int = _bound(limits.WAIT_MS_MAX, "The longest wait of one request, in milliseconds.")
    element_bytes_max: int = _bound(limits.ELEMENT_BYTES_MAX, "Bytes of one entry's names and values.")
    node_entries_default: int = _bound(
        limits.NODE_ENTRIES_DEFAULT, "Entries of a block: the unit of approximate trimming."
    )
    node_bytes_default: int = _bound(
        limits.NODE_BYTES_DEFAULT, "Bytes of a block: the unit of approximate trimming."
    )
    idmp_duration_s_default: int = _bound(
        limits.IDMP_DURATION_S_DEFAULT, "How long an idempotency key is remembered, in seconds."
    )
    idmp_duration_s_max: int = _bound(limits.IDMP_DURATION_S_MAX, "The longest that may be set, in seconds.")
    idmp_maxsize_default: int = _bound(
        limits.IDMP_MAXSIZE_DEFAULT, "Idempotency keys remembered for each producer."
    )
    idmp_maxsize_max: int = _bound(limits.IDMP_MAXSIZE_MAX, "The most that may be set.")
    autoclaim_count_max: int = _bound(limits.AUTOCLAIM_COUNT_MAX, "`COUNT` of an XAUTOCLAIM command.")
    trim_limit_max: int = _bound(limits.TRIM_LIMIT_MAX, "The greatest default bound of an approximate trim.")

    @classmethod
    def current(cls) -> Self:
        """The bounds of this server."""
        return cls(**{name: getattr(limits, name.upper()) for name in cls.model_fields})
