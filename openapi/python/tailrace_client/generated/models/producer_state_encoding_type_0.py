from typing import Literal

ProducerStateEncodingType0 = Literal["base64"]

PRODUCER_STATE_ENCODING_TYPE_0_VALUES: set[ProducerStateEncodingType0] = {
    "base64",
}


def check_producer_state_encoding_type_0(value: str) -> ProducerStateEncodingType0:
    if value in PRODUCER_STATE_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRODUCER_STATE_ENCODING_TYPE_0_VALUES!r}")
