"""Refusals of the library as errors of core, with the codes, lines and details of the embedded engine.

The library answers ``refused``, a code and details; an answer without it is ``ok`` and the reply's
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tailrace.app.remote.functions.call import items, text
from tailrace.app.remote.link.port import Resp
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import EPOCH_KEYS_MAX

_OK = b"ok"


def accepted(answer: Resp) -> Sequence[Resp]:
    """Return the values of an answer. Raises the `StreamError` of a refusal."""
    status, *values = items(answer)
    if status == _OK:
        return values
    code, *details = [text(value).decode("utf-8", "backslashreplace") for value in values]
    raise _REFUSALS[code](*details)


def _not_greater(last_id: str, given: str) -> StreamError:
    return StreamError(
        ErrorCode.ID_NOT_GREATER,
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        last_id=last_id,
        given=given,
    )


def _exhausted(last_id: str) -> StreamError:
    return StreamError(
        ErrorCode.ID_EXHAUSTED,
        "ERR The stream has exhausted the last possible ID, unable to add more items",
        last_id=last_id,
    )


def _another_last_id(last_id: str, wanted: str) -> StreamError:
    return StreamError(
        ErrorCode.PRECONDITION_FAILED,
        f"ERR the stream's last id is {last_id}, not {wanted}",
        last_id=last_id,
    )


def _another_body() -> StreamError:
    return StreamError(
        ErrorCode.IDEMPOTENCY_MISMATCH, "ERR the idempotency key was used before with another body"
    )


def _stale(number: str, current: str) -> StreamError:
    return StreamError(
        ErrorCode.STALE_EPOCH,
        f"ERR the producer's epoch {number} is older than its remembered epochs",
        epoch=current,
    )


def _layout_changed(number: str, layout: str) -> StreamError:
    return StreamError(
        ErrorCode.LAYOUT_CHANGED,
        f"ERR epoch {number} began with another layout: split the batch as in its first attempt",
        layout=layout,
    )


def _other_keys(number: str, found: str, wanted: str, layout: str) -> StreamError:
    return StreamError(
        ErrorCode.LAYOUT_CHANGED,
        f"ERR epoch {number} has {found} idempotency keys, not {wanted}: read the producer again",
        layout=layout,
        keys=found,
    )


def _too_many_keys(number: str) -> StreamError:
    return StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR epoch {number} has {EPOCH_KEYS_MAX} idempotency keys, the maximum: send larger requests, "
        "or begin another epoch",
    )


def _too_many_references(ids: str, groups: str, most: str) -> StreamError:
    return StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR too many references to look for: {ids} ids in {groups} groups, {most} together are allowed; "
        "name fewer ids",
    )


def _trim_too_large(most: str) -> StreamError:
    return StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR this engine trims at most {most} entries times groups with DELREF: use smaller steps",
    )


def _too_many_to_forget(most: str) -> StreamError:
    return StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR the stream has more than {most} idempotency keys, which this engine cannot forget at once: "
        "change the setting when they have expired",
    )


def _no_such_key() -> StreamError:
    return StreamError(ErrorCode.NO_SUCH_STREAM, "ERR no such key")


def _no_such_message() -> StreamError:
    return StreamError(ErrorCode.INVALID_ARGUMENT, "ERR No such message in stream")


def _iid_of_another() -> StreamError:
    return StreamError(
        ErrorCode.INVALID_ARGUMENT,
        "ERR IID already exists for this producer with a different stream ID",
    )


def _too_small(name: str, value: str, least: str) -> StreamError:
    return _invalid(f"{name} is {value}, but it must be at least {least}")


def _half_set(has: str, lacks: str) -> StreamError:
    return _invalid(f"the group would have {has} without {lacks}; set both, or remove both with null")


def _own_stream(stream: str) -> StreamError:
    return _invalid(f"dead_letter_stream is '{stream}', the group's own stream; name another stream")


def _no_dead_letters(group: str) -> StreamError:
    return _invalid(f"the group '{group}' has no dead_letter_stream; configure the group first")


def _other_dead_letters() -> StreamError:
    return _invalid("the dead_letter_stream of the group has just changed; send the request again")


def _redrive_own_stream() -> StreamError:
    return _invalid("the dead_letter_stream is the group's own stream; configure another one")


def _invalid(detail: str) -> StreamError:
    return StreamError(ErrorCode.INVALID_ARGUMENT, f"ERR {detail}")


_REFUSALS: dict[str, Callable[..., StreamError]] = {
    "NOT_GREATER": _not_greater,
    "EXHAUSTED": _exhausted,
    "LAST_ID": _another_last_id,
    "ANOTHER_BODY": _another_body,
    "STALE_EPOCH": _stale,
    "LAYOUT_CHANGED": _layout_changed,
    "OTHER_KEYS": _other_keys,
    "EPOCH_FULL": _too_many_keys,
    "REFERENCES": _too_many_references,
    "TRIM_TOO_LARGE": _trim_too_large,
    "FORGET_TOO_MANY": _too_many_to_forget,
    "NO_SUCH_KEY": _no_such_key,
    "NO_SUCH_MESSAGE": _no_such_message,
    "IID_OF_ANOTHER": _iid_of_another,
    "TOO_SMALL": _too_small,
    "HALF_SET": _half_set,
    "OWN_STREAM": _own_stream,
    "NO_DEAD_LETTERS": _no_dead_letters,
    "OTHER_DEAD_LETTERS": _other_dead_letters,
    "REDRIVE_OWN_STREAM": _redrive_own_stream,
}
"""The error of each code of the library; its details are the arguments."""
