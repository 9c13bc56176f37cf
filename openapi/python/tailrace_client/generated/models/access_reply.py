from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.access_reply_scopes_item import (
    AccessReplyScopesItem,
    check_access_reply_scopes_item,
)

T = TypeVar("T", bound="AccessReply")


@_attrs_define
class AccessReply:
    """What the token of the request may do.

    Example:
        {'token': None, 'token_id': None, 'scopes': ['admin', 'append', 'consume', 'read'], 'key_patterns': ['*'],
            'expires_at_ms': None}

    """

    token: None | str
    """ The name of the token; null if the server requires no tokens. """
    token_id: None | str
    """ The id of the token; null if the server requires no tokens. """
    scopes: list[AccessReplyScopesItem]
    """ The scopes of the token. No scope includes another. """
    key_patterns: list[str]
    """ The globs of the keys on which the scopes are allowed. """
    expires_at_ms: int | None
    """ When the token expires, in Unix milliseconds; null for never. """

    def to_dict(self) -> dict[str, Any]:
        token: None | str
        token = self.token

        token_id: None | str
        token_id = self.token_id

        scopes = []
        for scopes_item_data in self.scopes:
            scopes_item: str = scopes_item_data
            scopes.append(scopes_item)

        key_patterns = self.key_patterns

        expires_at_ms: int | None
        expires_at_ms = self.expires_at_ms

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "token": token,
                "token_id": token_id,
                "scopes": scopes,
                "key_patterns": key_patterns,
                "expires_at_ms": expires_at_ms,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_token(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        token = _parse_token(d.pop("token", None))

        def _parse_token_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        token_id = _parse_token_id(d.pop("token_id", None))

        scopes = []
        _scopes = d.pop("scopes")
        for scopes_item_data in _scopes:
            scopes_item = check_access_reply_scopes_item(scopes_item_data)

            scopes.append(scopes_item)

        key_patterns = cast(list[str], d.pop("key_patterns"))

        def _parse_expires_at_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expires_at_ms = _parse_expires_at_ms(d.pop("expires_at_ms", None))

        access_reply = cls(
            token=token,
            token_id=token_id,
            scopes=scopes,
            key_patterns=key_patterns,
            expires_at_ms=expires_at_ms,
        )

        return access_reply
