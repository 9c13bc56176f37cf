from typing import Literal

ConsumerCreatedEncoding = Literal["base64"]

CONSUMER_CREATED_ENCODING_VALUES: set[ConsumerCreatedEncoding] = {
    "base64",
}


def check_consumer_created_encoding(value: str) -> ConsumerCreatedEncoding:
    if value in CONSUMER_CREATED_ENCODING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSUMER_CREATED_ENCODING_VALUES!r}")
