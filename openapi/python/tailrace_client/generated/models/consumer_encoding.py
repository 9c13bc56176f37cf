from typing import Literal

ConsumerEncoding = Literal["base64"]

CONSUMER_ENCODING_VALUES: set[ConsumerEncoding] = {
    "base64",
}


def check_consumer_encoding(value: str) -> ConsumerEncoding:
    if value in CONSUMER_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSUMER_ENCODING_VALUES!r}")
