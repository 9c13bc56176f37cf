from typing import Literal

ConsumerEncodingType0 = Literal["base64"]

CONSUMER_ENCODING_TYPE_0_VALUES: set[ConsumerEncodingType0] = {
    "base64",
}


def check_consumer_encoding_type_0(value: str) -> ConsumerEncodingType0:
    if value in CONSUMER_ENCODING_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSUMER_ENCODING_TYPE_0_VALUES!r}")
