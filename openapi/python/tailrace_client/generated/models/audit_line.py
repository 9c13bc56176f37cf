from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="AuditLine")


@_attrs_define
class AuditLine:
    """An administrative act, allowed or denied. It never contains a token or a value.

    Example:
        {'at_ms': 1795180211331, 'token_id': '3f9a0c27b1d4', 'token': 'operator', 'operation': 'delete_stream', 'keys':
            ['race:italy'], 'keys_count': 1, 'outcome': 'done', 'request_id': 'c02051d26e634ba9af4eea1f243a0353'}

    """

    at_ms: int
    """ When it happened, in Unix milliseconds. """
    token_id: str
    """ The id of the token; `local` if the server requires no tokens. """
    token: str
    """ The name of the token. """
    operation: str
    """ The operation's id in this document, or the name of a command. """
    keys: list[str]
    """ The first 20 streams that it concerns; bytes that are not UTF-8 are `\\xNN`. Empty for all streams, or none.
    """
    keys_count: int
    """ How many streams it names. """
    outcome: str
    """ `done`, `denied`, an error code, or what happened to the token. """
    request_id: None | str
    """ The id of the request; null if there was none. """

    def to_dict(self) -> dict[str, Any]:
        at_ms = self.at_ms

        token_id = self.token_id

        token = self.token

        operation = self.operation

        keys = self.keys

        keys_count = self.keys_count

        outcome = self.outcome

        request_id: None | str
        request_id = self.request_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "at_ms": at_ms,
                "token_id": token_id,
                "token": token,
                "operation": operation,
                "keys": keys,
                "keys_count": keys_count,
                "outcome": outcome,
                "request_id": request_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at_ms = d.pop("at_ms")

        token_id = d.pop("token_id")

        token = d.pop("token")

        operation = d.pop("operation")

        keys = cast(list[str], d.pop("keys"))

        keys_count = d.pop("keys_count")

        outcome = d.pop("outcome")

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id", None))

        audit_line = cls(
            at_ms=at_ms,
            token_id=token_id,
            token=token,
            operation=operation,
            keys=keys,
            keys_count=keys_count,
            outcome=outcome,
            request_id=request_id,
        )

        return audit_line
