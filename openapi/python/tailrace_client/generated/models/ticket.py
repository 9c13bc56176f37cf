from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Ticket")


@_attrs_define
class Ticket:
    """A ticket for one WebSocket handshake. Send it as the subprotocol `tailrace.ticket.<ticket>`.

    Example:
        {'ticket': 'Zm9yIG9uZSBzb2NrZXQgb25seSwgYW5kIG5vdCBmb3IgbG9uZw', 'expires_in_s': 60}

    """

    ticket: str
    """ The ticket. """
    expires_in_s: int
    """ Seconds until the ticket expires. """

    def to_dict(self) -> dict[str, Any]:
        ticket = self.ticket

        expires_in_s = self.expires_in_s

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ticket": ticket,
                "expires_in_s": expires_in_s,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ticket = d.pop("ticket")

        expires_in_s = d.pop("expires_in_s")

        ticket = cls(
            ticket=ticket,
            expires_in_s=expires_in_s,
        )

        return ticket
