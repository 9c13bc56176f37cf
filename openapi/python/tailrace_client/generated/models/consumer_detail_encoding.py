from typing import Literal

ConsumerDetailEncoding = Literal["base64"]

CONSUMER_DETAIL_ENCODING_VALUES: set[ConsumerDetailEncoding] = {
    "base64",
}


def check_consumer_detail_encoding(value: str) -> ConsumerDetailEncoding:
    if value in CONSUMER_DETAIL_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSUMER_DETAIL_ENCODING_VALUES!r}")
