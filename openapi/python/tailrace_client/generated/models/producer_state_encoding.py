from typing import Literal

ProducerStateEncoding = Literal["base64"]

PRODUCER_STATE_ENCODING_VALUES: set[ProducerStateEncoding] = {
    "base64",
}


def check_producer_state_encoding(value: str) -> ProducerStateEncoding:
    if value in PRODUCER_STATE_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRODUCER_STATE_ENCODING_VALUES!r}")
