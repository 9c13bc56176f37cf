from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.connections_state_cut import ConnectionsStateCut


T = TypeVar("T", bound="ConnectionsState")


@_attrs_define
class ConnectionsState:
    """The clients of the server now.

    Example:
        {'open': 3, 'websockets': 1, 'subscriptions': 2, 'event_streams': 0, 'waiting_readers': 2, 'cut':
            {'header_timeout': 1}}

    """

    open_: int
    """ Open connections, including idle ones and WebSockets. """
    websockets: int
    """ Open WebSockets. """
    subscriptions: int
    """ Open subscriptions of all WebSockets. """
    event_streams: int
    """ Open streams of Server-Sent Events. """
    waiting_readers: int
    """ Reads that wait for entries. """
    cut: ConnectionsStateCut
    """ Connections that the server closed because of a limit since the start, by reason. """

    def to_dict(self) -> dict[str, Any]:
        open_ = self.open_

        websockets = self.websockets

        subscriptions = self.subscriptions

        event_streams = self.event_streams

        waiting_readers = self.waiting_readers

        cut = self.cut.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "open": open_,
                "websockets": websockets,
                "subscriptions": subscriptions,
                "event_streams": event_streams,
                "waiting_readers": waiting_readers,
                "cut": cut,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.connections_state_cut import ConnectionsStateCut  # noqa: PLC0415

        d = dict(src_dict)
        open_ = d.pop("open")

        websockets = d.pop("websockets")

        subscriptions = d.pop("subscriptions")

        event_streams = d.pop("event_streams")

        waiting_readers = d.pop("waiting_readers")

        cut = ConnectionsStateCut.from_dict(d.pop("cut"))

        connections_state = cls(
            open_=open_,
            websockets=websockets,
            subscriptions=subscriptions,
            event_streams=event_streams,
            waiting_readers=waiting_readers,
            cut=cut,
        )

        return connections_state
