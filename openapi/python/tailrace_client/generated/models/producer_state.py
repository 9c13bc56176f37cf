from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.producer_state_encoding_type_0 import (
    ProducerStateEncodingType0,
    check_producer_state_encoding_type_0,
)

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
    encoding: None | ProducerStateEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    epochs: list[EpochState]
    """ The last epoch and the current one, in this order; empty if the stream remembers none. """

    def to_dict(self) -> dict[str, Any]:
        producer = self.producer

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        epochs = []
        for epochs_item_data in self.epochs:
            epochs_item = epochs_item_data.to_dict()
            epochs.append(epochs_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "producer": producer,
                "encoding": encoding,
                "epochs": epochs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.epoch_state import EpochState  # noqa: PLC0415

        d = dict(src_dict)
        producer = d.pop("producer")

        def _parse_encoding(data: object) -> None | ProducerStateEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_producer_state_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProducerStateEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        epochs = []
        _epochs = d.pop("epochs")
        for epochs_item_data in _epochs:
            epochs_item = EpochState.from_dict(epochs_item_data)

            epochs.append(epochs_item)

        producer_state = cls(
            producer=producer,
            encoding=encoding,
            epochs=epochs,
        )

        return producer_state
