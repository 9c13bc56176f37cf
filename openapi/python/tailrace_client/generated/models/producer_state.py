from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.producer_state_encoding import (
    ProducerStateEncoding,
    check_producer_state_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.epoch_state import EpochState


T = TypeVar("T", bound="ProducerState")


@_attrs_define
class ProducerState:
    """What a stream remembers of a producer.

    Example:
        {'producer': 'timing-gate-1', 'epochs': [{'epoch': 1, 'layout': '4 partitions', 'keys': 1}]}

    """

    producer: str
    """ The producer. """
    epochs: list[EpochState]
    """ The last epoch and the current one, in this order; empty if the stream remembers none. """
    encoding: ProducerStateEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        producer = self.producer

        epochs = []
        for epochs_item_data in self.epochs:
            epochs_item = epochs_item_data.to_dict()
            epochs.append(epochs_item)

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "producer": producer,
                "epochs": epochs,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.epoch_state import EpochState  # noqa: PLC0415

        d = dict(src_dict)
        producer = d.pop("producer")

        epochs = []
        _epochs = d.pop("epochs")
        for epochs_item_data in _epochs:
            epochs_item = EpochState.from_dict(epochs_item_data)

            epochs.append(epochs_item)

        _encoding = d.pop("encoding", UNSET)
        encoding: ProducerStateEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_producer_state_encoding(_encoding)

        producer_state = cls(
            producer=producer,
            epochs=epochs,
            encoding=encoding,
        )

        return producer_state
